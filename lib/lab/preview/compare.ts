/** Two templates, or two tokenizers, on one conversation. */
import { type InputError, orTemplateFailure, readInput } from '../input.ts'
import { lineDiff } from '../line-diff.ts'
import type { LabInput, LabTask, LabTokenizer } from '../task.ts'
import { messageRuns, type Picture } from './picture.ts'
import { pictureOf } from './preview.ts'
import { commonPrefix, countTurns, type Turns } from './turns.ts'

export interface CompareRequest {
  readonly input: LabInput
  /** The other template. */
  readonly against: string
  /** To how many calls of the model the conversation is repeated. */
  readonly turns: number
}

export interface Comparison {
  readonly sides: readonly [Side, Side]
  /** undefined where one side does not render. */
  readonly differences: Differences | undefined
  readonly turns: readonly [Turns, Turns]
}

export type Side =
  | {
      readonly kind: 'rendered'
      readonly tokenizer: string
      readonly text: string
      readonly tokens: number
      /** undefined where the mask is not known. */
      readonly trained: number | undefined
    }
  | { readonly kind: 'refused'; readonly tokenizer: string; readonly error: InputError }

export interface Differences {
  readonly isSameText: boolean
  /** Tokens that both begin with; undefined where the tokenizers differ: their ids mean other texts. */
  readonly commonPrefix: number | undefined
  /** In order; text outside of all messages comes last. */
  readonly messages: readonly MessageDifference[]
  /** Characters of the lines that both have, and on how many the masks disagree; undefined where one is not known. */
  readonly mask: { readonly compared: number; readonly onlyLeft: number; readonly onlyRight: number } | undefined
}

export interface MessageDifference {
  readonly message: number | undefined
  readonly role: string
  readonly tokens: readonly [number, number]
}

/** The first tokenizer is the left side's; the second, where there is one, the right side's. */
export const compare: LabTask<CompareRequest, Comparison, Comparison> = function* (
  { input, against, turns },
  [left, right = left],
) {
  if (!left || !right) throw new Error('a comparison takes a tokenizer')
  const read = readInput(input)
  if (!read.ok) {
    const none: Turns = { kind: 'none', why: 'the conversation cannot be read' }
    const sides = [refused(left, read.error), refused(right, read.error)] as const
    return { sides, differences: undefined, turns: [none, none] }
  }
  const drawn = (template: string, own: LabTokenizer) =>
    orTemplateFailure(() => pictureOf(own.compile(template).trace(read.value), read.value, own))
  const a = drawn(input.template, left)
  const b = drawn(against, right)
  const isSameTokenizer = left.tokenizer.fingerprint === right.tokenizer.fingerprint
  const known: Omit<Comparison, 'turns'> = {
    sides: [
      a.ok ? rendered(a.value, left) : refused(left, a.error),
      b.ok ? rendered(b.value, right) : refused(right, b.error),
    ],
    differences: a.ok && b.ok ? differencesOf(a.value, b.value, isSameTokenizer) : undefined,
  }
  yield { ...known, turns: [NOT_YET, NOT_YET] }
  const leftTurns = yield* forEach(countTurns(input.template, read.value, turns, left), (counted) => ({
    ...known,
    turns: [counted, NOT_YET],
  }))
  const rightTurns = yield* forEach(countTurns(against, read.value, turns, right), (counted) => ({
    ...known,
    turns: [leftTurns, counted],
  }))
  return { ...known, turns: [leftTurns, rightTurns] }
}

function* forEach<In, Out, Result>(steps: Generator<In, Result>, told: (step: In) => Out): Generator<Out, Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    yield told(step.value)
  }
}

const NOT_YET: Turns = { kind: 'counted', turns: [] }

const rendered = ({ text, ids, mask }: Picture, { tokenizer }: LabTokenizer): Side => ({
  kind: 'rendered',
  tokenizer: tokenizer.name,
  text,
  tokens: ids.length,
  trained: mask.kind === 'known' ? mask.trained.reduce((sum, bit) => sum + bit, 0) : undefined,
})

const refused = ({ tokenizer }: LabTokenizer, error: InputError): Side => ({
  kind: 'refused',
  tokenizer: tokenizer.name,
  error,
})

export function differencesOf(left: Picture, right: Picture, isSameTokenizer: boolean): Differences {
  return {
    isSameText: left.text === right.text,
    commonPrefix: isSameTokenizer ? commonPrefix(left.ids, right.ids) : undefined,
    messages: messageDifferences(left, right),
    mask: maskDifference(left, right),
  }
}

function messageDifferences(left: Picture, right: Picture): MessageDifference[] {
  const counts = [left, right].map((picture) => {
    const tokens = new Map<number | undefined, number>()
    for (const { message, start, end } of messageRuns(picture))
      tokens.set(message, (tokens.get(message) ?? 0) + end - start)
    return tokens
  })
  const row = (message: number | undefined): MessageDifference => ({
    message,
    role: message === undefined ? '' : (left.roles[message] ?? ''),
    tokens: [counts[0]?.get(message) ?? 0, counts[1]?.get(message) ?? 0],
  })
  return [...left.roles.map((_, message) => row(message)), row(undefined)]
}

function maskDifference(left: Picture, right: Picture): Differences['mask'] {
  if (left.mask.kind !== 'known' || right.mask.kind !== 'known') return undefined
  const bits = [trainedCharacters(left, left.mask.trained), trainedCharacters(right, right.mask.trained)] as const
  const starts = [lineStarts(left.text), lineStarts(right.text)] as const
  let compared = 0
  let onlyLeft = 0
  let onlyRight = 0
  for (const line of lineDiff(left.text, right.text)) {
    if (line.left === undefined || line.right === undefined) continue
    const [from, to] = [starts[0][line.left - 1] as number, starts[1][line.right - 1] as number]
    // With the line end, where both have one.
    const length = Math.min((starts[0][line.left] as number) - from, (starts[1][line.right] as number) - to)
    compared += length
    for (let i = 0; i < length; i++) {
      const difference = (bits[0][from + i] as number) - (bits[1][to + i] as number)
      if (difference > 0) onlyLeft++
      else if (difference < 0) onlyRight++
    }
  }
  return { compared, onlyLeft, onlyRight }
}

/** 1 where a trained token holds the character. */
function trainedCharacters({ text, starts, ends }: Picture, trained: Uint8Array): Uint8Array {
  const bits = new Uint8Array(text.length)
  for (const [index, bit] of trained.entries()) if (bit === 1) bits.fill(1, starts[index], ends[index])
  return bits
}

/** Offset at which each line starts, and the length of the text last. */
function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return [...starts, text.length]
}
