/**
 * Observations of Langfuse, as its interface returns them and as its page exports them. Its client for OpenTelemetry writes the same
 * values as attributes of spans. An observation of the type `generation` is a call of a model.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import type { ModelCall } from '../replies/model-call.ts'
import { callOfSpan, type SpanCall } from './trace-calls.ts'

const NAME = 'langfuse'

/** The format of observations. The calls of a trace are one run of an agent. */
export const langfuse: Format = {
  name: NAME,
  label: 'observations of Langfuse',
  keeps: 'Messages, calls, parameters, counts and times of each call of a model; ids and logprobs of a whole reply.',
  joins: true,
  sniff: isObservation,
  read: catchRefusals((value, source) => {
    const calls = [value]
      .flat()
      .filter(isObservation)
      .map((observation, index) => ({ observation, path: `[${index}].output` }))
      .filter(({ observation }) => isGeneration(observation.type))
      .sort((a, b) => startOf(a.observation) - startOf(b.observation))
    return Array.from(Map.groupBy(calls, ({ observation }) => observation.traceId)).flatMap(([traceId, own]) => {
      const read = own.flatMap(({ observation, path }) => callOf(observation, path) ?? [])
      return trajectoriesOfCalls(read, { format: NAME, rest: { traceId } }, source)
    })
  }),
}

interface Observation extends JsonObject {
  readonly traceId: string
}

function isObservation(value: unknown): value is Observation {
  return isObject(value) && typeof value.type === 'string' && typeof value.traceId === 'string' && 'startTime' in value
}

const startOf = ({ startTime }: Observation): number => Date.parse(isoText(startTime) ?? '') || 0

const isGeneration = (type: unknown): boolean => typeof type === 'string' && type.toLowerCase() === 'generation'

function callOf(observation: Observation, path: string): ModelCall | undefined {
  const { startTime, endTime, modelParameters: parameters, usageDetails: usage, ...values } = observation
  const startedAt = isoText(startTime)
  const elapsed = Date.parse(isoText(endTime) ?? '') - Date.parse(startedAt ?? '')
  const call = generationOf({ ...values, parameters, usage })
  return callOfSpan({ path, ...call, startedAt, elapsedMs: elapsed >= 0 ? elapsed : undefined })
}

/** Returns what the attributes of a span say about its call; undefined if Langfuse did not write them, or of another observation. */
export const langfuseCall = (attributes: JsonObject): GenerationCall | undefined =>
  isLangfuseCall(attributes)
    ? generationOf({
        input: attributes[`${PREFIX}.input`],
        output: attributes[`${PREFIX}.output`],
        model: attributes[`${PREFIX}.model.name`],
        parameters: attributes[`${PREFIX}.model.parameters`],
        usage: attributes[`${PREFIX}.usage_details`],
      })
    : undefined

/** Returns whether the attributes of a span are those of a call that Langfuse recorded. */
export const isLangfuseCall = (attributes: JsonObject): boolean => isGeneration(attributes[`${PREFIX}.type`])

const PREFIX = 'langfuse.observation'

type GenerationCall = Omit<SpanCall, 'path' | 'startedAt' | 'elapsedMs'>

/** Values may be JSON texts. */
function generationOf({ input, output, model, parameters, usage }: Readonly<Record<string, unknown>>): GenerationCall {
  const reply = parseNestedJson(output)
  const counts = objectIn(usage)
  return {
    request: { ...objectIn(parameters), ...requestOf(parseNestedJson(input)) },
    reply: isChatReply(reply) ? reply : undefined,
    message: messageOf(reply),
    model: typeof model === 'string' ? model : undefined,
    usage: {
      prompt_tokens: counts.prompt_tokens ?? counts.input,
      completion_tokens: counts.completion_tokens ?? counts.output,
    },
  }
}

function objectIn(value: unknown): JsonObject {
  const parsed = parseNestedJson(value)
  return isObject(parsed) ? parsed : {}
}

function requestOf(input: unknown): JsonObject {
  if (isObject(input)) return input
  return { messages: typeof input === 'string' ? [{ role: 'user', content: input }] : input }
}

function messageOf(output: unknown): JsonObject | undefined {
  if (typeof output === 'string') return { role: 'assistant', content: output }
  return isObject(output) && output.role === 'assistant' ? output : undefined
}
