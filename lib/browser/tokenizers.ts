/** The tokenizers of the server: their names, their downloads, and the choice of one for a trajectory. */
import { queryOptions } from '@tanstack/react-query'
import { tokenizersSchema } from '#lib/api/tokenizer-download.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { fetchJson } from './api.ts'
import { pageReader } from './page-reader.ts'

const POLL_DOWNLOADS_MS = 300
const askTokenizers = (signal: AbortSignal) => fetchJson('/api/tokenizers', tokenizersSchema, { signal })

/** Query for the tokenizers in the folders of ROLLSCOPE_TOKENIZERS, which is repeated each time a dialog opens. */
export const tokenizerNamesOptions = () =>
  queryOptions({
    queryKey: ['tokenizer-names'],
    queryFn: async ({ signal }) => (await askTokenizers(signal)).names,
    staleTime: 0,
  })

/** Query for running downloads, while a start waits for its answer, which may wait for one. */
export const downloadsOptions = (isWaiting: boolean) =>
  queryOptions({
    queryKey: ['downloads'],
    queryFn: ({ signal }) => askTokenizers(signal),
    enabled: isWaiting,
    refetchInterval: POLL_DOWNLOADS_MS,
    staleTime: 0,
    gcTime: 0,
  })

/** Restores the texts of a trajectory that was imported as ids. Throws ApiError. */
export const chooseTokenizer = async (
  key: string,
  choice: { readonly tokenizer: string; readonly parser?: string },
): Promise<TrajectoryView> => {
  const path = `/api/trajectories/${encodeURIComponent(key)}/tokenizer`
  return pageReader.call(path, new AbortController().signal, choice)
}
