/** The calls of a model in the spans of a trace, whichever tool wrote it. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { responseSegment } from '../conversations/text-trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { RecordSource } from '../format.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import { chatCalls, finishOf, usageField } from '../replies/chat-reply.ts'
import { type ModelCall, requestFacts } from '../replies/model-call.ts'

/** What a span says about its call. */
export interface SpanCall {
  readonly path: string
  /** The body of the request; undefined if unknown. */
  readonly request: JsonObject | undefined
  /** The reply of the server, as far as the span has it. */
  readonly reply: unknown
  /** The message of the model, if the span has no reply. */
  readonly message: JsonObject | undefined
  /** Why the message ended, in the words of chat completions or of Strands. Omitted: the span does not say. */
  readonly finishReason?: unknown
  readonly model: string | undefined
  readonly usage: JsonObject
  readonly startedAt: string | undefined
  readonly elapsedMs: number | undefined
}

/** Returns the call of a span; undefined if it has neither a reply nor a message. */
export function callOfSpan(span: SpanCall): ModelCall | undefined {
  const { path, request, reply, message, finishReason, model, usage, startedAt, elapsedMs } = span
  const timing: Pick<ResponseSegment, 'timing'> =
    startedAt !== undefined && elapsedMs !== undefined ? { timing: { startedAt, elapsedMs } } : {}
  if (isChatReply(reply)) {
    const [call] = chatCalls(reply, request, path)
    return call && { ...call, createdAt: startedAt ?? call.createdAt, response: { ...call.response, ...timing } }
  }
  if (!message) return undefined
  const finish = finishOf({ finish_reason: REASONS[String(finishReason)] ?? finishReason })
  return {
    ...requestFacts(request),
    prompt: undefined,
    response: { ...responseSegment(message), ...(finish && { finish }), ...usageField(usage), ...timing },
    vocab: {},
    model,
    engine: undefined,
    createdAt: startedAt,
    lacked: [],
    rest: isObject(reply) ? { reply } : undefined,
  }
}

/** A record of one call, whose times are texts. */
export interface TracedCall {
  readonly traceId: string
  readonly startTime: unknown
  readonly endTime: unknown
  readonly call: Omit<SpanCall, 'startedAt' | 'elapsedMs'>
}

/** Returns the runs of traces, each of its calls in the order of their times. `idField` is the name of the trace's id in the file. */
export function runsOfTraces(
  traced: readonly TracedCall[],
  { format, idField }: { readonly format: string; readonly idField: string },
  source: RecordSource,
): readonly Trajectory[] {
  const timed = traced.map(({ traceId, startTime, endTime, call }) => {
    const startedAt = isoText(startTime)
    const started = Date.parse(startedAt ?? '')
    const elapsed = Date.parse(isoText(endTime) ?? '') - started
    const span = { ...call, startedAt, elapsedMs: elapsed >= 0 ? elapsed : undefined }
    return { traceId, started: started || 0, span }
  })
  const traces = Map.groupBy(
    timed.sort((a, b) => a.started - b.started),
    ({ traceId }) => traceId,
  )
  return Array.from(traces, ([traceId, own]) => {
    const calls = own.flatMap(({ span }) => callOfSpan(span) ?? [])
    return trajectoriesOfCalls(calls, { format, rest: { [idField]: traceId } }, source)
  }).flat()
}

/** Returns the message of an output that is no reply: a message of the model, or its text. */
export function messageOfOutput(output: unknown): JsonObject | undefined {
  if (typeof output === 'string') return { role: 'assistant', content: output }
  return isObject(output) && output.role === 'assistant' ? output : undefined
}

/** Reasons of Strands in the words of chat completions. */
const REASONS: Readonly<Record<string, string>> = {
  tool_use: 'tool_calls',
  max_tokens: 'length',
  stop_sequence: 'stop',
}

/** Returns a time in nanoseconds since 1970, which may be a text, as ISO 8601 and in milliseconds. */
export function nanoTime(value: unknown): { readonly iso: string | undefined; readonly ms: number | undefined } {
  const ms = typeof value === 'number' || typeof value === 'string' ? Number(value) / 1e6 : Number.NaN
  return Math.abs(ms) < 1e14 ? { iso: new Date(ms).toISOString(), ms } : { iso: undefined, ms: undefined }
}

/** Returns a time in nanoseconds as a number for sorting; 0 if it is unknown. */
export const sortTime = (value: unknown): number => nanoTime(value).ms ?? 0

/** Returns the milliseconds from one time to another; undefined if either is unknown. */
export const elapsedBetween = (start: unknown, end: unknown): number | undefined => {
  const [from, to] = [nanoTime(start).ms, nanoTime(end).ms]
  return from !== undefined && to !== undefined && to >= from ? to - from : undefined
}
