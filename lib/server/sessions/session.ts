/**
 * One session in memory: its forest, its calls, and the trajectories of its leaves. A call that continues the last reply of a trajectory
 * extends it; any other call begins a new trajectory with the same first tokens (docs/decisions/0097-sessions-are-trajectories.md).
 */
import { randomUUID } from 'node:crypto'
import type { SessionCallRow, SessionNodeRow, SessionSettings } from '#lib/api/sessions/session.ts'
import { ALL_RULES } from '#lib/session/forest/equality.ts'
import {
  type Attachment,
  type NodeOutcome,
  openForest,
  type SessionForest,
  type SessionNode,
} from '#lib/session/forest/forest.ts'
import type { StoredSession } from '#lib/store/sessions/session-table.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { ForkedFrom, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import type { Services } from '../services.ts'
import { createSessionServing, type SessionServing } from './serving.ts'

/** What a row of a call has besides its facts. */
export interface CallContent {
  readonly nodes: readonly SessionNode[]
  /** The body of the client. The first `shared` entries of its field `list` are those of the call with the sequence `base`. */
  readonly request: SentBody
  /** The answer as JSON; of a stream, the whole answer. Null: there is none. */
  readonly response: unknown
}

interface SentBody {
  readonly body: Readonly<Record<string, unknown>>
  readonly list?: string
  readonly base?: number
  readonly shared?: number
}

/** The path of a node: the trajectory up to its reply. */
interface NodePath {
  readonly trajectory: Trajectory
  /** Key of the trajectory that contains it. */
  readonly key: string
}

/** One reply of a call, to be added to the forest. */
export interface NodeRecord {
  readonly outcome: NodeOutcome
  /** The path of the reply; its id is replaced. Omitted: no token arrived. */
  readonly path?: Omit<Trajectory, 'id' | 'createdAt'>
  readonly text: string
}

/** A call with its answer. */
export interface CallRecord {
  readonly facts: Omit<SessionCallRow, 'sequence' | 'nodes' | 'attached' | 'accepted' | 'added'>
  /** Omitted: the call was refused, or has no messages. */
  readonly attachment?: Attachment
  readonly nodes: readonly NodeRecord[]
  readonly body: Readonly<Record<string, unknown>>
  readonly response: unknown
}

/** A session in memory. */
export interface Session {
  readonly id: string
  readonly createdAt: string
  readonly settings: SessionSettings
  readonly serving: SessionServing
  readonly forest: SessionForest
  readonly rows: readonly SessionCallRow[]
  reward: number | null
  /** Calls that are being answered. */
  running: number
  /** Milliseconds of the clock at the last call. */
  lastUsedMs: number
  /** Runs an action after all earlier ones of this session. */
  exclusive<T>(action: () => Promise<T>): Promise<T>
  /** Reads what another process stored. Returns false if the session was removed. */
  refresh(): boolean
  /** Returns the path of a node; undefined if its trajectory was deleted from the library. */
  path(node: number): NodePath | undefined
  /** Adds a call to the forest, and stores it. Must run within `exclusive`. Never throws: a failure is logged. */
  commit(record: CallRecord): Promise<void>
  /** Keys of the trajectories of its leaves, in the order in which they began. */
  keys(): readonly string[]
}

/** Opens a stored session. */
export function openSession(stored: StoredSession, all: Services): Session {
  const settings = JSON.parse(stored.settings) as SessionSettings
  const forest = openForest(ALL_RULES)
  const rows: SessionCallRow[] = []
  /** The trajectories of this session that are in memory, by their keys. */
  const leaves = new Map<string, Trajectory>()
  /** The place of each node: its trajectory, and the number of segments up to its reply. */
  const places = new Map<number, Pick<SessionNodeRow, 'segments'> & { readonly key: string }>()
  /** The entries of the last body of each list, as JSON, so that a body is stored without the entries that it repeats. */
  const lastLists = new Map<string, { readonly sequence: number; readonly entries: readonly string[] }>()
  /** Changes that could not be stored. They precede the next one, because later calls name earlier ones. */
  const unstored: (() => void)[] = []
  let last = 0
  let queue: Promise<unknown> = Promise.resolve()

  const learn = (row: SessionCallRow): void => {
    rows.push(row)
    for (const { node, trajectory, segments } of row.nodes)
      if (trajectory !== null) places.set(node, { key: trajectory, segments })
  }
  const leafOf = (key: string): Trajectory | undefined => {
    const trajectory = leaves.get(key) ?? all.store.get(key)
    if (trajectory) leaves.set(key, trajectory)
    return trajectory
  }
  const refresh = (): boolean => {
    const now = all.store.lastSessionCall(stored.id)
    if (now === undefined) return false
    if (now <= last) return true
    for (const { sequence, facts, content } of all.store.sessionCalls(stored.id, last)) {
      const { nodes } = JSON.parse(content) as CallContent
      const row = { ...(JSON.parse(facts) as SessionCallRow), sequence }
      // Another process has grown these trajectories.
      for (const { trajectory } of row.nodes) if (trajectory !== null) leaves.delete(trajectory)
      const [first] = nodes
      if (first) forest.append(first, nodes)
      learn(row)
    }
    last = now
    return true
  }
  /** Returns the body without the entries that an earlier body has too. */
  const withoutRepeated = (body: CallRecord['body'], sequence: number): SentBody => {
    const list = historyField(body)
    if (list === undefined) return { body }
    const values: readonly unknown[] = Array.isArray(body[list]) ? body[list] : []
    const entries = values.map((value) => JSON.stringify(value))
    const before = lastLists.get(list)
    lastLists.set(list, { sequence, entries })
    if (!before) return { body }
    const differs = entries.findIndex((entry, index) => entry !== before.entries[index])
    const shared = differs < 0 ? entries.length : differs
    return { body: { ...body, [list]: values.slice(shared) }, list, base: before.sequence, shared }
  }

  const session: Session = {
    id: stored.id,
    createdAt: stored.createdAt,
    settings,
    serving: createSessionServing(settings, all),
    forest,
    rows,
    reward: stored.reward,
    running: 0,
    lastUsedMs: performance.now(),
    exclusive(action) {
      const result = queue.then(action)
      queue = result.catch(() => {})
      return result
    },
    refresh,
    path(node) {
      const place = places.get(node)
      const leaf = place && leafOf(place.key)
      if (!place || !leaf || leaf.segments.length < place.segments) return undefined
      return { key: place.key, trajectory: beginningOf(leaf, place.segments) }
    },
    keys: () => [...new Set([...places.values()].map(({ key }) => key))],
    async commit({ facts, attachment, nodes, body, response }) {
      const parent = attachment?.parent === undefined ? undefined : places.get(attachment.parent)
      const base = attachment && baseOf(attachment)
      const basePlace = base === undefined ? undefined : places.get(base)
      let tip = parent && leafOf(parent.key)?.segments.length === parent.segments ? parent : undefined
      const added = nodes.map(({ path }) => {
        if (!path) return undefined
        if (tip) {
          const { key, segments } = tip
          const before = leafOf(key)
          tip = undefined
          // The last reply has got the results of its calls.
          if (before)
            return { key, trajectory: { ...path, id: before.id, createdAt: before.createdAt }, from: segments - 1 }
        }
        const trajectory = newTrajectory(path, settings, session.reward, all)
        const fork = basePlace && leafOf(basePlace.key)
        const whole: Trajectory =
          fork && attachment
            ? { ...trajectory, forkedFrom: forkOf(trajectory, fork, attachment.attached.kind) }
            : trajectory
        return { key: whole.id, trajectory: whole, from: undefined }
      })
      const appended = attachment
        ? forest.append(
            attachment,
            nodes.map(({ outcome }) => outcome),
          )
        : []
      const row: Omit<SessionCallRow, 'sequence'> = {
        ...facts,
        attached: attachment?.attached ?? null,
        added: attachment?.messages.length ?? 0,
        accepted: [...(attachment?.accepted ?? [])],
        nodes: appended.map((node, index) => nodeRow(node, nodes[index]?.text ?? '', added[index])),
      }
      const sequence = last + 1
      learn({ ...row, sequence })
      for (const one of added) if (one) leaves.set(one.key, one.trajectory)
      const content: CallContent = { nodes: appended, request: withoutRepeated(body, sequence), response }
      unstored.push(() => {
        for (const one of added) {
          if (!one) continue
          if (one.from === undefined) all.store.add(one.trajectory)
          else all.store.update(one.key, one.trajectory, one.from)
        }
        all.store.addSessionCall(stored.id, { facts: JSON.stringify(row), content: JSON.stringify(content) })
      })
      last = sequence
      const changes = [...unstored]
      try {
        await all.store.groupCommit(() => {
          for (const change of changes) change()
        })
        unstored.splice(0, changes.length)
      } catch (error) {
        console.error(`a call of the session ${stored.id} could not be stored:`, error)
      }
    },
  }
  refresh()
  return session
}

/** Returns the name of the field of a body that has the history as a list; undefined if there is none. */
export const historyField = (body: SentBody['body']): string | undefined =>
  ['messages', 'input'].find((name) => Array.isArray(body[name]))

/** Returns a trajectory up to a reply, whose calls have no results yet. */
function beginningOf(trajectory: Trajectory, segments: number): Trajectory {
  const before = trajectory.segments.slice(0, segments)
  const last = before.at(-1)
  if (last?.kind !== 'response') return { ...trajectory, segments: before }
  const toolCalls = last.toolCalls.map(({ result: _, ...call }) => call) as ResponseSegment['toolCalls']
  return { ...trajectory, segments: [...before.slice(0, -1), { ...last, toolCalls }] }
}

/** Returns the node whose trajectory has the most tokens in common with a call; undefined if there is none. */
function baseOf({ attached, parent }: Attachment): number | undefined {
  switch (attached.kind) {
    case 'retried':
      return attached.of
    case 'rolled-back':
    case 'rewritten':
      return attached.abandoned
    default:
      return parent
  }
}

function newTrajectory(
  path: Omit<Trajectory, 'id' | 'createdAt'>,
  { group, tags }: SessionSettings,
  reward: number | null,
  { store }: Services,
): Trajectory {
  const { forkedFrom: _, group: __, reward: ___, note: ____, notes: _____, title: ______, ...record } = path
  return {
    ...record,
    id: randomUUID(),
    createdAt: new Date().toISOString(),
    ...(tags && tags.length > 0 && { tags }),
    ...(group !== undefined && { group: { id: group, index: store.groupRows(group).length } }),
    ...(reward !== null && { reward }),
  } as Trajectory
}

const FORK_KINDS = {
  'new-root': 'settings',
  continued: 'sampled_again',
  retried: 'sampled_again',
  'rolled-back': 'message',
  rewritten: 'message',
} as const satisfies Readonly<Record<Attachment['attached']['kind'], ForkedFrom['kind']>>

function forkOf(trajectory: Trajectory, other: Trajectory, kind: Attachment['attached']['kind']): ForkedFrom {
  const own = ids(trajectory)
  const token = commonIds(own, ids(other))
  return {
    trajectory: other.id,
    token,
    kind: FORK_KINDS[kind],
    prefixHash: inputHash(own.slice(0, token)),
  }
}

function nodeRow(
  { sequence, parent, choice, status, tokens, finish }: SessionNode,
  text: string,
  stored: { readonly key: string; readonly trajectory: Trajectory } | undefined,
): SessionNodeRow {
  const last = stored?.trajectory.segments.at(-1)
  return {
    node: sequence,
    parent: parent ?? null,
    choice,
    status,
    trajectory: stored?.key ?? null,
    segments: stored?.trajectory.segments.length ?? 0,
    start: tokens.start,
    prompt: tokens.prompt,
    reply: tokens.reply,
    text,
    finish: finish?.kind ?? null,
    malformedCalls: last?.kind === 'response' ? last.toolCalls.filter(({ kind }) => kind === 'malformed').length : 0,
  }
}
