/** Reads vLLM's logprobs: for each token null or an object by id, with the token itself and the most likely ones. */
import { isObject } from '#lib/json/json-object.ts'
import { logprobSchema } from '../columns.ts'
import { parsedAt, refuse } from '../reading/record-error.ts'
import type { TokenEntry } from './token-entries.ts'

/** Returns an entry for each id; undefined without logprobs. Refuses a list for other tokens. */
export function logprobsById(value: unknown, ids: readonly number[], path: string): readonly TokenEntry[] | undefined {
  if (!Array.isArray(value)) return undefined
  if (value.length !== ids.length) refuse(path, `${ids.length} entries (one for each token)`, value)
  return ids.map((id, index) => {
    const entries = entriesById(value[index], `${path}[${index}]`)
    const own = entries.find((entry) => entry.id === id)
    // The token itself is an alternative only if its rank is among those that were requested.
    const alternatives = entries.filter(({ rank }) => rank !== undefined && rank <= entries.length)
    return { id, text: own?.text, logprob: own?.logprob ?? null, alternatives }
  })
}

interface RankedEntry extends TokenEntry {
  readonly rank: number | undefined
}

function entriesById(value: unknown, path: string): readonly RankedEntry[] {
  if (!isObject(value)) return []
  return Object.entries(value)
    .flatMap(([id, entry]): readonly RankedEntry[] => {
      if (!isObject(entry) || !/^\d{1,15}$/.test(id)) return []
      const { logprob, rank, decoded_token: text } = entry
      return [
        {
          id: Number(id),
          text: typeof text === 'string' && text !== '' && !text.includes('\ufffd') ? text : undefined,
          logprob: parsedAt(logprobSchema, logprob ?? null, `${path}[${JSON.stringify(id)}].logprob`),
          alternatives: undefined,
          rank: typeof rank === 'number' ? rank : undefined,
        },
      ]
    })
    .sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity))
}
