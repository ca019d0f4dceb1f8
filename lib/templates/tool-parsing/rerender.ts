/** Renders each call of a completion with the template, and compares the ids with those that the model wrote. */

import type { TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { type Encoding, encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import { callIdAt } from '#lib/rollout/record/record.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import type { InputError } from '../document/input.ts'
import { type ParsedCallResult, type ParserReading, parseCompletion } from './analysis.ts'
import type { ReadArgument } from './arguments.ts'
import { causesOf, type RerenderCause } from './difference.ts'
import { type ArgumentForm, type CallToWrite, writeCalls, writtenText } from './written-calls.ts'

/** Tokens and their places in a text. Without `ends`, each token ends where the next one starts. */
type EncodedText = Pick<Encoding, 'ids' | 'starts'> & Partial<Pick<Encoding, 'ends'>>

/** A completion of a model. */
export interface ModelCompletion {
  readonly text: string
  /** The ids that were sampled. Omitted: the tokenizer's own encoding of the text. */
  readonly encoding?: EncodedText
}

/** What the template writes for the calls of a completion. */
export type ReRendering =
  | {
      readonly kind: 'written'
      readonly argumentForm: ArgumentForm
      /** One entry for each call; undefined for a malformed one. */
      readonly calls: readonly (ReRenderedCall | undefined)[]
    }
  | { readonly kind: 'failed'; readonly error: InputError }
  /** There is no call that could be written. */
  | { readonly kind: 'nothing' }

/** What the template writes for one call. */
export type ReRenderedCall =
  | { readonly kind: 'same'; readonly tokens: number }
  | {
      readonly kind: 'differs'
      /** Index of the first token of the call that differs, from 0. */
      readonly at: number
      readonly completion: CallSide
      readonly template: CallSide
      readonly causes: readonly RerenderCause[]
      /** Line of the template that wrote the first letter that differs. */
      readonly line: number | undefined
    }
  /** The template writes no such call, or writes it in a form that this parser does not read. */
  | { readonly kind: 'absent'; readonly why: string; readonly text: string }

/** One side of a difference: the text of the call and its tokens. */
export interface CallSide {
  readonly text: string
  readonly tokens: readonly { readonly id: number; readonly text: string }[]
}

/** Compares the calls of a completion, which is the reply to the lab's conversation. Its calls are rendered as one assistant message. */
export function reRender({ text, encoding }: ModelCompletion, lane: ParserReading, setting: Setting): ReRendering {
  const { parser, tools, input, template, tokenizer } = setting
  const readable = lane.calls.filter((call) => call.kind === 'parsed')
  if (readable.length === 0) return { kind: 'nothing' }
  const written = writeCalls(template, input, readable.map(callToWrite), contentOf(text, lane))
  if (!written.ok) return { kind: 'failed', error: written.error }
  const { rendering, start, argumentForm } = written.value
  const region = writtenText(written.value)
  const found = parseCompletion(region, parser, tools).calls.slice(-readable.length)
  const theirs: Encoded = { text: rendering.text, encoding: encodeWithOffsets(tokenizer, rendering.text) }
  const ours: Encoded = { text, encoding: encoding ?? encodeWithOffsets(tokenizer, text) }
  const compared = readable.map((call, index): ReRenderedCall => {
    const place = found.length === readable.length ? found[index]?.text : undefined
    if (!place) return { kind: 'absent', why: absence(found.length, readable.length), text: region }
    const range = { start: start + place.start, end: start + place.end }
    const hasIgnored = lane.dropped.some(({ start: at }) => call.span.start <= at && at < call.span.end)
    const lineAt = (offset: number) =>
      rendering.pieces.find((piece) => piece.start <= offset && offset < piece.end)?.line
    return comparedCall(sideOf(ours, call.span), sideOf(theirs, range), hasIgnored, (offset) =>
      lineAt(range.start + offset),
    )
  })
  let next = 0
  return {
    kind: 'written',
    argumentForm,
    calls: lane.calls.map((call) => (call.kind === 'parsed' ? compared[next++] : undefined)),
  }
}

interface Setting {
  readonly parser: ToolParser
  readonly tools: readonly ToolSpec[]
  readonly input: LabInput
  readonly template: CompiledTemplate
  readonly tokenizer: Tokenizer
}

interface Encoded {
  readonly text: string
  readonly encoding: EncodedText
}

const callToWrite = (call: Extract<ParsedCallResult, { kind: 'parsed' }>, index: number): CallToWrite => ({
  id: call.writtenId ?? callIdAt(index),
  name: call.name,
  arguments: argumentsJson(call.arguments),
})

/** Returns arguments as JSON. Unlike with JSON.stringify, 1.0 remains 1.0 and keys remain in their order. */
const argumentsJson = (read: readonly ReadArgument[]): string =>
  `{${read.map(({ name, json }) => `${JSON.stringify(name)}: ${json}`).join(', ')}}`

/** Returns the text outside of calls and thinking, which a template writes as the content of the message. */
function contentOf(text: string, { tiles }: ParserReading): string {
  return tiles
    .filter(({ part }) => part === 'rest')
    .map(({ start, end }) => text.slice(start, end))
    .join('')
    .trim()
}

const absence = (found: number, wanted: number): string =>
  found === 0
    ? 'this parser finds no call in the text that the template writes'
    : `this parser finds ${found} of ${wanted} calls in the text that the template writes`

function sideOf({ text, encoding }: Encoded, { start, end }: TextRange): CallSide {
  const { ids, starts } = encoding
  const range = tokensAt(encoding, start, end)
  return {
    text: text.slice(start, end),
    tokens: ids.slice(range.start, range.end).map((id, index) => ({
      id,
      text: text.slice(starts[range.start + index], starts[range.start + index + 1]),
    })),
  }
}

/** Compares the two sides. `lineAt` returns the line for an offset in the template's text of the call. */
function comparedCall(
  completion: CallSide,
  template: CallSide,
  hasIgnored: boolean,
  lineAt: (offset: number) => number | undefined,
): ReRenderedCall {
  const count = Math.max(completion.tokens.length, template.tokens.length)
  let at = 0
  while (at < count && completion.tokens[at]?.id === template.tokens[at]?.id) at++
  if (at === count && completion.text === template.text) return { kind: 'same', tokens: count }
  const offset = commonText(completion.text, template.text)
  return {
    kind: 'differs',
    at: Math.min(at, count - 1),
    completion,
    template,
    causes: causesOf(completion.text, template.text, hasIgnored),
    line: lineAt(Math.min(offset, template.text.length - 1)),
  }
}
