/** Determines whether Rollscope's own server answers the page. */
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiError, callApi } from './api.ts'

/** What a page knows of its server. `slow`: the answer is late, and the page still waits for it. */
export type ApplicationState = 'answers' | 'slow' | 'unreachable'

/**
 * Interval, and the time after which an answer is late, in milliseconds. Together they are less than 3 s: the longest time until a page reports
 * that something is wrong.
 */
const POLL_MS = 1_000
const LATE_MS = 1_800
/** Time limit of an answer in milliseconds: a busy server is slow, and one that is silent for longer counts as unreachable. */
const ANSWER_MS = 15_000

/** Returns whether the application answers. An error from the application is an answer; an error from a proxy before it is not. */
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

/** Returns the answer of isAnswering, and calls `onLate` if it takes more than 1.8 s. */
export async function watchAnswer(answer: Promise<boolean>, onLate: () => void): Promise<boolean> {
  const late = setTimeout(onLate, LATE_MS)
  const answers = await answer
  clearTimeout(late)
  return answers
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

const QUERY_KEY = ['application']

/**
 * Query for whether the application answers. It runs every second while the page is visible, even if the browser considers itself offline.
 */
export const applicationOptions = () =>
  queryOptions<ApplicationState>({
    queryKey: QUERY_KEY,
    queryFn: async ({ client }) =>
      (await watchAnswer(isAnswering(), () => reportSlow(client))) ? 'answers' : 'unreachable',
    refetchInterval: POLL_MS,
    refetchOnWindowFocus: 'always',
    networkMode: 'always',
    staleTime: 0,
  })

/** Shows the application as slow, unless it is unreachable: it is so until it answers. */
export const reportSlow = (cache: QueryClient): ApplicationState | undefined =>
  cache.setQueryData<ApplicationState>(QUERY_KEY, (known) => (known === 'unreachable' ? known : 'slow'))
