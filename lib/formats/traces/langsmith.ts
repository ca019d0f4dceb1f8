/**
 * Runs of LangSmith: the steps of a trace. Those of the type `llm` are calls of a model, of LangChain or in the notation of its client,
 * whose reply then is whole.
 */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import { isLangchainMessage, langchainMessage } from '../conversations/langchain-message.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { runsOfTraces, type TracedCall } from './trace-calls.ts'

const NAME = 'langsmith'

/** The format of runs. The calls of a trace are one run of an agent. */
export const langsmith: Format = {
  name: NAME,
  label: 'runs of LangSmith',
  keeps: 'Ids and logprobs of replies that have them; messages, calls, parameters and times of each call of a model.',
  joins: true,
  sniff: isRun,
  read: catchRefusals((value, source) => {
    const runs = [value].flat().filter(isRun)
    const calls = runs.flatMap((run, index) => (run.run_type === 'llm' ? callOf(run, `[${index}].outputs`) : []))
    return runsOfTraces(calls, { format: NAME, idField: 'trace_id' }, source)
  }),
}

interface Run extends JsonObject {
  readonly trace_id: string
}

function isRun(value: unknown): value is Run {
  return isObject(value) && typeof value.run_type === 'string' && typeof value.trace_id === 'string'
}

function callOf({ trace_id, inputs, outputs, extra, start_time, end_time }: Run, path: string): TracedCall {
  const message = messageOf(outputs)
  const { response_metadata: metadata, usage_metadata: usage } = message ?? {}
  const { finish_reason, model_name } = isObject(metadata) ? metadata : {}
  const parameters = isObject(extra) && isObject(extra.invocation_params) ? extra.invocation_params : {}
  const model = [model_name, parameters.model, parameters.model_name].find((name) => typeof name === 'string')
  const call = {
    path,
    request: isObject(inputs) ? { ...parameters, ...inputs, messages: messagesOf(inputs.messages) } : undefined,
    reply: outputs,
    message,
    finishReason: finish_reason,
    model: model as string | undefined,
    usage: isObject(usage) ? { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens } : {},
  }
  return { traceId: trace_id, startTime: start_time, endTime: end_time, call }
}

/** LangChain has a list of conversations, of which it calls each alone. */
const messagesOf = (messages: unknown): unknown =>
  Array.isArray(messages)
    ? messages.flat().map((message: unknown) => (isLangchainMessage(message) ? langchainMessage(message) : message))
    : messages

/** Returns the first message that LangChain has generated. */
function messageOf(outputs: unknown): JsonObject | undefined {
  const [list] = isObject(outputs) && Array.isArray(outputs.generations) ? outputs.generations : []
  const message = objectsIn(list)[0]?.message
  return isLangchainMessage(message) ? langchainMessage(message) : undefined
}
