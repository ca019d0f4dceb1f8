/** Recorded sessions: their list, the calls of one, and changes to them. */
import { queryOptions } from '@tanstack/react-query'
import { allSavingsSchema, sessionSavingsSchema } from '#lib/api/sessions/savings.ts'
import {
  callRequestSchema,
  type SessionAnswer,
  sessionCreatedSchema,
  sessionListSchema,
  sessionSchema,
} from '#lib/api/sessions/session.ts'
import { callApi, fetchJson } from '../api.ts'

const POLL_MS = 1_500

/** Beginning of the key of everything that is known about sessions. */
export const SESSIONS = ['sessions'] as const

/** Query for the list of sessions, repeated while the page is visible. */
export const sessionsOptions = () =>
  queryOptions({
    queryKey: [...SESSIONS, 'list'],
    queryFn: ({ signal }) => fetchJson('/api/sessions', sessionListSchema, { signal }),
    refetchInterval: POLL_MS,
  })

/** Query for a session with its calls, repeated while the page is visible. A repetition requests only the calls that are new. */
export const sessionOptions = (id: string | undefined) =>
  queryOptions({
    queryKey: [...SESSIONS, id],
    queryFn: async ({ client, queryKey, signal }): Promise<SessionAnswer> => {
      const before = client.getQueryData<SessionAnswer>(queryKey)
      const known = before?.revision === undefined ? '' : `?${new URLSearchParams({ known: before.revision })}`
      const answer = await fetchJson(`/api${pathOf(id ?? '')}${known}`, sessionSchema, { signal })
      return before && answer.after !== undefined ? { ...answer, calls: [...before.calls, ...answer.calls] } : answer
    },
    enabled: id !== undefined,
    refetchInterval: POLL_MS,
  })

/** Path of the events of a reply that is being generated. */
export const liveReplyPath = (id: string, reply: string): string =>
  `/api${pathOf(id)}/replies/${encodeURIComponent(reply)}/events`

/** Query for what the client sent with a call, which never changes. */
export const callRequestOptions = (id: string, call: number) =>
  queryOptions({
    queryKey: ['session-request', id, call],
    queryFn: ({ signal }) => fetchJson(`/api${pathOf(id)}/calls/${call}`, callRequestSchema, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/**
 * Query for what the chosen leaves of a session saved, compared with a chat pipeline. Every prompt is rendered again for it, so it is
 * repeated only when `tokens` changes, the number of tokens of the session.
 */
export const savingsOptions = (id: string, tokens: number, leaves: string) =>
  queryOptions({
    queryKey: ['session-savings', id, leaves, tokens],
    queryFn: ({ signal }) =>
      fetchJson(`/api${pathOf(id)}/savings?${new URLSearchParams({ leaves })}`, sessionSavingsSchema, { signal }),
    // While new calls are compared, the numbers of the same leaves stay.
    placeholderData: (before, query) =>
      query?.queryKey[1] === id && query.queryKey[2] === leaves ? before : undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })

const POLL_WAITING_MS = 2_000
const POLL_COMPARED_MS = 10_000

/** Query for what all sessions saved, repeated sooner while some of them wait to be compared. */
export const allSavingsOptions = () =>
  queryOptions({
    queryKey: ['all-savings'],
    queryFn: ({ signal }) => fetchJson('/api/savings', allSavingsSchema, { signal }),
    refetchInterval: ({ state }) => ((state.data?.waiting ?? 0) > 0 ? POLL_WAITING_MS : POLL_COMPARED_MS),
    retry: false,
  })

/** Pauses or resumes the recording of all sessions. Throws ApiError. */
export async function pauseRecording(isPaused: boolean): Promise<void> {
  await callApi('/api/sessions', { method: 'PUT', json: { isPaused } })
}

/** Creates a session with the default settings and returns its id. Throws ApiError. */
export const createSession = async (): Promise<string> =>
  (await fetchJson('/sessions', sessionCreatedSchema, { method: 'POST', json: {} })).session_id

/** Sets the reward of a session, or removes it with null. Throws ApiError. */
export async function setSessionReward(id: string, reward: number | null): Promise<void> {
  await callApi(`${pathOf(id)}/reward`, { method: 'PUT', json: { reward } })
}

const pathOf = (id: string): string => `/sessions/${encodeURIComponent(id)}`
