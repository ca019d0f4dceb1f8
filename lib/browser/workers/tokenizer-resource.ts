import { callApi } from '../api.ts'
import type { Resource } from './task-lane.ts'

/** The answer of /api/tokenizers/files. Throws ApiError. */
export type FetchTokenizer = (name: string, signal: AbortSignal) => Promise<ArrayBuffer>

export const fetchTokenizer: FetchTokenizer = async (name, signal) => {
  const path = `/api/tokenizers/files?name=${encodeURIComponent(name)}`
  return (await callApi(path, { signal, revalidate: true })).arrayBuffer()
}

/** A tokenizer for tasks in a worker: its files go over, the worker makes it. */
export const tokenizerResource = (name: string, fetch: FetchTokenizer): Resource => ({
  name: `tokenizer ${name}`,
  load: async (signal) => {
    const files = await fetch(name, signal)
    return { given: { kind: 'tokenizer', name, files }, transfer: [files] }
  },
})
