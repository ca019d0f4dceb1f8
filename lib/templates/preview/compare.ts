/** Compares two templates, or two tokenizers, on one conversation. */

import type { LabInput, LabTask, LabTokenizer } from '#lib/tasks/task.ts'
import type { RenderInput } from '#lib/templates/chat-template.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt, uint8At } from '#lib/util/element-at.ts'
import { type InputError, orTemplateFailure, type ReadInput, readInput } from '../document/input.ts'
import { lineDiff } from '../document/line-diff.ts'
import { maskByPrefixes, renderPreviewOf } from './preview.ts'
import { messageRuns, type Origins, type RenderPreview } from './render-preview.ts'
import { countTurns, type TurnCounts } from './turns.ts'

/** The two sides of a comparison. */
export interface RevisionsRequest {
  /** The document that is shown. */
  readonly input: LabInput
  /** The template with which it is compared. */
  readonly against: string
  /** Number of calls of the model to which the conversation is repeated. */
  readonly turns: number
}

/** A comparison of two sides. */
export interface RevisionComparison {
  /** The other side, and the shown one: differences count from the first to the second. */
  readonly sides: readonly [RevisionSide, RevisionSide]
  /** undefined if one side does not render. */
  readonly differences: Differences | undefined
  readonly turns: readonly [TurnCounts, TurnCounts]
}

/** The render of one side, or the error that prevents it. */
export type RevisionSide =
  | {
      readonly kind: 'rendered'
      readonly tokenizer: string
      readonly text: string
      /** Template lines of all parts of the text. */
      readonly origins: Pick<Origins, 'starts' | 'lines'>
      readonly tokens: number
      /** Number of trained tokens; undefined if the mask is unknown. */
      readonly trained: number | undefined
    }
  | { readonly kind: 'refused'; readonly tokenizer: string; readonly error: InputError }

interface Differences {
  readonly isSameText: boolean
  /** Number of tokens with which both begin; undefined if the tokenizers differ, because their ids mean different texts. */
  readonly commonPrefix: number | undefined
  /** Messages in order; text outside of all messages is last. */
  readonly messages: readonly MessageDifference[]
  /** Number of characters in lines that both have, and on how many the masks disagree; undefined if one mask is unknown. */
  readonly mask: { readonly compared: number; readonly onlyLeft: number; readonly onlyRight: number } | undefined
}

/** Number of tokens of a message on both sides; `message` is undefined outside of all messages. */
export interface MessageDifference {
  readonly message: number | undefined
  readonly role: string
  readonly tokens: readonly [number, number]
}

/**
 * Compares the two sides. Yields what is known so far, and undefined before that. The first tokenizer is that of the shown side; the
 * second, if there is one, that of the other side.
 */
export const compareRevisions: LabTask<RevisionsRequest, RevisionComparison | undefined, RevisionComparison> =
  function* ({ input, against, turns }, [chosen, other = chosen]) {
    if (!chosen || !other) throw new Error('a comparison needs a tokenizer')
    const read = readInput(input)
    if (!read.ok) {
      const none: TurnCounts = { kind: 'none', why: 'the conversation cannot be read' }
      const sides = [refusedSide(other, read.error), refusedSide(chosen, read.error)] as const
      return { sides, differences: undefined, turns: [none, none] }
    }
    const left = yield* drawSides(against, read.value, other)
    const right = yield* drawSides(input.template, read.value, chosen)
    const known: Omit<RevisionComparison, 'turns'> = {
      sides: [
        left.ok ? renderedSide(left.value, other) : refusedSide(other, left.error),
        right.ok ? renderedSide(right.value, chosen) : refusedSide(chosen, right.error),
      ],
      differences:
        left.ok && right.ok
          ? differencesOf(left.value, right.value, other.tokenizer.fingerprint === chosen.tokenizer.fingerprint)
          : undefined,
    }
    yield { ...known, turns: [NOT_YET, NOT_YET] }
    const leftTurns = yield* forEach(countTurns(against, read.value, turns, other), (counted) => ({
      ...known,
      turns: [counted, NOT_YET],
    }))
    const rightTurns = yield* forEach(countTurns(input.template, read.value, turns, chosen), (counted) => ({
      ...known,
      turns: [leftTurns, counted],
    }))
    return { ...known, turns: [leftTurns, rightTurns] }
  }

/** Returns the render with its tokens. If the template has no mask of its own, it has the mask of prefixes. */
function* drawSides(
  template: string,
  input: RenderInput,
  { tokenizer, compile }: LabTokenizer,
): Generator<undefined, ReadInput<RenderPreview>> {
  const compiled = orTemplateFailure(() => compile(template))
  if (!compiled.ok) return compiled
  const renderPreview = orTemplateFailure(() => renderPreviewOf(compiled.value.trace(input), input, { tokenizer }))
  if (!renderPreview.ok || renderPreview.value.mask.kind === 'known') return renderPreview
  const mask = yield* forEach(maskByPrefixes(input, compiled.value, tokenizer), () => undefined)
  return { ok: true, value: { ...renderPreview.value, mask } }
}

function* forEach<In, Out, Result>(steps: Generator<In, Result>, mapStep: (step: In) => Out): Generator<Out, Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    yield mapStep(step.value)
  }
}

const NOT_YET: TurnCounts = { kind: 'counted', turns: [], rows: { count: 1, extra: 0, realigned: 0 } }

const renderedSide = (
  { text, ids, mask, origins: { starts, lines } }: RenderPreview,
  { tokenizer }: LabTokenizer,
): RevisionSide => ({
  kind: 'rendered',
  tokenizer: tokenizer.name,
  text,
  origins: { starts, lines },
  tokens: ids.length,
  trained: mask.kind === 'known' ? mask.trained.reduce((sum, bit) => sum + bit, 0) : undefined,
})

const refusedSide = ({ tokenizer }: LabTokenizer, error: InputError): RevisionSide => ({
  kind: 'refused',
  tokenizer: tokenizer.name,
  error,
})

function differencesOf(left: RenderPreview, right: RenderPreview, isSameTokenizer: boolean): Differences {
  return {
    isSameText: left.text === right.text,
    commonPrefix: isSameTokenizer ? commonIds(left.ids, right.ids) : undefined,
    messages: messageDifferences(left, right),
    mask: maskDifference(left, right),
  }
}

function messageDifferences(left: RenderPreview, right: RenderPreview): MessageDifference[] {
  const counts = [left, right].map((renderPreview) => {
    const tokens = new Map<number | undefined, number>()
    for (const { message, start, end } of messageRuns(renderPreview))
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

function maskDifference(left: RenderPreview, right: RenderPreview): Differences['mask'] {
  if (left.mask.kind !== 'known' || right.mask.kind !== 'known') return undefined
  const bits = [trainedCharacters(left, left.mask.trained), trainedCharacters(right, right.mask.trained)] as const
  const starts = [lineStarts(left.text), lineStarts(right.text)] as const
  let compared = 0
  let onlyLeft = 0
  let onlyRight = 0
  for (const line of lineDiff(left.text, right.text)) {
    if (line.left === undefined || line.right === undefined) continue
    const [from, to] = [elementAt(starts[0], line.left - 1), elementAt(starts[1], line.right - 1)]
    // The length includes the line end, if both have one.
    const length = Math.min(elementAt(starts[0], line.left) - from, elementAt(starts[1], line.right) - to)
    compared += length
    for (let i = 0; i < length; i++) {
      const difference = uint8At(bits[0], from + i) - uint8At(bits[1], to + i)
      if (difference > 0) onlyLeft++
      else if (difference < 0) onlyRight++
    }
  }
  return { compared, onlyLeft, onlyRight }
}

/** Returns 1 for each character that a trained token contains. */
function trainedCharacters({ text, starts, ends }: RenderPreview, trained: Uint8Array): Uint8Array {
  const bits = new Uint8Array(text.length)
  for (const [index, bit] of trained.entries()) if (bit === 1) bits.fill(1, starts[index], ends[index])
  return bits
}

/** Returns the offset at which each line starts, and finally the length of the text. */
function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return [...starts, text.length]
}
