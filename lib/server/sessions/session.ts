/**
 * One session in memory: its forest, its calls, and the trajectories of its leaves. A call that continues the last reply of a trajectory
 * extends it; any other call begins a new trajectory with the same first tokens (docs/decisions/0097-sessions-are-trajectories.md).
 */
import { randomUUID } from 'node:crypto'
import type { TrajectorySummary } from '#lib/api/library.ts'
import type { SessionCallRow, SessionNodeRow, SessionSettings } from '#lib/api/sessions/session.ts'
import type { AttachmentKind } from '#lib/session/forest/attachment-kind.ts'
import { ALL_RULES } from '#lib/session/forest/equality.ts'
import { beginningKey } from '#lib/session/forest/find-session.ts'
import {
  type Attachment,
  type NodeOutcome,
  openForest,
  type SessionForest,
  type SessionNode,
} from '#lib/session/forest/forest.ts'
import { wholeParent } from '#lib/session/forest/samples.ts'
import type { StoredSession } from '#lib/store/sessions/session-table.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import { withLabels } from '#lib/trajectory/format/labels.ts'
import type { ForkedFrom, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { readableTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { createLiveCalls, type LiveCalls } from './live/live-calls.ts'
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
export interface SessionCallRecord {
  readonly facts: Omit<SessionCallRow, 'sequence' | 'nodes' | 'attached' | 'accepted' | 'added'>
  /** Omitted: the call was refused, or has no messages. */
  readonly attachment?: Attachment
  readonly nodes: readonly NodeRecord[]
  readonly body: Readonly<Record<string, unknown>>
  readonly response: unknown
  /** What `begin` returned for the call. Omitted: its beginning was not stored. */
  readonly begun?: number | undefined
}

/** A call that is being answered, as it is recorded if the process ends meanwhile. */
type BegunCall = Pick<SessionCallRecord, 'facts' | 'attachment'>

/** A session in memory. */
export interface Session {
  readonly id: string
  readonly createdAt: string
  readonly settings: SessionSettings
  readonly serving: SessionServing
  readonly forest: SessionForest
  readonly rows: readonly SessionCallRow[]
  /** The calls that are being answered and whose place in the forest is known. */
  readonly live: LiveCalls
  /** The reward of all leaves that have none of their own. */
  readonly reward: number | null
  /** Calls that are being answered. */
  running: number
  /** Milliseconds of the clock at the last call. */
  lastUsedMs: number
  /** Runs an action after all earlier ones of this session. */
  exclusive<T>(action: () => Promise<T>): Promise<T>
  /** Reads what another process stored, and records its calls as interrupted if it has ended. Returns false if the session was removed. */
  refresh(): boolean
  /** Stores that a call is being answered, so that it is listed if the process ends meanwhile. Never throws. */
  begin(call: BegunCall): number | undefined
  /** Returns the path of a node with its current labels; undefined if no trajectory in the library contains the node. */
  path(node: number): NodePath | undefined
  /** Returns the nodes that trajectories in the library contain. A deleted trajectory does not count. */
  living(): ReadonlySet<number>
  /** Adds a call to the forest, and stores it. Must run within `exclusive`. Never throws: a failure is logged. */
  commit(record: SessionCallRecord): Promise<void>
  /** Stores the calls that could not be stored. Must run within `exclusive`. Rejects with the error of the store if that fails again. */
  storeRest(): Promise<void>
  /** Keys of the trajectories of its leaves, in the order in which they began. Deleted ones are among them. */
  keys(): readonly string[]
}

/** A trajectory of a session in memory. */
interface Leaf {
  readonly trajectory: Trajectory
  /** The revision of the stored record that it equals. Undefined: it was not stored yet. */
  readonly revision: number | undefined
}

/** A change of the store: the trajectories that a call began or extended, and the row of the call. */
interface Change {
  readonly keys: readonly string[]
  readonly store: () => void
}

/** Opens a stored session. */
export function openSession(stored: StoredSession, all: Services): Session {
  const settings = JSON.parse(stored.settings) as SessionSettings
  const forest = openForest(ALL_RULES)
  const rows: SessionCallRow[] = []
  /** The trajectories of this session that are in memory, by their keys. */
  const leaves = new Map<string, Leaf>()
  /** The place of each node: its trajectory, and the number of segments up to its reply. */
  const places = new Map<number, Pick<SessionNodeRow, 'segments'> & { readonly key: string }>()
  /** The entries of the last body of each list, as JSON, so that a body is stored without the entries that it repeats. */
  const lastLists = new Map<string, { readonly sequence: number; readonly entries: readonly string[] }>()
  /** Changes that are not stored. One that fails precedes the next one, because later calls name earlier ones. */
  const unstored: Change[] = []
  /** Interrupted calls that are in the forest, by their numbers in the store. */
  const recorded = new Set<number>()
  let last = 0
  let reward = stored.reward
  let queue: Promise<unknown> = Promise.resolve()

  const learn = (row: SessionCallRow): void => {
    rows.push(row)
    for (const { node, trajectory, segments } of row.nodes)
      if (trajectory !== null) places.set(node, { key: trajectory, segments })
  }
  /** Returns a trajectory as it is in the library; undefined if it was deleted or is damaged. */
  const leafOf = (key: string): Trajectory | undefined => {
    const known = leaves.get(key)
    if (known && known.revision === undefined) return known.trajectory
    const state = all.store.leafState(key)
    const trajectory =
      state && (known?.revision === state.revision ? known.trajectory : readableTrajectory(key, all.store))
    if (!state || !trajectory) {
      leaves.delete(key)
      return undefined
    }
    leaves.set(key, { trajectory, revision: state.revision })
    return withLabels(trajectory, state.labels)
  }
  const isLive = (key: string): boolean => {
    const known = leaves.get(key)
    return (known && known.revision === undefined) || all.store.leafState(key) !== undefined
  }
  /** Returns the key of a trajectory in the library for each node that one contains. Branches begin with the nodes before their fork. */
  const livingKeys = (): ReadonlyMap<number, string> => {
    const live = new Set(session.keys().filter(isLive))
    const keys = new Map<number, string>()
    for (const node of forest.nodes.toReversed()) {
      const own = places.get(node.sequence)?.key
      const key = own !== undefined && live.has(own) ? own : keys.get(node.sequence)
      if (key === undefined) continue
      keys.set(node.sequence, key)
      const before = wholeParent(node, forest.nodes)?.sequence
      if (before !== undefined && !keys.has(before)) keys.set(before, key)
    }
    return keys
  }
  /** Returns the number that the rollout of the session has in its group, that of `base` if it has one; undefined if it has none yet. */
  const rolloutOf = (base: string | undefined): number | undefined => {
    if (settings.group === undefined) return undefined
    for (const key of [base ?? [], session.keys()].flat()) {
      const group = leaves.get(key)?.trajectory.group ?? all.store.row(key)?.group
      if (group?.id === settings.group) return group.index
    }
    return undefined
  }
  const nextRollout = (): number => (settings.group === undefined ? 0 : nextIndex(all.store.groupRows(settings.group)))
  /** Reads the calls of other processes. Returns false if the session was removed. */
  const read = (): boolean => {
    const now = all.store.sessionState(stored.id)
    if (!now) return false
    reward = now.reward
    if (now.lastCall <= last) return true
    for (const { sequence, facts, content } of all.store.sessionCalls(stored.id, last)) {
      const { nodes } = JSON.parse(content) as CallContent
      const [first] = nodes
      if (first) forest.append(first, nodes)
      learn({ ...(JSON.parse(facts) as SessionCallRow), sequence })
    }
    last = now.lastCall
    return true
  }
  /** Returns the body without the entries that an earlier body has too. */
  const withoutRepeated = (body: SessionCallRecord['body'], sequence: number): SentBody => {
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
  /** Adds a call to the forest and to the changes that must be stored. */
  const add = ({ facts, attachment, nodes, body, response, begun }: SessionCallRecord): void => {
    const appended = attachment
      ? forest.append(
          attachment,
          nodes.map(({ outcome }) => outcome),
        )
      : []
    // A call that ended meanwhile may have the same prompt.
    const attached = appended[0]?.attached ?? attachment?.attached
    const parent = attachment?.parent === undefined ? undefined : places.get(attachment.parent)
    const base = attached && baseOf(attached, attachment?.parent)
    const basePlace = base === undefined ? undefined : places.get(base)
    const leaf = parent && leafOf(parent.key)
    let tip = leaf?.segments.length === parent?.segments ? leaf : undefined
    // Samples of a prompt are rollouts of their own; all other leaves of a session are paths of one rollout.
    const isSample = attached?.kind === 'retried' && attached.isConcurrent
    const rollout = isSample ? undefined : rolloutOf(basePlace?.key)
    let begunRollouts = 0
    const added = nodes.map(({ path }, choice) => {
      if (!path) return undefined
      if (parent && tip) {
        const { id, createdAt } = tip
        tip = undefined
        return { key: parent.key, trajectory: { ...path, id, createdAt }, before: parent.segments }
      }
      const index = choice === 0 && rollout !== undefined ? rollout : nextRollout() + begunRollouts++
      const trajectory = newTrajectory(path, settings, index)
      const fork = basePlace && leafOf(basePlace.key)
      const whole: Trajectory =
        fork && attached ? { ...trajectory, forkedFrom: forkOf(trajectory, fork, attached.kind) } : trajectory
      return { key: whole.id, trajectory: whole, before: undefined }
    })
    const row: Omit<SessionCallRow, 'sequence'> = {
      ...facts,
      attached: attached ?? null,
      added: attachment?.messages.length ?? 0,
      accepted: [...(attachment?.accepted ?? [])],
      nodes: appended.map((node, index) => nodeRow(node, nodes[index]?.text ?? '', added[index])),
    }
    last++
    learn({ ...row, sequence: last })
    const stored = added.flatMap((one) => one ?? [])
    for (const { key, trajectory } of stored) leaves.set(key, { trajectory, revision: undefined })
    const content: CallContent = { nodes: appended, request: withoutRepeated(body, last), response }
    unstored.push({
      keys: stored.map(({ key }) => key),
      store() {
        if (begun !== undefined) all.store.endSessionCall(begun)
        for (const { key, trajectory, before } of stored) {
          // The last reply before has got the results of its calls.
          if (before !== undefined) all.store.update(key, trajectory, before - 1, before)
          else {
            all.store.add(trajectory)
            rewardLeaf(session, key, all)
          }
        }
        all.store.addSessionCall(session.id, { facts: JSON.stringify(row), content: JSON.stringify(content) })
      },
    })
  }

  /** Stores all changes within a transaction, and returns what must be called when it is committed. */
  const storeChanges = (): (() => void) => {
    for (const { store } of unstored) store()
    const keys = unstored.flatMap((change) => change.keys)
    const revisions = keys.map((key) => [key, all.store.leafState(key)?.revision] as const)
    return () => {
      unstored.length = 0
      for (const [key, revision] of revisions) {
        const leaf = leaves.get(key)
        if (leaf && revision !== undefined) leaves.set(key, { ...leaf, revision })
        else leaves.delete(key)
      }
    }
  }
  /** Stores all changes, together with those that `prepare` adds. Rejects with the error of the store. */
  const commitChanges = async (prepare = () => {}): Promise<void> => {
    let settle = () => {}
    await all.store.groupCommit(() => {
      prepare()
      settle = storeChanges()
    })
    settle()
  }
  const interruptedCalls = () =>
    all.store.interruptedSessionCalls().filter((call) => call.session === stored.id && !recorded.has(call.begun))
  /** Records the calls of processes that ended meanwhile. */
  const recordInterrupted = (): void => {
    if (interruptedCalls().length === 0) return
    try {
      const settle = all.store.commitNow(() => {
        read()
        for (const { begun, call } of interruptedCalls()) {
          const { facts, attachment } = JSON.parse(call) as BegunCall
          recorded.add(begun)
          add({
            facts,
            ...(attachment && { attachment }),
            nodes: attachment ? [INTERRUPTED] : [],
            body: {},
            response: null,
            begun,
          })
        }
        return storeChanges()
      })
      settle()
    } catch (error) {
      console.error(`the interrupted calls of the session ${stored.id} could not be stored:`, error)
    }
  }
  const refresh = (): boolean => {
    const isThere = read()
    if (isThere) recordInterrupted()
    return isThere
  }

  const session: Session = {
    id: stored.id,
    createdAt: stored.createdAt,
    settings,
    serving: createSessionServing(settings, all),
    forest,
    rows,
    live: createLiveCalls(),
    get reward() {
      return reward
    },
    running: 0,
    lastUsedMs: performance.now(),
    exclusive(action) {
      const result = queue.then(action)
      queue = result.catch(() => {})
      return result
    },
    refresh,
    begin(call) {
      const { attachment } = call
      try {
        // Calls to /sessions/auto find a session by the beginnings of its trees.
        const isBeginning = settings.isAuto && attachment && attachment.parent === undefined
        const beginning = isBeginning ? beginningKey(attachment) : undefined
        return all.store.beginSessionCall(stored.id, JSON.stringify(call), beginning)
      } catch (error) {
        console.error(`the beginning of a call of the session ${stored.id} could not be stored:`, error)
        return undefined
      }
    },
    path(node) {
      const place = places.get(node)
      if (!place) return undefined
      const own = leafOf(place.key)
      const key = own ? place.key : livingKeys().get(node)
      const leaf = own ?? (key === undefined ? undefined : leafOf(key))
      if (key === undefined || !leaf || leaf.segments.length < place.segments) return undefined
      return { key, trajectory: beginningOf(leaf, place.segments) }
    },
    living: () => new Set(livingKeys().keys()),
    keys: () => [...new Set([...places.values()].map(({ key }) => key))],
    async commit(record) {
      let isAdded = false
      try {
        await commitChanges(() => {
          // The transaction keeps other instances from storing a call between this look and the change.
          if (isAdded) return
          read()
          add(record)
          isAdded = true
        })
      } catch (error) {
        if (!isAdded) add(record)
        console.error(`a call of the session ${stored.id} could not be stored:`, error)
      }
    },
    async storeRest() {
      if (unstored.length > 0) await commitChanges()
    },
  }
  refresh()
  return session
}

/** The reply of a call whose process ended. */
const INTERRUPTED: NodeRecord = {
  outcome: { status: 'failed', tokens: { start: 0, prompt: 0, reply: 0 } },
  text: '',
}

/** Gives a stored trajectory the reward of its session, unless it has one of its own. */
export function rewardLeaf({ id, reward }: Pick<Session, 'id' | 'reward'>, key: string, { store }: Services): void {
  const row = store.row(key)
  const why = `reward of the session ${id}`
  if (!row || (row.reward !== null && row.rewardWhy !== why)) return
  if (row.reward !== reward) store.score(key, reward === null ? undefined : { reward, why })
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
function baseOf(attached: AttachmentKind, parent: number | undefined): number | undefined {
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

/** Returns a new trajectory with a path. `index` is the number of its rollout in the group. */
function newTrajectory(
  path: Omit<Trajectory, 'id' | 'createdAt'>,
  { group, tags }: SessionSettings,
  index: number,
): Trajectory {
  const { forkedFrom: _, group: __, reward: ___, note: ____, notes: _____, title: ______, ...record } = path
  return {
    ...record,
    id: randomUUID(),
    createdAt: new Date().toISOString(),
    ...(tags && tags.length > 0 && { tags }),
    ...(group !== undefined && { group: { id: group, index } }),
  } as Trajectory
}

const nextIndex = (samples: readonly TrajectorySummary[]): number =>
  1 + samples.reduce((most, { group }) => Math.max(most, group?.index ?? -1), -1)

const FORK_KINDS = {
  'new-root': 'settings',
  continued: 'sampled_again',
  retried: 'sampled_again',
  'rolled-back': 'message',
  rewritten: 'message',
} as const satisfies Readonly<Record<AttachmentKind['kind'], ForkedFrom['kind']>>

function forkOf(trajectory: Trajectory, other: Trajectory, kind: AttachmentKind['kind']): ForkedFrom {
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
