/** Decides whether a run continues when a call to its model ends, or ends for a reason that a person can read. */

import { EngineError } from '#lib/engine/http/errors.ts'
import type { Prompt } from '#lib/rollout/prompt/prompt.ts'
import type { Finish, Outcome, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import type { PromptInput } from './call-input.ts'
import type { ResponseBudget } from './limits.ts'
import { RunEnded } from './run-ended.ts'

/** Returns the response if the agent may act on it; throws RunEnded otherwise. */
export function requireContinuable(response: ResponseSegment, room: ResponseBudget): ResponseSegment {
  switch (response.finish?.kind) {
    case 'length': {
      // The server reads more tokens than are sent for images, so it may have reached the end of the context earlier.
      const { promptTokens = 0, completionTokens = 0 } = responseCalls(response).at(-1)?.usage ?? {}
      const reason = promptTokens + completionTokens >= (room.holds ?? Infinity) ? 'context_full' : room.reason
      throw new RunEnded({
        kind: 'ended',
        reason,
        ...(reason === 'context_full' && { context: contextNeeded(undefined, room.holds) }),
      })
    }
    case 'abort':
      throw new RunEnded({ kind: 'ended', reason: 'aborted' })
    case 'unknown':
      throw new RunEnded({
        kind: 'failed',
        code: 'UNKNOWN_FINISH',
        message: `the server ended the reply for an unknown reason: ${response.finish.raw}`,
        hint: 'The reply is kept, and none of its tool calls was executed. Check the server’s log, then send again.',
      })
    default:
      return response
  }
}

/** Returns the end of a run before any token arrived: the unread input is returned, so that it can be sent again. */
export function endedBefore(error: unknown, input: PromptInput, signal: AbortSignal): unknown {
  if (error instanceof RunEnded) return error
  if (signal.aborted) return new RunEnded({ kind: 'ended', reason: 'cancelled', ...unsent(input) })
  if (!(error instanceof EngineError)) return error
  if (error.code === 'CONTEXT_LENGTH')
    return new RunEnded(
      {
        kind: 'ended',
        reason: 'context_full',
        ...unsent(input),
        context: contextNeeded(error.context?.needed, error.context?.holds),
      },
      { cause: error },
    )
  return new RunEnded({ ...failureOutcome(error), ...unsent(input) }, { cause: error })
}

/** Returns how a response ends that an error cut after its first token, and what the call throws for it. */
export function endedWithin(
  error: unknown,
  signal: AbortSignal,
): { readonly finish: Finish; readonly failure: unknown } {
  if (signal.aborted)
    return { finish: { kind: 'cancelled' }, failure: new RunEnded({ kind: 'ended', reason: 'cancelled' }) }
  if (!(error instanceof EngineError)) {
    const message = 'Rollscope itself failed: see its log. The received part was kept.'
    return { finish: { kind: 'cut', code: 'INTERNAL', message }, failure: error }
  }
  const { code, message } = error
  return { finish: { kind: 'cut', code, message }, failure: new RunEnded(failureOutcome(error), { cause: error }) }
}

/** Returns the fields of an outcome about the context, in tokens; unknown ones are omitted. */
export const contextNeeded = (needed: number | undefined, holds: number | undefined) => ({
  ...(needed !== undefined && { needed }),
  ...(holds !== undefined && { holds }),
})

/** Returns the outcome of a run that a server error ended. */
const failureOutcome = (error: EngineError): Extract<RunEnded['outcome'], { kind: 'failed' }> => ({
  kind: 'failed',
  code: error.code,
  message: error.message,
  hint: error.hint,
  ...(error.parameter !== undefined && { parameter: error.parameter }),
})

/** Returns the unsent messages. Tool results are not among them, since they are stored with their calls. */
export function unsent(input: PromptInput): Pick<Extract<Outcome, { kind: 'ended' }>, 'unsent' | 'unsentGiven'> {
  if (input.kind === 'given') return unsentGiven(input.prompt)
  if (input.kind === 'resume') return {}
  const own = input.messages.filter((message) => message.role !== 'tool' || message.content !== undefined)
  return own.length > 0 ? { unsent: own } : {}
}

const unsentGiven = ({ ids, derivation }: Prompt) =>
  derivation.kind === 'given' ? { unsentGiven: { what: derivation.what ?? ('ids' as const), ids } } : {}
