/** One reply to a call, as the session records it and as the client gets it. */
import type { ReplyChoice, ReplyPart, ReplyUsage } from '#lib/session/call.ts'
import type { NodeOutcome } from '#lib/session/forest/forest.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { Outcome, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'
import { toClientMessage } from './reply-message.ts'
import type { NodeRecord } from './session.ts'

/** A reply, or why there is none. */
export interface Generated {
  readonly record: NodeRecord
  /** Omitted: the reply failed. */
  readonly choice?: ReplyChoice
  readonly usage?: ReplyUsage
  /** Why the reply failed, or was cut. */
  readonly error?: unknown
}

/** Characters of a reply in the list of calls. */
const SHOWN = 120

/** Returns a reply without any token. `start` is the number of tokens before its prompt. */
export const failedReply = (start: number, error: unknown): Generated => ({
  record: { outcome: { status: 'failed', tokens: { start, prompt: 0, reply: 0 } }, text: '' },
  error,
})

/** Returns a recorded reply. `trajectory` ends with the response, and `start` tokens precede its prompt. */
export function recordedReply(
  trajectory: LiveTrajectory,
  response: ResponseSegment,
  parts: readonly ReplyPart[],
  start: number,
  error?: unknown,
): Generated {
  const { id: _, createdAt: __, live: ___, ...path } = trajectory
  const { finish, logprobs, topLogprobs, usage } = response
  const isWhole = isComplete(finish)
  const promptTokens = tokenCount(trajectory) - response.ids.length
  const outcome: NodeOutcome = {
    status: isWhole ? 'complete' : 'aborted',
    reply: toClientMessage(parts),
    ...(finish && { finish }),
    tokens: { start, prompt: promptTokens - start, reply: response.ids.length },
  }
  const [first] = parts
  const text = first === undefined ? '' : first.kind === 'call' ? first.name : beginningOf(first.text, SHOWN)
  const record: NodeRecord = { outcome, path: { ...path, outcome: outcomeOf(response) }, text }
  if (!isWhole) return { record, error }
  return {
    record,
    choice: {
      parts,
      finish: finish ?? { kind: 'stop' },
      tokens: { ids: response.ids, ...(logprobs && { logprobs }), ...(topLogprobs && { topLogprobs }) },
    },
    usage: {
      // The server reads more tokens than are sent for images, and counts them among the cached ones.
      promptTokens: usage?.promptTokens ?? promptTokens,
      cachedTokens: usage?.cachedTokens ?? 0,
      completionTokens: response.ids.length,
      reasoningTokens: response.thinks.reduce((sum, think) => sum + think.end - think.start, 0),
    },
  }
}

/** Returns whether a reply ended by itself or by its limit. */
const isComplete = (finish: ResponseSegment['finish']): boolean =>
  finish === undefined || finish.kind === 'stop' || finish.kind === 'length'

/** Returns how a trajectory ends after a reply. */
function outcomeOf({ finish }: ResponseSegment): Outcome {
  switch (finish?.kind) {
    case 'length':
      return { kind: 'ended', reason: 'length' }
    case 'abort':
      return { kind: 'ended', reason: 'aborted' }
    case 'cancelled':
      return { kind: 'ended', reason: 'cancelled' }
    case 'cut':
      return { kind: 'failed', code: finish.code, message: finish.message }
    case 'unknown':
      return { kind: 'ended', reason: 'unknown' }
    default:
      return { kind: 'ended', reason: 'end_turn' }
  }
}

/** Returns the counts of all replies to a call, whose prompt counts once. */
export const callUsage = (all: readonly ReplyUsage[]): ReplyUsage => ({
  promptTokens: Math.max(0, ...all.map(({ promptTokens }) => promptTokens)),
  cachedTokens: Math.max(0, ...all.map(({ cachedTokens }) => cachedTokens)),
  completionTokens: all.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  reasoningTokens: all.reduce((sum, { reasoningTokens }) => sum + reasoningTokens, 0),
})
