import { callApi } from '../api.ts'
import type { Resource } from './task-lane.ts'

/** Fetches the answer of /api/tokenizers/files. Throws ApiError. */
export type FetchTokenizer = (name: string, signal: AbortSignal) => Promise<ArrayBuffer>

/** Fetches the files of a tokenizer from this application's server. */
export const fetchTokenizer: FetchTokenizer = async (name, signal) => {
  const path = `/api/tokenizers/files?name=${encodeURIComponent(name)}`
  return (await callApi(path, { signal, revalidate: true })).arrayBuffer()
}

/** Returns a tokenizer as a resource: its files are transferred, and the worker creates the tokenizer. */
export const tokenizerResource = (name: string, fetch: FetchTokenizer): Resource => ({
  name: `tokenizer ${name}`,
  load: async (signal) => {
    const files = await fetch(name, signal)
    return { given: { kind: 'tokenizer', name, files }, transfer: [files] }
  },
})
