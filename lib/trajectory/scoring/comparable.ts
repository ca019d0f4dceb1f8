/**
 * Decides whether the sampled logprobs of a response are comparable with prefill logprobs. SGLang returns the first
 * after temperature, penalties, biases and grammars, and the second always at temperature 1 without any of them.
 */
import type { ResponseView } from '../tokens/trajectory-view.ts'

/** Returns the reason why not, or undefined if they are comparable. */
export function whyNotComparable({ request }: Pick<ResponseView, 'request'>): string | undefined {
  if (!request) return 'the file does not contain the sampling parameters'
  if (request.read) return 'sampled after different tokens than the recorded ones'
  const { temperature = 1, ...rest } = request.samplingParams
  // SGLang treats 0 as greedy decoding at temperature 1.
  if (temperature !== 0 && temperature !== 1) return `sampled at temperature ${String(temperature)}`
  const changing = CHANGING.filter(([name, neutral]) => {
    const value = rest[name]
    return value !== undefined && value !== null && value !== '' && value !== neutral
  })
  return changing.length > 0 ? `sampled with ${changing.map(([name]) => name).join(', ')}` : undefined
}

/** Parameters that change sampled logprobs, each with its neutral value. */
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
