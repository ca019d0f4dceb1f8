/** Converts a /generate body to one order per prompt, with SGLang's checks of the values. */
import { type Job, type JobSampling, type LogprobRequest, QUEUE_FULL } from '#lib/builtin-server/engine/job.ts'
import { badValue, unavailable } from '#lib/builtin-server/http/refusal.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { GenerateBody } from './generate-body.ts'
import { jobSamplingOf, type SamplingParams } from './sampling-params.ts'

/** One reply to generate. */
export interface Order {
  readonly rid: string
  readonly job: Omit<Job, 'key'>
  /** Whether logprob entries contain the text of their token. */
  readonly showsTexts: boolean
  readonly showsPromptIds: boolean
}

/** Limits of the requests of one model. */
export interface GenerateLimits {
  readonly vocabularySize: number
  readonly contextLength: number
  /** Largest number of jobs that run or wait at the same time. */
  readonly maxJobs: number
  /** Encodes a text; slow work runs where it blocks no other request. */
  readonly encode: (text: string) => Promise<readonly number[]>
}

/**
 * Returns the orders of a body. A list of prompts, even of one, is answered with a list, and so are several samples: all samples of the
 * first prompt, then all of the next. Throws HttpRefusal.
 */
export async function ordersOf(
  body: GenerateBody,
  limits: GenerateLimits,
): Promise<{ readonly orders: readonly Order[]; readonly isBatch: boolean }> {
  const { prompts, isBatch } = promptsOf(body)
  if (body.unsupported[0] !== undefined)
    throw badValue(`${body.unsupported[0]} is set, but the built-in server does not support it.`)
  const rids = ridsOf(body.rid, prompts.length, isBatch)
  const orders: Order[] = []
  for (const [index, prompt] of prompts.entries())
    orders.push(await orderOf(prompt, elementAt(rids, index), body, perPrompt(index, prompts.length, isBatch), limits))
  const samples = samplesOf(body)
  if (samples === 1) return { orders, isBatch }
  // Orders that cannot be queued are not created either, because n may be any number.
  if (samples * orders.length > limits.maxJobs) throw unavailable(503, QUEUE_FULL)
  return { orders: orders.flatMap((order) => samplesOfOne(order, samples)), isBatch: true }
}

/** Returns the number of samples, which all prompts share; 0 counts as 1, as in SGLang. */
function samplesOf({ sampling }: GenerateBody): number {
  const [first = 1, ...others] = [sampling].flat().map(({ n }) => n ?? 1)
  if (others.some((other) => other !== first))
    throw badValue('The parallel_sample_num should be the same for all samples in sample params.')
  if (first < 0) throw badValue(`n must be at least 1, got ${first}.`)
  return Math.max(1, first)
}

/** Returns the orders of several samples. Their request ids are random, as in SGLang; with one seed, each has the seed plus its index. */
function samplesOfOne(order: Order, count: number): Order[] {
  const { sampling } = order.job
  return Array.from({ length: count }, (_, index) => ({
    ...order,
    rid: randomRid(),
    job: {
      ...order.job,
      sampling: { ...sampling, seed: sampling.seed === undefined ? undefined : sampling.seed + index },
    },
  }))
}

type Prompt = string | readonly number[]

/** Returns the value of a field for one prompt: the field has either one value for all prompts, or a list with one for each. */
type PerPrompt = <T>(name: string, value: T | readonly T[] | undefined) => T | undefined

/** Returns the prompts; ids take precedence over texts, as in SGLang. */
function promptsOf({ text, inputIds }: GenerateBody): { prompts: readonly Prompt[]; isBatch: boolean } {
  if (inputIds) {
    const isBatch = Array.isArray(inputIds[0])
    return { prompts: (isBatch ? inputIds : [inputIds]) as readonly (readonly number[])[], isBatch }
  }
  if (text === undefined) throw badValue('Either text, input_ids or input_embeds should be provided.')
  return text.length === 0
    ? { prompts: [''], isBatch: false }
    : { prompts: [text].flat(), isBatch: Array.isArray(text) }
}

function perPrompt(index: number, count: number, isBatch: boolean): PerPrompt {
  return <T>(name: string, value: T | readonly T[] | undefined) => {
    if (!Array.isArray(value)) return value as T | undefined
    if (!isBatch) throw badValue(`${name} must not be a list for a single prompt.`)
    if (value.length !== count) throw badValue(`${name} has ${value.length} entries for ${count} prompts.`)
    return value[index] as T
  }
}

function ridsOf(rid: GenerateBody['rid'], count: number, isBatch: boolean): readonly string[] {
  if (rid === undefined) return Array.from({ length: count }, randomRid)
  if (typeof rid === 'string') return isBatch ? Array.from({ length: count }, (_, index) => `${rid}_${index}`) : [rid]
  if (!isBatch) throw badValue('rid must not be a list for a single prompt.')
  if (rid.length !== count) throw badValue(`rid has ${rid.length} entries for ${count} prompts.`)
  const repeated = [...new Set(rid.filter((id, index) => rid.indexOf(id) !== index))]
  if (repeated.length > 0)
    throw badValue(`Duplicate request IDs detected within the request: [${repeated.map((id) => `'${id}'`).join(', ')}]`)
  return rid
}

const randomRid = (): string => crypto.randomUUID().replaceAll('-', '')

async function orderOf(
  prompt: Prompt,
  rid: string,
  body: GenerateBody,
  own: PerPrompt,
  limits: GenerateLimits,
): Promise<Order> {
  const params = own<SamplingParams>('sampling_params', body.sampling) as SamplingParams
  const sampling = jobSamplingOf(params, limits.vocabularySize)
  const promptIds = typeof prompt === 'string' ? await limits.encode(prompt) : prompt
  // An empty text would end a real server.
  if (promptIds.length === 0) throw badValue(`${typeof prompt === 'string' ? 'text' : 'input_ids'} cannot be empty.`)
  checkPrompt(promptIds, params.max_new_tokens, limits)
  return {
    rid,
    job: {
      promptIds,
      // A generation without a limit may use the rest of the context.
      sampling: {
        ...boundBy(body.bound, sampling),
        maxNewTokens: Math.min(sampling.maxNewTokens, limits.contextLength - promptIds.length),
      },
      logprobs: logprobsOf(promptIds.length, body, own, limits.vocabularySize),
      chunkTokens: body.stream ? (params.stream_interval ?? 1) : undefined,
    },
    showsTexts: body.return_text_in_logprobs ?? false,
    showsPromptIds: body.return_prompt_token_ids ?? false,
  }
}

function boundBy(bound: GenerateBody['bound'], sampling: JobSampling): JobSampling {
  if (!bound) return sampling
  const { calls, behind } = bound
  const grammar = sampling.grammar ?? (calls.length > 0 ? { kind: 'calls', forms: calls } : undefined)
  return { ...sampling, grammar, grammarBehind: behind }
}

function checkPrompt(ids: readonly number[], requestedTokens: number | undefined, limits: GenerateLimits): void {
  const { contextLength, vocabularySize } = limits
  if (ids.length >= contextLength)
    throw badValue(
      `The input (${ids.length} tokens) is longer than the model's context length (${contextLength} tokens).`,
    )
  const total = ids.length + (requestedTokens ?? 0)
  if (total > contextLength)
    throw badValue(
      `Requested token count exceeds the model's maximum context length of ${contextLength} tokens. You requested a total of ${total} tokens: ${ids.length} tokens from the input messages and ${requestedTokens} tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.`,
    )
  // These ids would end a real server.
  const unknown = ids.find((id) => id < 0 || id >= vocabularySize)
  if (unknown !== undefined) throw badValue(`input_ids must be in [0, ${vocabularySize - 1}], got ${unknown}.`)
}

function logprobsOf(
  promptLength: number,
  body: GenerateBody,
  own: PerPrompt,
  vocabularySize: number,
): LogprobRequest | undefined {
  if (!own<boolean>('return_logprob', body.return_logprob)) return undefined
  const start = own<number>('logprob_start_len', body.logprob_start_len) ?? -1
  const top = own<number>('top_logprobs_num', body.top_logprobs_num) ?? 0
  const ids = requestedIds(body.token_ids_logprob, own)
  if (start > promptLength)
    throw badValue(
      `req.logprob_start_len=${start} is higher than the number of input tokens len(req.origin_input_ids)=${promptLength}. Please use a smaller logprob_start_len.`,
    )
  // The first two values would end a real server.
  if (start < -1) throw badValue(`logprob_start_len must be at least -1, got ${start}.`)
  if (top > vocabularySize) throw badValue(`top_logprobs_num must be at most ${vocabularySize}, got ${top}.`)
  const unknown = ids?.find((id) => id < 0 || id >= vocabularySize)
  if (unknown !== undefined) throw badValue(`token_ids_logprob must be in [0, ${vocabularySize - 1}], got ${unknown}.`)
  return { start: start === -1 ? undefined : start, top: Math.max(0, top), ids }
}

/** Returns the requested ids: one list applies to all prompts, a list of lists has one for each. */
function requestedIds(value: GenerateBody['token_ids_logprob'], own: PerPrompt): readonly number[] | undefined {
  if (value === undefined || value.length === 0) return undefined
  return Array.isArray(value[0]) ? own('token_ids_logprob', value as number[][]) : (value as number[])
}
