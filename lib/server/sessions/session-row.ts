import type { SessionCallRow, SessionRow, SessionSettings } from '#lib/api/sessions/session.ts'
import type { Session } from './session.ts'

/** What a row has besides the summary of the calls. */
interface RowSource {
  readonly id: string
  readonly createdAt: string
  readonly settings: SessionSettings
  readonly reward: number | null
  readonly running: number
}

/** What a row says about the calls of its session. It stays the same until the next call. */
export interface CallSummary {
  readonly counts: Omit<SessionRow, keyof RowSource | 'mode' | 'server' | 'state' | 'leaves' | 'group' | 'tags'>
  /** Keys of the trajectories of the leaves. Some may have been deleted from the library. */
  readonly leaves: readonly string[]
  /** Milliseconds since 1970 at the end of the last call. Undefined: there is no call. */
  readonly lastEndMs: number | undefined
}

/** A session without a call for this long is idle, in milliseconds. */
const LIVE_MS = 120_000

/** Summarises the calls of a session. */
export function summaryOfCalls(calls: readonly Omit<SessionCallRow, 'sequence'>[]): CallSummary {
  const nodes = calls.flatMap((call) => call.nodes)
  const replies = nodes.filter(({ status }) => status !== 'failed')
  const nodesByNumber = new Map(nodes.map((node) => [node.node, node]))
  // A prompt that keeps only a part of the path before it leaves that path as a leaf, as in the samples.
  const continued = new Set(
    replies.flatMap(({ parent, start }) => {
      const before = parent === null ? undefined : nodesByNumber.get(parent)
      return before && start >= before.start + before.prompt + before.reply ? [before.node] : []
    }),
  )
  const sum = <T>(list: readonly T[], numberOf: (entry: T) => number) =>
    list.reduce((total, one) => total + numberOf(one), 0)
  const last = calls.at(-1)
  const answered = calls.filter(({ completionTokens }) => completionTokens > 0)
  const promptTokens = sum(answered, (call) => call.promptTokens)
  const elapsedMs = sum(answered, (call) => call.elapsedMs)
  const counts = {
    client: last?.client ?? null,
    protocols: [...new Set(calls.flatMap(({ protocol }) => (protocol === null ? [] : [protocol])))],
    model: last?.model ?? null,
    lastCallAt: last?.startedAt ?? null,
    calls: calls.length,
    failedCalls: calls.filter(({ status }) => status >= 400).length,
    tokens: sum(nodes, ({ prompt, reply }) => prompt + reply),
    drifts: calls.filter(({ drift }) => drift !== null).length,
    malformedCalls: sum(nodes, (node) => node.malformedCalls),
    truncated: nodes.filter(({ finish }) => finish === 'length').length,
    cachedShare: promptTokens > 0 ? sum(answered, (call) => call.cachedTokens) / promptTokens : null,
    tokensPerSecond: elapsedMs > 0 ? (sum(answered, (call) => call.completionTokens) * 1000) / elapsedMs : null,
  }
  const leaves = replies.flatMap(({ node, trajectory }) => (continued.has(node) ? [] : (trajectory ?? [])))
  return { counts, leaves, lastEndMs: last && Date.parse(last.startedAt) + last.elapsedMs }
}

/** Returns the row of a session in the list. `stored` has at least those keys of its leaves that are in the library. */
export function sessionRow(
  { id, createdAt, settings, reward, running }: RowSource,
  { counts, leaves, lastEndMs = Date.parse(createdAt) }: CallSummary,
  stored: ReadonlySet<string>,
  nowMs: number,
): SessionRow {
  return {
    id,
    createdAt,
    mode: settings.mode ?? 'tito',
    server: settings.server ?? null,
    state: running > 0 || Math.abs(nowMs - lastEndMs) < LIVE_MS ? 'live' : 'idle',
    running,
    ...counts,
    leaves: leaves.filter((key) => stored.has(key)).length,
    reward,
    group: settings.group ?? null,
    tags: settings.tags ?? [],
  }
}

/**
 * Returns the calls of a session that a client does not know, and the revision that it knows then. The revision names the session by its
 * creation too: a session that was deleted and created again has other calls.
 */
export function callsAfter({ createdAt, rows }: Pick<Session, 'createdAt' | 'rows'>, known: string | null) {
  const last = rows.at(-1)?.sequence
  const revisionOf = (sequence: number) => `${Date.parse(createdAt)}-${sequence}`
  const after = rows.findLast(({ sequence }) => revisionOf(sequence) === known)?.sequence
  return {
    calls: after === undefined ? [...rows] : rows.filter(({ sequence }) => sequence > after),
    ...(after !== undefined && { after }),
    ...(last !== undefined && { revision: revisionOf(last) }),
  }
}
