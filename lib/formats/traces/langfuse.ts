/**
 * Observations of Langfuse, as its interface returns them and as its page exports them. Its client for OpenTelemetry writes the same
 * values as attributes of spans. An observation of the type `generation` is a call of a model.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import { messageOfOutput, runsOfTraces, type SpanCall, type TracedCall } from './trace-calls.ts'

const NAME = 'langfuse'

/** The format of observations. The calls of a trace are one run of an agent. */
export const langfuse: Format = {
  name: NAME,
  label: 'observations of Langfuse',
  keeps: 'Messages, calls, parameters, counts and times of each call of a model; ids and logprobs of a whole reply.',
  joins: true,
  sniff: isObservation,
  read: catchRefusals((value, source) => {
    const observations = [value].flat().filter(isObservation)
    const calls = observations.flatMap((observation, index) =>
      isGeneration(observation.type) ? callOf(observation, `[${index}].output`) : [],
    )
    return runsOfTraces(calls, { format: NAME, idField: 'traceId' }, source)
  }),
}

interface Observation extends JsonObject {
  readonly traceId: string
}

function isObservation(value: unknown): value is Observation {
  return isObject(value) && typeof value.type === 'string' && typeof value.traceId === 'string' && 'startTime' in value
}

const isGeneration = (type: unknown): boolean => typeof type === 'string' && type.toLowerCase() === 'generation'

function callOf(observation: Observation, path: string): TracedCall {
  const { traceId, startTime, endTime, modelParameters: parameters, usageDetails: usage, ...values } = observation
  return { traceId, startTime, endTime, call: { path, ...generationOf({ ...values, parameters, usage }) } }
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
    message: messageOfOutput(reply),
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
