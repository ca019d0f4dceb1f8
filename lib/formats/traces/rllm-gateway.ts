/**
 * Traces of rLLM's model gateway: one for each call of a session, as its interface returns them, or as rows of its database, which have
 * the trace in `data`. Of a streamed call the trace has the ids and logprobs, and no reply of the server.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, objectsIn, storable } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { idsSchema, logprobsSchema } from '../columns.ts'
import { isoTime } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { joinedMessage } from '../replies/chat-chunks.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import { chatCalls } from '../replies/chat-reply.ts'
import { type ModelCall, timedCall } from '../replies/model-call.ts'

const NAME = 'rllm-gateway'

/** The format of the traces. The calls of a session are one run. */
export const rllmGateway: Format = {
  name: NAME,
  label: 'traces of rLLM’s gateway',
  keeps: 'Ids, logprobs, messages, tools, sampling parameters and times of each call; the session id as title.',
  joins: true,
  sniff: (value) => traceIn(value) !== undefined,
  read: catchRefusals((value, source) => {
    const traces = [value].flat().map((record, index) => {
      const at = `[${index}]${isObject(record) && isObject(record.data) ? '.data' : ''}`
      return { at, trace: parsedAt(traceSchema, traceIn(record), at) }
    })
    const sessions = Map.groupBy(traces, ({ trace }) => trace.session_id)
    return Array.from(sessions, ([title, own]) => {
      const ordered = own.toSorted((a, b) => (a.trace.timestamp ?? 0) - (b.trace.timestamp ?? 0))
      const { metadata } = elementAt(ordered, 0).trace
      const run = { format: NAME, rest: Object.keys(metadata ?? {}).length > 0 ? storable({ metadata }) : undefined }
      const calls = ordered.map(({ at, trace }) => callOf(trace, at))
      return trajectoriesOfCalls(calls, run, source).map((trajectory) => ({ ...trajectory, title }))
    }).flat()
  }),
}

const traceSchema = z.looseObject({
  session_id: z.string(),
  model: z.nullish(z.string()),
  messages: z.nullish(z.array(z.looseObject({}))),
  prompt_token_ids: idsSchema,
  response_message: z.looseObject({}),
  completion_token_ids: idsSchema,
  logprobs: z.nullish(logprobsSchema),
  latency_ms: z.nullish(z.number()),
  token_counts: z.nullish(z.record(z.string(), z.number())),
  timestamp: z.nullish(z.number()),
  metadata: z.nullish(z.looseObject({})),
})
type Trace = z.infer<typeof traceSchema>

/** Returns the trace that a record is, or that a row of the database contains. */
function traceIn(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const trace = isObject(value.data) ? value.data : value
  return ['trace_id', 'session_id', 'completion_token_ids', 'response_message'].every((key) => key in trace)
    ? trace
    : undefined
}

function callOf(trace: Trace, at: string): ModelCall {
  const { raw_request: request, raw_response: reply, messages, model } = trace
  const [path, whole] = isChatReply(reply) ? [`${at}.raw_response`, reply] : [at, replyOf(trace)]
  const call = elementAt(chatCalls(whole, isObject(request) ? request : { messages, model }, path), 0)
  return timedCall(call, isoTime(trace.timestamp), trace.latency_ms)
}

/** Returns the reply of a streamed call, of which the gateway keeps these parts. A list without entries is unknown. */
function replyOf(trace: Trace): JsonObject {
  const { model, prompt_token_ids, completion_token_ids, logprobs, finish_reason, token_counts } = trace
  return {
    model,
    ...(prompt_token_ids.length > 0 && { prompt_token_ids }),
    usage: { prompt_tokens: token_counts?.prompt, completion_tokens: token_counts?.completion },
    choices: [
      {
        message: messageOf(trace.response_message),
        ...(completion_token_ids.length > 0 && { token_ids: completion_token_ids }),
        logprobs: { content: logprobs?.map((logprob) => ({ logprob })) },
        finish_reason,
      },
    ],
  }
}

/** The calls of a streamed message are the parts in which they arrived. */
const messageOf = (message: JsonObject): JsonObject =>
  objectsIn(message.tool_calls).some(({ index }) => typeof index === 'number') ? joinedMessage([message]) : message
