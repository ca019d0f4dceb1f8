/**
 * Whether the sampled logprobs of a response may be held against prefill logprobs. SGLang gives the first after temperature,
 * penalties, biases and grammars, and the second always at temperature 1 and without any of them.
 */
import type { ResponseView } from '../tokens/trajectory-view.ts'

/** undefined: they may. */
export function whyNotComparable({ request }: Pick<ResponseView, 'request'>): string | undefined {
  if (!request) return 'the file does not say how they were sampled'
  if (request.read) return 'written behind other tokens than stand before it'
  const { temperature = 1, ...rest } = request.samplingParams
  // SGLang takes 0 for greedy choice at temperature 1.
  if (temperature !== 0 && temperature !== 1) return `sampled at temperature ${String(temperature)}`
  const changing = CHANGING.filter(([name, neutral]) => {
    const value = rest[name]
    return value !== undefined && value !== null && value !== '' && value !== neutral
  })
  return changing.length > 0 ? `sampled with ${changing.map(([name]) => name).join(', ')}` : undefined
}

/** Parameters that change sampled logprobs, and the value with which they do not. */
const CHANGING: readonly (readonly [name: string, neutral?: unknown])[] = [
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['repetition_penalty', 1],
  ['min_new_tokens', 0],
  ['min_tokens', 0],
  ['logit_bias'],
  ['json_schema'],
  ['regex'],
  ['ebnf'],
  ['structural_tag'],
  ['custom_params'],
]
