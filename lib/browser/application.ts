/** Whether Rollscope's own server answers the page. */
import { queryOptions } from '@tanstack/react-query'
import { ApiError, callApi } from './api.ts'

/** Together less than 3 s: the longest time until a page says that the application is gone. */
const POLL_MS = 1_000
const ANSWER_MS = 1_800

/** Resolves within 1.8 s. An error that the application itself reports is an answer; that of a proxy before it is none. */
export async function isAnswering(): Promise<boolean> {
  try {
    await callApi('/api/health', { signal: AbortSignal.timeout(ANSWER_MS) })
    return true
  } catch (error) {
    return error instanceof ApiError && error.status > 0 && error.code !== 'UNKNOWN'
  }
}

/** Asked every second while the page is visible, also where the browser takes itself to be offline. */
export const applicationOptions = () =>
  queryOptions({
    queryKey: ['application'],
    queryFn: async () => ((await isAnswering()) ? 'answers' : 'gone') as 'answers' | 'gone',
    refetchInterval: POLL_MS,
    refetchOnWindowFocus: 'always',
    networkMode: 'always',
    staleTime: 0,
  })
