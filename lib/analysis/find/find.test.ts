import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runToEnd } from '#lib/tasks/task.ts'
import type { ResponseSegment, Segment, Trajectory, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { runs } from '#testing/property-runs.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { anyText } from '#testing/strings.ts'
import { findTask } from './find.ts'
import { foldedText } from './folded-text.ts'

const find = (query: string, trajectory: TrajectoryView = sampleTrajectory) => runToEnd(findTask({ query }, trajectory))

function found(query: string, trajectory?: TrajectoryView) {
  const result = find(query, trajectory)
  if (result.kind !== 'found') throw new Error(`${query}: ${JSON.stringify(result)}`)
  return result
}

/** Writes each hit with its first and last token: `0-2 5`. */
function hits(query: string, trajectory?: TrajectoryView): string {
  const pairs = Array.from(found(query, trajectory).hits)
  return pairs
    .flatMap((start, i) => {
      if (i % 2 === 1) return []
      const last = (pairs[i + 1] as number) - 1
      return last === start ? [`${start}`] : [`${start}-${last}`]
    })
    .join(' ')
}

// The tokens of the sample are 0 <start> 1 hi 2 <end> | 3 <think> 4-5 日 6 a1 7 <end> | and then a tool result.
describe('find in the sample', () => {
  test.each([
    ['hi', '1 3 10'],
    ['"t>hi<e"', '0-2'],
    ['日', '4-5'],
    ['end><think', '2-3'],
    ['HI', ''],
    ['/[a-z]\\d/', '6'],
    ['/x*/', ''],
    ['id:9,5', '3-4'],
    ['logprob<-1', ''],
    ['prompt logprob<-1', '1-2'],
    ['prompt   (logprob<-1)', ''],
    ['"prompt" logprob<-1', ''],
    ['not prompt logprob<-1 segment:0', '0'],
    ['kind:prompt prompt surprise>1', '1-2'],
    ['kind:response logprob>-0.5', '4 7'],
    ['rank:1', '3-7'],
    ['rank>1', ''],
    ['margin<0.3', '3 6'],
    ['mask:1 segment:1', '3-7'],
    ['index:1-2', '1-2'],
    ['id>=9 segment:1', '3 6'],
    ['p>0.7 surprise<0.3', '4 7'],
    ['entropy>0.49', '3-4 6 10'],
    ['special:1 segment:0', '0 2'],
    ['span:think', '3-5'],
    ['span:call', '6'],
    ['span:argument', '6'],
    ['span:text segment:1', ''],
    ['span:special segment:1', '3 7'],
    ['tool:add', '6'],
    ['call:1', '6'],
    ['call:call_0000', '6'],
    ['arg:a', '6'],
    ['unknown:logprob index<8', '0 5'],
    ['-index>0', '0'],
    ['"t>hi" or a1', '0-1 6'],
    ['(hi or prompt logprob<-2) -mask:1', '1 2'],
  ])('the query %s hits the tokens %s', (query, expected) => {
    expect(hits(query)).toBe(expected)
    expect(hits(query, pack(sampleTrajectory).trajectory)).toBe(expected)
  })
})

test('a text in a find query matches if any of its tokens has the facts, and stays whole', () => {
  expect(hits('"<think>日a1" logprob<-0.9')).toBe('3-6')
  expect(hits('logprob<-0.9 "<think>日a1"')).toBe('3-6')
  expect(hits('"<think>日" logprob<-0.9')).toBe('')
})

test('a find query treats a rank beyond the alternatives as larger than any number', () => {
  const topLogprobs = { k: 1, ids: [0, 0, -1], logprobs: [-1, -1, null] }
  expect(hits('prompt rank>1000', ofPieces(['a', 'b', 'c'], { topLogprobs }))).toBe('1')
  expect(hits('prompt rank<=2', ofPieces(['a', 'b', 'c'], { topLogprobs }))).toBe('0')
})

test('find searches columns, versions, problems and finish reasons', () => {
  const known: ResponseSegment = {
    ...response([0, 1, 2], [-1, -1, -1]),
    columns: { 'kl ratio': [0.5, 2, null] },
    weightVersions: [
      { version: 'step-1', start: 0, end: 1 },
      { version: 'step-2', start: 1, end: 3 },
    ],
    problems: [
      { kind: 'number', message: 'odd', index: 1 },
      { kind: 'text', message: 'other' },
    ],
    finish: { kind: 'length' },
  }
  const trajectory = ofSegments({ '0': 'a', '1': 'b', '2': 'c' }, [known, response([0], [-1])])
  expect(hits('column:"kl ratio">1', trajectory)).toBe('1')
  expect(hits('unknown:"kl ratio"', trajectory)).toBe('2-3')
  expect(hits('version:step-2', trajectory)).toBe('1-2')
  expect(hits('problem:number', trajectory)).toBe('1')
  expect(hits('problem:text', trajectory)).toBe('0-2')
  expect(hits('finish:length', trajectory)).toBe('0-2')
})

test('matches of a find query that share a token are one hit', () => {
  const trajectory = ofPieces(['abab', 'ab', 'a', 'b'])
  expect(hits('ab', trajectory)).toBe('0 1 2-3')
  expect(hits('b', trajectory)).toBe('0 1 3')
  expect(hits('ba', trajectory)).toBe('0-2')
})

describe('find reports', () => {
  const notes = (query: string, trajectory?: TrajectoryView) =>
    found(query, trajectory).notes.map(({ message }) => message)
  test('an unknown name, with the name that was probably meant', () => {
    expect(notes('tool:ad')).toEqual(['No tool “ad” here. Did you mean add?'])
    expect(notes('call:7')).toEqual(['No call “7” here. Known names: call_0000, call_0001.'])
    expect(notes('version:1')).toEqual(['No version “1” here. No token matches.'])
    expect(notes('tool:add call:1 kind:tool arg:a')).toEqual([])
  })
  test('a number that no token has, and one that only some tokens have', () => {
    expect(notes('logprob<1', ofPieces(['a']))).toEqual(['No trained token has a known logprob.'])
    expect(notes('prompt logprob<1', ofPieces(['a']))).toEqual(['No token has a known logprob.'])
    expect(notes('rank>1 or entropy>1')).toHaveLength(2)
  })
  test('A number with impossible values is reported with the values that it can have', () => {
    expect(notes('mask:2')).toEqual(['No token has mask:2, because mask is 0 or 1.'])
    expect(notes('mask>1 or -special<0')).toEqual([
      'No token has mask>1, because mask is 0 or 1.',
      'No token has special<0, because special is 0 or 1.',
    ])
    expect(notes('p>1')).toEqual(['No token has p>1, because p is from 0 to 1.'])
    expect(notes('prompt p<0')).toEqual(['No token has p<0, because p is from 0 to 1.'])
    expect(notes('logprob>0')).toEqual(['No token has logprob>0, because logprob is at most 0.'])
    expect(notes('surprise<0')).toEqual(['No token has surprise<0, because surprise is at least 0.'])
    expect(notes('index:0.5')).toEqual([
      expect.stringMatching(/^No token has index:0.5, because index is a whole number from 0 to \d+.$/),
    ])
    expect(notes('segment>1000')).toHaveLength(1)
    expect(notes('mask:0..5 p<=0.9 mask:1,2 index>=0 segment<2')).not.toContainEqual(expect.stringMatching(/because/))
  })
  test('A number beyond its usual values is not reported if a token has it', () => {
    const trajectory = ofSegments({ '0': 'a' }, [response([0], [0.1])])
    expect([hits('p>1', trajectory), notes('p>1', trajectory)]).toEqual(['0', []])
  })
  test('how many context tokens a number of sampled tokens leaves out, and how to find them', () => {
    expect(notes('logprob<-1')).toEqual(['Only trained tokens count: “prompt logprob<-1” finds 2 context tokens more.'])
    expect(notes('prompt logprob<-1')).toEqual([])
  })
  test('two texts that both exist, but not in one token', () => {
    expect(notes('"hi" "a1"')).toHaveLength(1)
    expect(notes('"hi" "h"')).toEqual([])
  })
})

test('nothing for a text without matches, and syntax errors', () => {
  expect(find('  ')).toEqual({ kind: 'nothing' })
  expect(find('lgprob<1')).toMatchObject({ kind: 'fault', fault: { at: { start: 0, end: 6 } } })
})

function ofPieces(pieces: readonly string[], change: Partial<Segment> = {}): Trajectory {
  const vocab = Object.fromEntries(pieces.map((piece, id) => [id, piece]))
  return ofSegments(vocab, [{ kind: 'prompt', ids: pieces.map((_, id) => id), messages: [], ...change } as Segment])
}

const ofSegments = (vocab: Vocab, segments: readonly Segment[]): Trajectory => ({
  ...sampleTrajectory,
  vocab,
  segments,
})

// The pieces have few letters, so that texts are found. Segments begin anywhere.
const pieces = fc.array(fc.constantFrom('a', 'b', 'ab', 'ba', 'aB', 'Ab\n', '日', '日a', 'İ', '', ' '), {
  minLength: 1,
  maxLength: 30,
})
const response = (ids: readonly number[], logprobs: readonly (number | null)[]): ResponseSegment => ({
  kind: 'response',
  ids,
  logprobs,
  thinks: [],
  toolCalls: [],
})
const trajectory = fc
  .tuple(pieces, fc.array(fc.option(fc.constantFrom(-1, -2, -3)), { minLength: 30, maxLength: 30 }), fc.nat(30))
  .map(([all, logprobs, at]) => {
    const cut = Math.min(at, all.length)
    const ids = all.map((_, id) => id)
    return ofSegments(Object.fromEntries(all.map((piece, id) => [id, piece])), [
      response(ids.slice(0, cut), logprobs.slice(0, cut)),
      response(ids.slice(cut), logprobs.slice(cut, all.length)),
    ])
  })

const tokensOf = (query: string, trajectory: TrajectoryView): readonly number[] => {
  const { hits } = found(query, trajectory)
  return Array.from({ length: hits.length / 2 }, (_, i) => [hits[2 * i] as number, hits[2 * i + 1] as number]).flatMap(
    ([start, end]) => Array.from({ length: (end as number) - (start as number) }, (_, i) => (start as number) + i),
  )
}

test('a text in a find query matches exactly the tokens that contain it', () => {
  fc.assert(
    fc.property(
      trajectory,
      fc.string({ unit: fc.constantFrom('a', 'b', 'B', '日', '\n'), minLength: 1, maxLength: 3 }),
      (where, text) => {
        const pieces = Object.values(where.vocab) as string[]
        const joined = pieces.join('')
        const isExact = text.includes('B')
        const [haystack, needle] = isExact ? [joined, text] : [foldedText(joined), foldedText(text)]
        const expected = new Set<number>()
        for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + needle.length)) {
          let offset = 0
          for (const [token, piece] of pieces.entries()) {
            if (piece !== '' && offset < at + needle.length && offset + piece.length > at) expected.add(token)
            offset += piece.length
          }
        }
        const held = tokensOf(JSON.stringify(text), where).filter((token) => (pieces[token] as string) !== '')
        expect(held).toEqual([...expected])
      },
    ),
    { numRuns: runs(500) },
  )
})

const FACTS = ['logprob<-1', 'prompt logprob:-2', 'unknown:logprob', 'segment:1', 'index:3-9', 'mask:1'] as const
const TERMS = [...FACTS, 'a', '"b a"', '/b./s', 'id:1,2'] as const

test('facts in find queries follow the laws of sets', () => {
  fc.assert(
    fc.property(
      trajectory,
      fc.constantFrom(...FACTS),
      fc.constantFrom(...FACTS),
      fc.constantFrom(...FACTS),
      (where, a, b, c) => {
        const same = (left: string, right: string) => expect(hits(left, where)).toBe(hits(right, where))
        const [ofA, ofB] = [new Set(tokensOf(a, where)), new Set(tokensOf(b, where))]
        expect(tokensOf(`${a} ${b}`, where)).toEqual([...ofA.intersection(ofB)].sort((x, y) => x - y))
        expect(tokensOf(`${a} or ${b}`, where)).toEqual([...ofA.union(ofB)].sort((x, y) => x - y))
        same(`-(${a} or ${b})`, `-${a} -${b}`)
        same(`-(${a} ${b})`, `-${a} or -${b}`)
        same(`not not ${a}`, a)
        same(`${a} (${b} or ${c})`, `${a} ${b} or ${a} ${c}`)
      },
    ),
  )
})

test('in all find queries or is the union, not is the rest, and distributes over or; hits are sorted, separate and in bounds', () => {
  const some = fc.constantFrom(...TERMS)
  fc.assert(
    fc.property(trajectory, some, some, some, (where, a, b, c) => {
      const count = Object.keys(where.vocab).length
      const [ofA, ofB] = [new Set(tokensOf(a, where)), new Set(tokensOf(b, where))]
      expect(tokensOf(`${a} or ${b}`, where)).toEqual([...ofA.union(ofB)].sort((x, y) => x - y))
      const all = Array.from({ length: count }, (_, token) => token)
      expect(tokensOf(`-(${a})`, where)).toEqual(all.filter((token) => !ofA.has(token)))
      expect(tokensOf(`(${a} or ${b}) (${c})`, where)).toEqual(tokensOf(`(${a}) (${c}) or (${b}) (${c})`, where))
      for (const query of [a, `${a} or ${b}`, `(${a}) (${b}) or -(${c})`]) {
        const { hits: pairs, tokens } = found(query, where)
        let last = 0
        for (const [i, place] of pairs.entries()) {
          expect(i % 2 === 0 ? place >= last : place > last).toBe(true)
          last = place
        }
        expect(last).toBeLessThanOrEqual(count)
        expect(tokens).toBe(tokensOf(query, where).length)
      }
    }),
    { numRuns: runs(300) },
  )
})

test('case folding keeps the position of every character', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      expect(foldedText(text)).toHaveLength(text.length)
      expect(foldedText(foldedText(text))).toBe(foldedText(text))
    }),
    { numRuns: runs(1000) },
  )
  expect(foldedText('İΟΔΟΣ ς')).toBe('iοδοσ σ')
})
