import { describe, expect, test } from 'vitest'
import { alignTokens } from './align.ts'

const encoder = new TextEncoder()

/**
 * Returns `equal [left|right] equal` as a reader sees it. Tokens are tags, line ends, words with their space, and
 * marks.
 */
function shown(left: string, right: string, token = /<[^<>\s]*>|\n+| ?[\p{L}\p{M}]+|\d|":|./gu): string {
  const pieces: string[] = []
  const ids = (text: string): number[] =>
    (text.match(token) ?? []).map((piece) => {
      if (!pieces.includes(piece)) pieces.push(piece)
      return pieces.indexOf(piece)
    })
  const [ours, theirs] = [ids(left), ids(right)]
  const text = (all: readonly number[], { start, end }: { start: number; end: number }) =>
    all
      .slice(start, end)
      .map((id) => pieces[id])
      .join('')
  return alignTokens(ours, theirs, (id) => encoder.encode(pieces[id]))
    .map((alignedRun) =>
      alignedRun.kind === 'equal'
        ? text(ours, alignedRun.left)
        : `[${text(ours, alignedRun.left)}|${text(theirs, alignedRun.right)}]`,
    )
    .join('')
}

const ASK = '<|im_start|>user\nWhat is 2 + 3?<|im_end|>\n<|im_start|>assistant\n'
const CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3}}\n</tool_call>'
const NEXT = '<|im_end|>\n<|im_start|>user\nThanks.<|im_end|>\n'

describe('a drift covers exactly the edit if', () => {
  test('a think block is dropped', () => {
    const think = '<think>\nThe user wants a sum.\n\nI call the tool.\n</think>\n\n'
    expect(shown(`${ASK}${think}${CALL}${NEXT}`, `${ASK}${CALL}${NEXT}`)).toBe(`${ASK}[${think}|]${CALL}${NEXT}`)
  })

  test('an empty think block is inserted at several positions', () => {
    const empty = '<think>\n\n</think>\n\n'
    expect(shown(`${ASK}Five.${NEXT}${ASK}Yes.`, `${ASK}${empty}Five.${NEXT}${ASK}${empty}Yes.`)).toBe(
      `${ASK}[|${empty}]Five.${NEXT}${ASK}[|${empty}]Yes.`,
    )
  })

  test('two different passages share a word', () => {
    const [ours, theirs] = ['A sum of numbers it made quite plain', 'Let me write poetry it could never like']
    expect(shown(`${ASK}${ours}${NEXT}`, `${ASK}${theirs}${NEXT}`)).toBe(`${ASK}[${ours}|${theirs}]${NEXT}`)
  })

  test('a think block becomes an empty one', () => {
    expect(shown(`${ASK}<think>\nA sum.\n</think>\n\nFive.`, `${ASK}<think>\n\n</think>\n\nFive.`)).toBe(
      `${ASK}<think>[\nA sum.\n|\n\n]</think>\n\nFive.`,
    )
  })

  test('the end of a turn is doubled or missing', () => {
    expect(shown(`Five.${NEXT}`, `Five.<|im_end|>${NEXT}`)).toBe(
      'Five.<|im_end|>[|<|im_end|>]\n<|im_start|>user\nThanks.<|im_end|>\n',
    )
    expect(shown(`Five.${NEXT}`, 'Five.\n<|im_start|>user\nThanks.<|im_end|>\n')).toBe(
      'Five.[<|im_end|>|]\n<|im_start|>user\nThanks.<|im_end|>\n',
    )
  })

  test('the JSON of a call has different spaces', () => {
    expect(shown(`${ASK}${CALL}${NEXT}`, `${ASK}${CALL.replaceAll(': ', ':').replaceAll(', ', ',')}${NEXT}`)).toBe(
      `${ASK}<tool_call>\n{"name":[ |]"add",[ |]"arguments":[ |]{"a":[ |]2,[ |]"b":[ |]3}}\n</tool_call>${NEXT}`,
    )
  })

  test('one of two calls is dropped', () => {
    const other = CALL.replace('2', '7')
    expect(shown(`${ASK}${CALL}\n${other}${NEXT}`, `${ASK}${other}${NEXT}`)).toBe(`${ASK}[${CALL}\n|]${other}${NEXT}`)
  })

  test('a turn is dropped', () => {
    const turn = '<|im_start|>assistant\nIndeed.<|im_end|>\n'
    expect(shown(`<|im_end|>\n${turn}${ASK}`, `<|im_end|>\n${ASK}`)).toBe(`<|im_end|>\n[${turn}|]${ASK}`)
  })

  test('characters inside of words have a different Unicode form', () => {
    expect(shown('Le cafe\u0301 noir.', 'Le café noir.')).toBe('Le[ cafe\u0301| café] noir.')
    expect(shown('abcdef', 'abcxdef', /./gu)).toBe('abc[|x]def')
  })

  test('two passages share only a line end', () => {
    expect(shown('A.\nThe sky over Bergen\nis grey today.\nB.', 'A.\nNobody has called\nsince last Monday.\nB.')).toBe(
      'A.\n[The sky over Bergen\nis grey today|Nobody has called\nsince last Monday].\nB.',
    )
  })

  test('two passages share a special token, which separates them', () => {
    expect(shown('The sky over Bergen<|im_end|>is grey today.', 'Nobody has called<|im_end|>since last Monday.')).toBe(
      '[The sky over Bergen|Nobody has called]<|im_end|>[is grey today|since last Monday].',
    )
  })

  test('a passage moved, which is a removal and an insertion', () => {
    const [first, second] = ['One passage, of some length.\n', 'Another passage, which is somewhat longer than it.\n']
    expect(shown(`${ASK}${first}${second}${NEXT}`, `${ASK}${second}${first}${NEXT}`)).toBe(
      `${ASK}[${first}|]${second}[|${first}]${NEXT}`,
    )
  })

  test('a text without spaces has a common part that is too long to be chance', () => {
    const [first, second] = ['acgtacctgatcgtagctagcta', 'ttgcagcgatcgatatcgatcg']
    expect(shown(`x${first}y${second}z`, `w${first}k${second}v`, /./gu)).toBe(`[x|w]${first}[y|k]${second}[z|v]`)
  })
})
