import type { SessionCallRow, SessionRow, SessionSettings } from '#lib/api/sessions/session.ts'

/** What the row of a session is made of. */
interface RowSource {
  readonly id: string
  readonly createdAt: string
  readonly settings: SessionSettings
  readonly reward: number | null
  readonly calls: readonly Omit<SessionCallRow, 'sequence'>[]
  readonly running: number
}

/** A session without a call for this long is idle, in milliseconds. */
const LIVE_MS = 120_000

/** Returns the row of a session in the list. */
export function sessionRow({ id, createdAt, settings, reward, calls, running }: RowSource, nowMs: number): SessionRow {
  const nodes = calls.flatMap((call) => call.nodes)
  const parents = new Set(nodes.map(({ parent }) => parent))
  const sum = <T>(list: readonly T[], numberOf: (entry: T) => number) =>
    list.reduce((total, one) => total + numberOf(one), 0)
  const last = calls.at(-1)
  const answered = calls.filter(({ completionTokens }) => completionTokens > 0)
  const promptTokens = sum(answered, (call) => call.promptTokens)
  const elapsedMs = sum(answered, (call) => call.elapsedMs)
  const lastMs = last ? Date.parse(last.startedAt) + last.elapsedMs : Date.parse(createdAt)
  return {
    id,
    createdAt,
    mode: settings.mode ?? 'tito',
    server: settings.server ?? null,
    state: running > 0 || nowMs - lastMs < LIVE_MS ? 'live' : 'idle',
    running,
    client: last?.client ?? null,
    protocols: [...new Set(calls.flatMap(({ protocol }) => (protocol === null ? [] : [protocol])))],
    model: last?.model ?? null,
    lastCallAt: last?.startedAt ?? null,
    calls: calls.length,
    failedCalls: calls.filter(({ status }) => status >= 400).length,
    tokens: sum(nodes, ({ prompt, reply }) => prompt + reply),
    leaves: nodes.filter(({ node, status }) => status !== 'failed' && !parents.has(node)).length,
    drifts: calls.filter(({ drift }) => drift !== null).length,
    malformedCalls: sum(nodes, (node) => node.malformedCalls),
    truncated: nodes.filter(({ finish }) => finish === 'length').length,
    cachedShare: promptTokens > 0 ? sum(answered, (call) => call.cachedTokens) / promptTokens : null,
    tokensPerSecond: elapsedMs > 0 ? (sum(answered, (call) => call.completionTokens) * 1000) / elapsedMs : null,
    reward,
    group: settings.group ?? null,
    tags: settings.tags ?? [],
  }
}
