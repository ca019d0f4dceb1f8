/** Finds tool results that do not occur in the prompt after their call, so that the model never read them. */

import type { Segment, Span, ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { toTrajectorySpan } from './check.ts'

interface ResultReading {
  readonly call: Extract<ToolCall, { readonly kind: 'parsed' }>
  /** Tokens of the call in the trajectory. */
  readonly place: Span
  readonly isRead: boolean
}

/**
 * Returns every result that can be looked for, and whether it occurs. It leaves out results without letters and digits, calls without
 * a prompt after their response, and prompts whose text is unknown.
 */
export function resultReadings(trajectory: Trajectory, starts: readonly number[]): readonly ResultReading[] {
  const { segments } = trajectory
  if (lacksTexts(trajectory)) return []
  return segments.flatMap((segment, index) => {
    if (segment.kind !== 'response') return []
    const results = segment.toolCalls.flatMap((call) => {
      const characters = call.kind === 'parsed' && call.result ? comparable(call.result.text) : ''
      return call.kind === 'parsed' && characters !== '' ? [{ call, characters }] : []
    })
    const prompt = results.length > 0 ? promptAfter(trajectory, index) : undefined
    return prompt === undefined
      ? []
      : results.map(({ call, characters }) => ({
          call,
          place: toTrajectorySpan(call.span, elementAt(starts, index)),
          isRead: prompt.includes(characters),
        }))
  })
}

/** Returns the comparable text of the prompts up to the next response; undefined if there are none, or a part is unknown. */
function promptAfter({ segments, vocab }: Trajectory, index: number): string | undefined {
  const isPrompt = ({ kind }: Segment) => kind === 'prompt'
  const first = segments.findIndex((segment, at) => at > index && isPrompt(segment))
  if (first < 0) return undefined
  const next = segments.findIndex((segment, at) => at > first && !isPrompt(segment))
  const ids = segments.slice(first, next < 0 ? undefined : next).flatMap((segment) => segment.ids)
  const { text, isKnown } = textWithStarts(ids, vocab)
  // A replacement character means that the tokenizer has no single bytes or the prompt was cut inside a character: the text is unknown.
  return isKnown && !text.includes('\uFFFD') ? comparable(text) : undefined
}

/** Matches escapes such as `\u003c`, `\xe9`, `\n` and `&lt;`. Templates print results raw, as JSON, as Python's repr or for HTML. */
const ESCAPES = /\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[abfnrtv])|&(?:amp;)*(?:amp|lt|gt|quot|apos|#\d+);/gi

/**
 * Reduces a text to its letters and digits, so that a text and its escaped forms become equal. An escape that was escaped again counts as
 * one escape. Python's `None` is JSON's `null`, so both are left out. Characters are decomposed and lowered, as tokenizers may do.
 */
function comparable(text: string): string {
  return text
    .replace(ESCAPES, (_, unicode?: string, byte?: string) => {
      const code = unicode ?? byte
      return code === undefined ? ' ' : String.fromCharCode(Number.parseInt(code, 16))
    })
    .replace(/\b(?:null|none)\b/gi, ' ')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
