/**
 * OpenTelemetry traces: the spans of spans.ts, with the attributes of OpenInference (`llm.…`, `input.value`, `output.value`), of OpenTelemetry
 * itself (`gen_ai.…`) or of Langfuse. Each trace becomes a run of its model spans in the order of their times.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Format } from '../format.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import type { ModelCall } from '../replies/model-call.ts'
import { choiceMessage, DETAILS, eventMessages, genAiMessage, genAiMessages } from './gen-ai.ts'
import { isLangfuseCall, langfuseCall } from './langfuse.ts'
import { hasSpans, spansIn, type TraceSpan } from './spans.ts'
import { callOfSpan, elapsedBetween, nanoTime, sortTime } from './trace-calls.ts'

const NAME = 'otlp'

/** The format of traces. The spans of one may be spread over several lines. */
export const otlp: Format = {
  name: NAME,
  label: 'OpenTelemetry traces',
  keeps:
    'Calls of models with their messages, tools, counts and times; ids and logprobs if a span has the whole reply.',
  joins: true,
  sniff: hasSpans,
  read: catchRefusals((value, source) => {
    const spans = (Array.isArray(value) ? value : [value]).flatMap(spansIn)
    const traces = [...Map.groupBy(spans, ({ traceId }) => traceId).values()]
    const runs = traces.flatMap((trace) => {
      const calls = callsOf(trace)
      return calls.length === 0 ? [] : [{ calls, trace }]
    })
    if (runs.length === 0)
      refuse(
        'resourceSpans',
        'a span with a call of a model',
        spans.map(({ name }) => name),
      )
    return runs.flatMap(({ calls, trace }) =>
      trajectoriesOfCalls(
        calls,
        { format: NAME, rest: { traceId: trace[0]?.traceId, spans: trace.map(({ name }) => name) } },
        source,
      ),
    )
  }),
}

/** A framework and the client below it may both record a call: the inner span is nearer to the server. */
function callsOf(trace: readonly TraceSpan[]): readonly ModelCall[] {
  const models = trace.map(withDetails).filter(({ attributes }) => isModelCall(attributes))
  const parents = new Set(models.map(({ parentSpanId }) => parentSpanId))
  return models
    .filter(({ spanId }) => !parents.has(spanId))
    .sort((a, b) => sortTime(a.startTime) - sortTime(b.startTime))
    .flatMap((model) => callOf(model) ?? [])
}

/** Attributes of the whole call may be in an event. */
function withDetails(span: TraceSpan): TraceSpan {
  const details = span.events.filter(({ name }) => name === DETAILS).map(({ attributes }) => attributes)
  return { ...span, attributes: Object.assign({}, ...details, span.attributes) }
}

const CHATS: readonly unknown[] = ['chat', 'text_completion', 'generate_content']

const isModelCall = (attributes: JsonObject): boolean =>
  attributes['openinference.span.kind'] === 'LLM' ||
  CHATS.includes(attributes['gen_ai.operation.name']) ||
  isLangfuseCall(attributes)

function callOf({ spanId, startTime, endTime, attributes, events }: TraceSpan): ModelCall | undefined {
  const times = { startedAt: nanoTime(startTime).iso, elapsedMs: elapsedBetween(startTime, endTime) }
  const span = `spans[${JSON.stringify(spanId)}].attributes`
  const recorded = langfuseCall(attributes)
  if (recorded) return callOfSpan({ path: `${span}["langfuse.observation.output"]`, ...recorded, ...times })
  const input = parseNestedJson(attributes['input.value'])
  const written = flattened(attributes, 'llm.input_messages').map(openInferenceMessage)
  const generic = genAiMessages(attributes)
  const messages = [generic, eventMessages(events), written].find(({ length }) => length > 0) ?? []
  const body = isObject(input) && Array.isArray(input.messages) ? input : undefined
  const parameters = parseNestedJson(attributes['llm.invocation_parameters'])
  const temperature = attributes['gen_ai.request.temperature']
  const request = body ?? {
    ...(isObject(parameters) && parameters),
    ...(temperature !== undefined && { temperature }),
    ...(messages.length > 0 && { messages }),
    tools: toolsOf(attributes),
  }
  const [openInference] = flattened(attributes, 'llm.output_messages').map(openInferenceMessage)
  const message = genAiMessage(attributes) ?? choiceMessage(events) ?? openInference
  const [reason] = [attributes['gen_ai.response.finish_reasons']].flat()
  const model = [attributes['llm.model_name'], attributes['gen_ai.response.model'], attributes['gen_ai.request.model']]
  return callOfSpan({
    path: `${span}["output.value"]`,
    request,
    reply: parseNestedJson(attributes['output.value']),
    message,
    finishReason: reason ?? message?.finish_reason,
    model: model.find((name) => typeof name === 'string') as string | undefined,
    usage: {
      prompt_tokens: attributes['llm.token_count.prompt'] ?? attributes['gen_ai.usage.input_tokens'],
      completion_tokens: attributes['llm.token_count.completion'] ?? attributes['gen_ai.usage.output_tokens'],
    },
    ...times,
  })
}

function toolsOf(attributes: JsonObject): unknown {
  const definitions = parseNestedJson(attributes['gen_ai.tool.definitions'])
  if (Array.isArray(definitions)) return definitions
  return flattened(attributes, 'llm.tools').flatMap(({ tool }) =>
    isObject(tool) ? [parseNestedJson(tool.json_schema)] : [],
  )
}

/** Reads `message.role`, `message.content` and the calls of a flattened message. */
function openInferenceMessage({ message }: JsonObject): JsonObject {
  if (!isObject(message)) return {}
  const { tool_calls, contents, ...fields } = message
  const calls = entriesOf(tool_calls).map(({ tool_call }) => tool_call)
  const parts = entriesOf(contents).map(({ message_content }) => message_content)
  return {
    content: parts.length > 0 ? parts : '',
    ...fields,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** Returns the elements of a list whose values are attributes of their own, such as `llm.tools.0.tool.json_schema`. */
function flattened(attributes: JsonObject, prefix: string): readonly JsonObject[] {
  const root: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(`${prefix}.`)) continue
    const path = key.slice(prefix.length + 1).split('.')
    if (path.length > MOST_PARTS || path.some((part) => part === '__proto__')) continue
    let holder = root
    for (const part of path.slice(0, -1)) {
      const next = Object.hasOwn(holder, part) ? holder[part] : undefined
      const inner = isObject(next) ? (next as Record<string, unknown>) : {}
      holder[part] = inner
      holder = inner
    }
    holder[elementAt(path, path.length - 1)] = value
  }
  return entriesOf(root)
}

/** Attributes of messages have at most nine parts. */
const MOST_PARTS = 12

const entriesOf = (list: unknown): readonly JsonObject[] =>
  isObject(list)
    ? Object.keys(list)
        .sort((a, b) => Number(a) - Number(b))
        .map((key) => list[key])
        .filter(isObject)
    : []
