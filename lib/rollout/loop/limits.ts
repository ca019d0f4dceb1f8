/**
 * Limits that end a run or a call before the model or the tool does. All count within one run, except maxTokens, which
 * counts the whole trajectory.
 */
import * as z from 'zod'
import type { Sampling } from '#lib/sampling/values.ts'
import type { OutcomeReason, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'

/** Schema of the limits of a run. All are optional. */
export const limitsSchema = z
  .strictObject({
    maxToolIterations: z
      .int()
      .min(0)
      .describe('Responses with tool calls. The model does not read the results of the last response.'),
    maxToolCalls: z.int().min(0),
    maxParallelToolCalls: z.int().min(1).describe('Calls in one response. Further calls get an error result.'),
    maxMessages: z
      .int()
      .min(1)
      .describe('Messages. A question, a reply, and the results of one response count as one message each.'),
    maxTokens: z.int().min(1).describe('Tokens of the trajectory, context and output.'),
    contextWindow: z
      .int()
      .min(1)
      .describe(
        'Tokens of one request and its response, instead of the context length that the server reports. max_new_tokens is lowered to the remaining tokens; a request without remaining tokens is not sent.',
      ),
    toolTimeoutMs: z
      .int()
      .min(1)
      .max(3_600_000)
      .describe('Milliseconds of one tool call. A call that takes longer gets an error result. Default 30000.'),
    maxResultCharacters: z
      .int()
      .min(100)
      .describe(
        'Characters of a tool result that the model reads. The middle of a longer result is left out, and the result says so.',
      ),
  })
  .partial()

/** The limits of a run. */
export type RunLimits = z.infer<typeof limitsSchema>

/** The default timeout of a tool, which always applies: a tool that hangs would block the run forever. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000

/**
 * Returns the limit that forbids the next call, in the order of strands-sglang; `from` is the number of segments before
 * the run.
 */
export function limitReached(trajectory: Trajectory, from: number, limits: RunLimits): OutcomeReason | undefined {
  const responses = trajectory.segments.slice(from).filter((segment) => segment.kind === 'response')
  const iterations = responses.filter(({ toolCalls }) => toolCalls.length > 0).length
  const calls = responses.reduce((count, { toolCalls }) => count + toolCalls.length, 0)
  const isAfterTools = (responses.at(-1)?.toolCalls.length ?? 0) > 0
  if (isAfterTools && iterations >= (limits.maxToolIterations ?? Infinity)) return 'max_tool_iterations'
  if (isAfterTools && calls >= (limits.maxToolCalls ?? Infinity)) return 'max_tool_calls'
  // Each reply counts for itself and the message before it; the next message adds one.
  if (2 * responses.length + 1 >= (limits.maxMessages ?? Infinity)) return 'max_messages'
  return undefined
}

/** The room for the next response. */
export interface ResponseBudget {
  /** The largest number of tokens of the next response. */
  readonly tokens: number
  /** The outcome if the response uses them up. */
  readonly reason: Extract<OutcomeReason, 'length' | 'context_full' | 'max_tokens'>
  /** The size of the context: the limit of the run, otherwise the server's. Undefined: unknown. */
  readonly holds: number | undefined
}

/** Returns the sampling parameters for the available room: SGLang refuses a minimum above the maximum. */
export const samplingWithin = (sampling: Sampling, tokens: number): Sampling => ({
  ...sampling,
  max_new_tokens: tokens,
  ...(sampling.min_new_tokens !== undefined && { min_new_tokens: Math.min(sampling.min_new_tokens, tokens) }),
})

/**
 * Returns how long the response to a prompt of `added` tokens may be: the least of the request, the rest of the context
 * and the rest of the limit.
 */
export function roomFor(
  trajectory: Trajectory,
  added: number,
  asked: number,
  { maxTokens, contextWindow }: RunLimits,
): ResponseBudget {
  const used = tokenCount(trajectory) + added
  const holds = contextWindow ?? trajectory.model.contextLength
  const rooms: ResponseBudget[] = [
    { tokens: (holds ?? Infinity) - used, reason: 'context_full', holds },
    { tokens: (maxTokens ?? Infinity) - used, reason: 'max_tokens', holds },
    { tokens: asked, reason: 'length', holds },
  ]
  return rooms.reduce((least, room) => (room.tokens < least.tokens ? room : least))
}
