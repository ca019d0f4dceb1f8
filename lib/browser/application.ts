/** Determines whether Rollscope's own server answers the page. */
import { queryOptions } from '@tanstack/react-query'
import { ApiError, callApi } from './api.ts'

/**
 * Interval and time limit in milliseconds. Together they are less than 3 s: the longest time until a page reports that the application is
 * unreachable.
 */
const POLL_MS = 1_000
const ANSWER_MS = 1_800

/**
 * Returns whether the application answers, within 1.8 s. An error from the application is an answer; an error from a proxy before it is
 * not.
 */
export async function isAnswering(): Promise<boolean> {
  try {
    const response = await callApi('/api/health', { signal: AbortSignal.timeout(ANSWER_MS) })
    // The head is the answer. The body is read nevertheless, because the request would stay open until the signal aborts it.
    response.text().catch(() => {})
    return true
  } catch (error) {
    return error instanceof ApiError && error.status > 0 && error.code !== 'UNKNOWN'
  }
}

/**
 * Loads code as soon as the application answers, so that a page stays as it is until then. Throws the error of an application that answers
 * and does not have the code.
 */
export async function loadWhenAnswered<Code>(load: () => Promise<Code>): Promise<Code> {
  for (let wasAnswering = false; ; ) {
    try {
      return await load()
    } catch (error) {
      // It may answer only since the attempt that failed.
      if (wasAnswering) throw error
      wasAnswering = await isAnswering()
    }
    if (!wasAnswering) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/**
 * Query for whether the application answers. It runs every second while the page is visible, even if the browser considers itself offline.
 */
export const applicationOptions = () =>
  queryOptions({
    queryKey: ['application'],
    queryFn: async () => ((await isAnswering()) ? 'answers' : 'unreachable') as 'answers' | 'unreachable',
    refetchInterval: POLL_MS,
    refetchOnWindowFocus: 'always',
    networkMode: 'always',
    staleTime: 0,
  })
