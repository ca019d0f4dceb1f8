/** The resources of tasks, as the page sends them to a worker. */

import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
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
    return { resource: { kind: 'tokenizer', name, files }, transfer: [files] }
  },
})

/** Returns a function that names trajectories as resources: the same trajectory has the same name while it exists. */
export function createTrajectoryNames(): (trajectory: TrajectoryView) => string {
  const names = new WeakMap<TrajectoryView, string>()
  let known = 0
  return (trajectory) => {
    const name = names.get(trajectory) ?? `trajectory ${++known}`
    names.set(trajectory, name)
    return name
  }
}

/** Returns a trajectory as a resource. Its buffers are copied, because the page continues to read them. */
export const trajectoryResource = (name: string, trajectory: TrajectoryView): Resource => ({
  name,
  load: async () => ({ resource: { kind: 'trajectory', trajectory }, transfer: [] }),
})
