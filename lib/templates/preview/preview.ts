/** Renders the lab's document and encodes it: what the template writes, token by token, with the origin of each token. */

import { type Encoding, encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import { vocabularyWriter } from '#lib/rollout/record/record.ts'
import type { LabInput, LabTask, LabTokenizer } from '#lib/tasks/task.ts'
import type { CompiledTemplate, RenderInput } from '#lib/templates/chat-template.ts'
import { CONTINUED_AND_MASKED } from '#lib/templates/continue-final-message.ts'
import { PyDict } from '#lib/templates/jinja/python/values.ts'
import type { Rendering } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { type InputError, orTemplateFailure, readInput } from '../document/input.ts'
import { LIVE_BUDGET } from '../live-budget.ts'
import { conversationTokens } from '../loss-mask/conversation.ts'
import { generationMask } from '../loss-mask/generation.ts'
import { prefixDifference } from '../loss-mask/prefix-difference.ts'
import { leftOutText } from './left-out.ts'
import { NO_MESSAGE, type Origins, type PreviewMask, type RenderPreview } from './render-preview.ts'

/** The preview of a document, or the error that prevents it. */
export type Preview =
  | {
      readonly kind: 'rendered'
      readonly renderPreview: RenderPreview
      /** A sentence on what the render leaves out of the conversation; undefined if it leaves out nothing. */
      readonly leftOut: string | undefined
    }
  | { readonly kind: 'refused'; readonly error: InputError }

/** Renders and encodes a document; yields 'rendered' before encoding. Throws without a tokenizer. */
export const preview: LabTask<LabInput, 'rendered', Preview> = function* (input, [chosen]) {
  if (!chosen) throw new Error('the preview needs a tokenizer')
  const compiled = orTemplateFailure(() => chosen.compile(input.template))
  if (!compiled.ok) return { kind: 'refused', error: compiled.error }
  const read = readInput(input)
  if (!read.ok) return { kind: 'refused', error: read.error }
  const rendered = orTemplateFailure(() => compiled.value.trace(read.value, LIVE_BUDGET))
  if (!rendered.ok) return { kind: 'refused', error: rendered.error }
  // If the user has continued to type, the tokens are not needed.
  yield 'rendered'
  const renderPreview = renderPreviewOf(rendered.value, read.value, chosen)
  return { kind: 'rendered', renderPreview, leftOut: leftOutText(read.value, compiled.value) }
}

/** Encodes a render and returns its preview. */
export function renderPreviewOf(
  rendering: Rendering,
  { messages, continueFinalMessage }: Pick<RenderInput, 'messages' | 'continueFinalMessage'>,
  { tokenizer }: Pick<LabTokenizer, 'tokenizer'>,
): RenderPreview {
  const encoding = encodeWithOffsets(tokenizer, rendering.text)
  return {
    text: rendering.text,
    ids: Uint32Array.from(encoding.ids),
    starts: Uint32Array.from(encoding.starts.slice(0, -1)),
    ends: Uint32Array.from(encoding.ends),
    origins: originsOf(rendering),
    mask: continueFinalMessage ? unknown(CONTINUED_AND_MASKED) : maskOf(rendering, encoding, tokenizer),
    ...vocabularyWriter({ vocab: {} }, tokenizer)(encoding.ids),
    roles: messages.map((message) => String(message instanceof PyDict ? message.get('role') : message.role)),
  }
}

function originsOf({ text, pieces }: Rendering): Origins {
  return {
    starts: Uint32Array.from([...pieces.map(({ start }) => start), text.length]),
    lines: Uint32Array.from(pieces, ({ line }) => line),
    messages: Int32Array.from(pieces, ({ message }) => message ?? NO_MESSAGE),
    values: Uint8Array.from(pieces, ({ source }) => (source === 'value' ? 1 : 0)),
  }
}

function maskOf(rendering: Rendering, encoding: Encoding, tokenizer: Tokenizer): PreviewMask {
  if (!rendering.hasGenerationTag) return { kind: 'unknown', why: 'the template has no {% generation %} block' }
  const { trained } = generationMask({ rendering, encoding, tokenizer, parts: [], messages: [] })
  return { kind: 'known', by: 'generation', trained: bits(trained) }
}

const bits = (trained: readonly boolean[]): Uint8Array => Uint8Array.from(trained, Number)

/**
 * Computes the mask of a template without generation blocks: what each reply adds to the render before it. It needs two renders for each
 * reply, so that it is a task of its own.
 */
export const prefixMask: LabTask<LabInput, void, PreviewMask> = function* (input, [chosen]) {
  if (!chosen) throw new Error('a mask needs a tokenizer')
  const read = readInput(input)
  if (!read.ok) return unknown('the conversation cannot be read')
  const compiled = orTemplateFailure(() => chosen.compile(input.template))
  if (!compiled.ok) return unknown('the template does not compile')
  return yield* maskByPrefixes(read.value, compiled.value, chosen.tokenizer)
}

/** Computes the mask by prefixes; yields before each reply. */
export function* maskByPrefixes(
  input: RenderInput,
  template: CompiledTemplate,
  tokenizer: Tokenizer,
): Generator<void, PreviewMask> {
  if (input.continueFinalMessage) return unknown(CONTINUED_AND_MASKED)
  const conversation = conversationTokens(input, template, tokenizer)
  if (!conversation.ok) return unknown('the conversation does not render')
  const { roles, encoding } = conversation.value
  if (!roles.includes('assistant')) return unknown('the conversation has no reply')
  const { ids, trained, breaks } = yield* prefixDifference(conversation.value)
  // If the renders do not add up to the whole, these tokens have no mask.
  const isWhole = ids.length === encoding.ids.length && ids.every((id, index) => id === encoding.ids[index])
  if (!isWhole) return unknown('the replies, rendered one by one, do not add up to the whole (see the mask doctor)')
  const broken = new Set(breaks.map(({ message }) => message)).size
  return { kind: 'known', by: 'prefix', trained: bits(trained), ...(broken > 0 && { broken }) }
}

const unknown = (why: string): PreviewMask => ({ kind: 'unknown', why })
