/**
 * Outputs of vLLM's `LLM.generate` as scripts dump them: the attributes of `RequestOutput` and of its samples, or of one sample alone.
 * They have the content of a reply of the server under other names.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { idsSchema } from '../columns.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { samplesOfCalls } from './chat-completion.ts'
import { chatCalls } from './chat-reply.ts'
import { logprobsById } from './logprobs-by-id.ts'
import type { ModelCall } from './model-call.ts'
import type { TokenEntry } from './token-entries.ts'

const NAME = 'vllm-offline'

/** The format of the outputs. */
export const vllmOffline: Format = {
  name: NAME,
  label: 'outputs of vLLM’s LLM.generate',
  keeps: 'Ids, logprobs and alternatives of prompt and samples, texts, finish reason, weight versions.',
  sniff: (value) => replyOf(value) !== undefined,
  read(value, source) {
    const { isAlone = false } = replyOf(value) ?? {}
    const read = readOutputs(value, source)
    if (read.ok) return read
    const path = isAlone
      ? read.error.path.replace(/^choices\[0\]\.?/, '')
      : read.error.path.replace(/^choices/, 'outputs')
    return { ...read, error: { ...read.error, path } }
  },
}

const readOutputs = catchRefusals((value, source) => {
  const { reply = {}, samples = [] } = replyOf(value) ?? {}
  const choices = samples.map((sample, index) => choiceOf(sample, `choices[${index}]`))
  const usage = { prompt_tokens_details: { cached_tokens: reply.num_cached_tokens } }
  const calls = chatCalls({ ...reply, usage, choices }, undefined).map((call): ModelCall => {
    const prompt = call.prompt && { ...call.prompt, derivation: { kind: 'given' as const } }
    return { ...call, prompt, engine: 'vllm' }
  })
  return samplesOfCalls(calls, reply, { format: NAME }, source)
})

/** An output with its samples. */
interface Output {
  readonly reply: JsonObject
  readonly samples: readonly JsonObject[]
  /** True for a sample without the output around it. */
  readonly isAlone: boolean
}

/** Returns the output in a value as a reply without its samples; undefined if it is none. */
function replyOf(value: unknown): Output | undefined {
  if (!isObject(value)) return undefined
  const { outputs, ...reply } = value
  if (Array.isArray(outputs) && outputs.length > 0 && outputs.every(isSample) && 'prompt_token_ids' in value)
    return { reply, samples: outputs, isAlone: false }
  return isSample(value) ? { reply: {}, samples: [value], isAlone: true } : undefined
}

const isSample = (value: unknown): value is JsonObject =>
  isObject(value) && Array.isArray(value.token_ids) && typeof value.text === 'string' && 'cumulative_logprob' in value

/** Returns a sample as a choice of a chat completion. */
function choiceOf({ text, logprobs, ...sample }: JsonObject, path: string): JsonObject {
  const ids = parsedAt(idsSchema, sample.token_ids, `${path}.token_ids`)
  const entries = logprobsById(listOfLogprobs(logprobs), ids, `${path}.logprobs`)
  return {
    ...sample,
    message: { content: text },
    ...(entries && { logprobs: { content: entries.map(entryObject) } }),
  }
}

const entryObject = ({ id, written, logprob, alternatives = [] }: TokenEntry): JsonObject => ({
  id,
  token: written,
  logprob,
  top_logprobs: alternatives.map(entryObject),
})

/** With `flat_logprobs`, the entries of all positions are columns, and each position is a range in them. */
function listOfLogprobs(logprobs: unknown): unknown {
  if (!isObject(logprobs)) return logprobs
  const column = (name: string): readonly unknown[] => {
    const values = logprobs[name]
    return Array.isArray(values) ? values : []
  }
  const entries = column('token_ids').map((id, index) => {
    const [logprob, rank, decoded_token] = ['logprobs', 'ranks', 'decoded_tokens'].map((name) => column(name)[index])
    return [String(id), { logprob, rank, decoded_token }] as const
  })
  const ends = column('end_indices').map(Number)
  return column('start_indices').map((start, position) =>
    Object.fromEntries(entries.slice(Number(start), ends[position])),
  )
}
