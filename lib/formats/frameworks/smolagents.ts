/** The memory of an agent of smolagents (`agent.memory.get_full_steps()`): a step for each call, with its whole prompt and its reply. */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import { recordsOf } from '../conversations/text-trajectory.ts'
import { isoTime } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import type { ModelCall } from '../replies/model-call.ts'
import { callOfSpan } from '../traces/trace-calls.ts'

const NAME = 'smolagents'

/** The format of smolagents. */
export const smolagents: Format = {
  name: NAME,
  label: 'smolagents',
  keeps: 'Messages, calls, observations and counts; ids and logprobs of replies that have them.',
  joins: 'list',
  sniff: (value) =>
    isObject(value) &&
    (STEPS.some((fields) => fields.every((field) => field in value)) || Object.keys(value).join() === 'system_prompt'),
  read: catchRefusals((value, source) => {
    const steps = recordsOf(value)
    const calls = steps.flatMap(({ record, path }) => callOf(record, path) ?? [])
    const hasEnded = steps.some(({ record }) => record.is_final_answer === true)
    return trajectoriesOfCalls(
      calls,
      {
        format: NAME,
        ...(hasEnded && { outcome: { kind: 'ended', reason: 'end_turn' } }),
        lacked: ['tools: smolagents describes them in the system prompt'],
        rest: { steps: steps.map(({ record }) => without(record, READ) ?? {}) },
      },
      source,
    )
  }),
}

/** Fields of the steps of a task, and of a call or a plan. The step of the system prompt has only its text, which rows of data sets have too. */
const STEPS = [
  ['task', 'task_images'],
  ['model_input_messages', 'model_output_message'],
]

const READ = ['model_input_messages', 'model_output_message', 'model_output', 'timing', 'token_usage']

function callOf(step: JsonObject, path: string): ModelCall | undefined {
  const { model_input_messages: messages, model_output_message: message, timing, token_usage: usage } = step
  if (!isObject(message)) return undefined
  const { start_time: start, duration } = isObject(timing) ? timing : {}
  const { input_tokens, output_tokens } = isObject(usage) ? usage : {}
  const { raw } = message
  const model = isObject(raw) && typeof raw.model === 'string' ? raw.model : undefined
  return callOfSpan({
    path: `${path}model_output_message.raw`,
    request: { messages: objectsIn(messages).map(messageOf) },
    reply: raw,
    message: without(message, ['raw', 'token_usage']),
    model,
    usage: { prompt_tokens: input_tokens, completion_tokens: output_tokens },
    startedAt: isoTime(start),
    elapsedMs: typeof duration === 'number' ? duration * 1000 : undefined,
  })
}

/** smolagents sends calls as messages of the model, and their results as messages of the user. */
function messageOf({ role, ...message }: JsonObject): JsonObject {
  const sent = role === 'tool-call' ? 'assistant' : role === 'tool-response' ? 'user' : role
  return { ...message, raw: undefined, token_usage: undefined, role: sent }
}
