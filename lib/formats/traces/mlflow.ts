/** Traces of MLflow: the inputs and outputs of model spans are JSON texts, often a whole request and reply. */
import { isObject, type JsonObject, objectsIn, storable } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import type { Format } from '../format.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import type { ModelCall } from '../replies/model-call.ts'
import { callOfSpan, elapsedBetween, messageOfOutput, nanoTime, sortTime } from './trace-calls.ts'

const NAME = 'mlflow'

/** The format of MLflow traces. */
export const mlflowTrace: Format = {
  name: NAME,
  label: 'MLflow traces',
  keeps: 'Calls of models with their messages, tools and times; ids and logprobs if an output has the whole reply.',
  sniff: (value) => isObject(value) && isObject(value.info) && 'trace_id' in value.info && isObject(value.data),
  read: catchRefusals((value, source) => {
    const { info, data } = value as { readonly info: JsonObject; readonly data: JsonObject }
    const spans = objectsIn(data.spans)
    const calls = spans
      .map((span) => ({ span, attributes: isObject(span.attributes) ? span.attributes : {} }))
      .filter(({ attributes }) => MODELS.includes(parseNestedJson(attributes['mlflow.spanType'])))
      .sort((a, b) => sortTime(a.span.start_time_unix_nano) - sortTime(b.span.start_time_unix_nano))
      .flatMap(({ span, attributes }) => callOf(span, attributes) ?? [])
    if (calls.length === 0) refuse('data.spans', 'a span with a call of a model', data.spans)
    return trajectoriesOfCalls(calls, { format: NAME, rest: storable({ info }) }, source)
  }),
}

const MODELS: readonly unknown[] = ['CHAT_MODEL', 'LLM']

function callOf(span: JsonObject, attributes: JsonObject): ModelCall | undefined {
  const inputs = parseNestedJson(attributes['mlflow.spanInputs'])
  const outputs = parseNestedJson(attributes['mlflow.spanOutputs'])
  const model = [parseNestedJson(attributes['mlflow.llm.model']), parseNestedJson(attributes.model)]
  const tokens = parseNestedJson(attributes['mlflow.chat.tokenUsage'])
  const usage = isObject(tokens) ? tokens : {}
  return callOfSpan({
    path: `data.spans[${JSON.stringify(span.span_id)}].attributes["mlflow.spanOutputs"]`,
    request: isObject(inputs) ? inputs : undefined,
    reply: outputs,
    message: isChatReply(outputs) ? undefined : messageOfOutput(outputs),
    model: model.find((name) => typeof name === 'string') as string | undefined,
    usage: { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens },
    startedAt: nanoTime(span.start_time_unix_nano).iso,
    elapsedMs: elapsedBetween(span.start_time_unix_nano, span.end_time_unix_nano),
  })
}
