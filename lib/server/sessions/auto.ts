import { AUTO_SESSION, sessionIdSchema } from '#lib/api/sessions/session.ts'
import type { SessionCall } from '#lib/session/call.ts'
import { beginningKey, findSession } from '#lib/session/forest/find-session.ts'
import { CallRefusal } from '#lib/session/protocols/refusal.ts'
import type { Services } from '../services.ts'
import type { Session } from './session.ts'

/** Headers by which harnesses name their sessions. */
const SESSION_HEADERS = ['x-session-id', 'proxy_x_session_id', 'x-parent-session-id'] as const

/** Milliseconds after the last call of a session in which its first prompt is a retry. Later this prompt opens another session. */
const RETRIED_WITHIN_MS = 10 * 60_000

/**
 * Returns the session of a call. Under /sessions/auto it is the one that the client names, or the one whose history the call continues,
 * or a new one, which began with the call. Throws HttpProblem 404, and the errors of a server that cannot be described.
 */
export async function chooseSession(
  id: string,
  call: SessionCall,
  headers: Headers,
  all: Services,
  signal: AbortSignal,
  startedAt: Date,
): Promise<Session> {
  const { sessions, store } = all
  if (id !== AUTO_SESSION) return sessions.find(id)
  const named = sessionNamedIn(headers) ?? call.metadata.sessionId
  if (named !== undefined) {
    if (!store.session(checkedId(named))) await store.whenUnlocked()
    return sessions.create({ isAuto: true }, named, startedAt)
  }
  const serving = await sessions.defaultServing.find({ tools: call.tools, options: call.templateArguments }, signal)
  const sent = { messages: call.messages, context: serving.context }
  const find = () => {
    const candidates = sessions
      .automatic(beginningKey(sent))
      .map((session) => ({ id: session.id, forest: session.forest, takesRetries: takesRetries(session, startedAt) }))
    return findSession(sent, candidates)
  }
  let found = find()
  if (found === undefined) {
    await store.whenUnlocked()
    // An equal call may have opened its session meanwhile.
    found = find()
  }
  return found === undefined ? sessions.create({ isAuto: true }, undefined, startedAt) : sessions.find(found)
}

/** Returns the id of the session that the headers of a call name; undefined if they name none. */
export const sessionNamedIn = (headers: Headers): string | undefined =>
  SESSION_HEADERS.map((name) => headers.get(name)).find(Boolean) ?? undefined

/** Returns whether a first prompt that the session has is a retry if it is sent now. */
function takesRetries({ running, rows, createdAt }: Session, now: Date): boolean {
  const last = rows.at(-1)
  const endedMs = last ? Date.parse(last.startedAt) + last.elapsedMs : Date.parse(createdAt)
  // The clock may have been set back since.
  return running > 0 || Math.abs(now.getTime() - endedMs) <= RETRIED_WITHIN_MS
}

/** Returns an id that the client chose, if it can be part of an address. */
function checkedId(id: string): string {
  if (sessionIdSchema.safeParse(id).success) return id
  throw new CallRefusal('', 'The id of the session must have 1 to 100 letters, digits, _, . and -.')
}
