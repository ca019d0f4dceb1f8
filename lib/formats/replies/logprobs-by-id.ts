/** Reads vLLM's logprobs: for each token null or an object by id, with the token itself and the most likely ones. */
import { isObject } from '#lib/json/json-object.ts'
import { isLogprob } from '../columns.ts'
import { refuse } from '../reading/record-error.ts'
import { logprobAt, type TokenEntry } from './token-entries.ts'

/** Returns an entry for each id; undefined without logprobs. Refuses a list for other tokens. */
export function logprobsById(value: unknown, ids: readonly number[], path: string): readonly TokenEntry[] | undefined {
  if (!Array.isArray(value)) return undefined
  if (value.length !== ids.length) refuse(path, `${ids.length} entries (one for each token)`, value)
  return ids.map((id, index) => {
    const entries = entriesById(value[index], `${path}[${index}]`)
    const own = entries.find((entry) => entry.id === id)
    // The token itself is an alternative only if its rank is among those that were requested.
    const alternatives = entries.filter(({ rank }) => rank <= entries.length)
    return { id, written: own?.written, logprob: own?.logprob ?? null, alternatives }
  })
}

interface RankedEntry extends TokenEntry {
  /** Infinity if the file has none. */
  readonly rank: number
}

function entriesById(value: unknown, path: string): readonly RankedEntry[] {
  if (!isObject(value)) return []
  const entries: RankedEntry[] = []
  for (const id of Object.keys(value)) {
    const entry = value[id]
    if (!isObject(entry) || !/^\d{1,15}$/.test(id)) continue
    const { logprob, rank, decoded_token: written } = entry
    entries.push({
      id: Number(id),
      written,
      logprob: isLogprob(logprob) ? logprob : logprobAt(logprob, `${path}[${JSON.stringify(id)}].logprob`),
      alternatives: undefined,
      rank: typeof rank === 'number' ? rank : Number.POSITIVE_INFINITY,
    })
  }
  return entries.sort((a, b) => a.rank - b.rank)
}
