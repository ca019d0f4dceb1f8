/** Writes a session in the form of miles' session server, so that programs that read its records read those of Rollscope. */
import type * as z from 'zod/mini'
import type { callRequestSchema, sessionRecordsSchema } from '#lib/api/sessions/session.ts'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { streamResponse } from '../http/ndjson.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { type CallContent, historyField, type Session } from './session.ts'

type SessionRecords = z.infer<typeof sessionRecordsSchema>
type SessionRecord = SessionRecords['records'][number]

/**
 * Returns the answered calls of a session with the ids and logprobs of each. Each record repeats the ids of the whole prompt, so the records of
 * a long session do not fit into one text: they are written one after another, as fast as the client reads them.
 */
export function sessionRecords(session: Session, { store }: Pick<Services, 'store'>): Response {
  const records = answeredCalls(session, store.sessionCalls(session.id, 0))
  const parts = recordParts(session.id, records, recordMetadata(session))
  return streamResponse(parts, { 'content-type': 'application/json', 'cache-control': 'no-store' })
}

/** Yields the JSON of SessionRecords in parts. */
async function* recordParts(
  id: string,
  records: Iterable<SessionRecord>,
  metadata: SessionRecords['metadata'],
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{"session_id":${JSON.stringify(id)},"records":[`)
  let separator = ''
  for (const record of records) {
    yield Buffer.from(`${separator}${JSON.stringify(record)}`)
    separator = ','
  }
  yield Buffer.from(`],"metadata":${JSON.stringify(metadata)}}`)
}

function* answeredCalls(
  session: Session,
  calls: ReturnType<Services['store']['sessionCalls']>,
): Generator<SessionRecord> {
  const lists = new Map<number, readonly unknown[]>()
  const rows = new Map(session.rows.map((row) => [row.sequence, row]))
  const living = session.living()
  for (const { sequence, content } of calls) {
    const { request, response } = JSON.parse(content) as CallContent
    const body = wholeBody(request, lists, sequence)
    const row = rows.get(sequence)
    if (row?.status !== 200) continue
    const begin = Date.parse(row.startedAt) / 1000
    const replies = row.nodes.map(({ node }): Reply | undefined => {
      const path = living.has(node) ? session.path(node)?.trajectory : undefined
      const reply = path?.segments.at(-1)
      return path && reply?.kind === 'response' ? { path, reply } : undefined
    })
    const first = replies.find((reply) => reply !== undefined)
    // The trajectories of all replies were deleted from the library.
    if (row.nodes.length > 0 && !first) continue
    yield {
      timestamp: begin + row.elapsedMs / 1000,
      request_timestamp: begin,
      method: row.method,
      path: row.path,
      status_code: row.status,
      request: {
        ...body,
        ...(first && { input_ids: ids(first.path).slice(0, -first.reply.ids.length || undefined) }),
      },
      response: withMetaInfo(response, replies),
    }
  }
}

function recordMetadata(session: Session): SessionRecords['metadata'] {
  const living = session.living()
  const latest = session.rows
    .flatMap(({ nodes }) => nodes)
    .findLast(({ node, status }) => status === 'complete' && living.has(node))
  const path = latest && session.path(latest.node)?.trajectory
  return {
    accumulated_token_ids: path ? ids(path) : [],
    tito_session_mismatch: session.rows.flatMap(({ sequence, accepted }) =>
      accepted.map((rule) => ({ call: sequence, ...rule })),
    ),
    // Sampled ids are never rendered again, so nothing is trimmed.
    max_trim_tokens: 0,
  }
}

/** Returns what the client sent with the call of a sequence number, as text. Throws HttpProblem 404. */
export function requestOfCall(
  session: Session,
  sequence: string,
  { store }: Pick<Services, 'store'>,
): z.infer<typeof callRequestSchema> {
  const lists = new Map<number, readonly unknown[]>()
  for (const call of store.sessionCalls(session.id, 0)) {
    const request = wholeBody((JSON.parse(call.content) as CallContent).request, lists, call.sequence)
    if (`${call.sequence}` === sequence) return { request }
  }
  throw new HttpProblem({
    status: 404,
    code: 'NO_CALL',
    detail: `the session ${session.id} has no call ${JSON.stringify(sequence.slice(0, 40))}`,
    hint: 'GET /api/sessions/{id} lists its calls with their sequence numbers.',
  })
}

/** Returns a body with the entries that it has in common with an earlier one. */
function wholeBody(
  { body, list, base, shared = 0 }: CallContent['request'],
  lists: Map<number, readonly unknown[]>,
  sequence: number,
): JsonObject {
  const name = list ?? historyField(body)
  if (name === undefined) return body
  const before = base === undefined ? [] : (lists.get(base) ?? [])
  const added: readonly unknown[] = Array.isArray(body[name]) ? body[name] : []
  const entries = [...before.slice(0, shared), ...added]
  lists.set(sequence, entries)
  return { ...body, [name]: entries }
}

interface Reply {
  readonly path: Trajectory
  readonly reply: ResponseSegment
}

/** Returns an answer with what SGLang's return_meta_info adds to each choice; an answer without choices gets that of its only reply. */
function withMetaInfo(response: unknown, replies: readonly (Reply | undefined)[]): JsonObject {
  const answer: JsonObject = isObject(response) ? response : {}
  const infos = replies.map((reply) => reply && metaInfo(reply))
  if (!Array.isArray(answer.choices)) return { ...answer, ...(infos[0] && { meta_info: infos[0] }) }
  return {
    ...answer,
    choices: answer.choices.map((choice: unknown, index) => ({
      ...(isObject(choice) && choice),
      ...(infos[index] && { meta_info: infos[index] }),
    })),
  }
}

function metaInfo({ path, reply }: Reply): JsonObject {
  const { finish, usage, weightVersions } = reply
  const version = weightVersions?.at(-1)?.version
  return {
    output_token_logprobs: reply.ids.map((id, index) => {
      const text = path.vocab[id]
      return [reply.logprobs?.[index] ?? null, id, typeof text === 'string' ? text : null]
    }),
    prompt_tokens: tokenCount(path) - reply.ids.length,
    completion_tokens: reply.ids.length,
    cached_tokens: usage?.cachedTokens ?? 0,
    ...(finish && {
      finish_reason: { type: finish.kind, ...(finish.kind === 'stop' && { matched: finish.matched ?? null }) },
    }),
    ...(version !== undefined && { weight_version: version }),
  }
}
