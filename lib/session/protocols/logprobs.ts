/** Writes logprobs in the form that both OpenAI protocols have. */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ArrivedTokens } from '#lib/rollout/record/record.ts'
import type { TopLogprobs } from '#lib/trajectory/format/trajectory.ts'
import type { BytesOfToken } from './protocol.ts'

/** Largest number of alternatives of a token, as OpenAI limits it. */
export const MOST_LOGPROBS = 20

/** An unknown logprob is the smallest that OpenAI writes. */
const UNKNOWN_LOGPROB = -9999

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns an entry for each token, with the first `count` alternatives. */
export function logprobEntries(
  { ids, logprobs, topLogprobs }: ArrivedTokens,
  count: number,
  bytes: BytesOfToken,
): readonly JsonObject[] {
  const entry = (id: number, logprob: number | null | undefined) => {
    const own = bytes(id)
    return {
      token: decoder.decode(own),
      logprob: logprob ?? UNKNOWN_LOGPROB,
      bytes: Array.from(own),
    }
  }
  return ids.map((id, index) => ({
    ...entry(id, logprobs?.[index]),
    top_logprobs: alternativesAt(topLogprobs, index, count).map((other) => entry(other.id, other.logprob)),
  }))
}

/** Returns the first alternatives of a token. */
function alternativesAt(top: TopLogprobs | undefined, index: number, count: number) {
  if (!top) return []
  const start = index * top.k
  return top.ids
    .slice(start, start + Math.min(count, top.k))
    .map((id, place) => ({ id, logprob: top.logprobs[start + place] }))
    .filter(({ id }) => id >= 0)
}
