/**
 * Loads the trajectories from which a tree is drawn: those of the visible branches. The page renders again only when tokens have arrived,
 * so that branches that come into view while it scrolls cost no render. Trajectories that arrive close together are one update.
 */
import { type QueryClient, QueryObserver } from '@tanstack/react-query'
import { whenIdle } from '#components/shell/when-idle.ts'
import { followedTrajectoryOptions } from '#lib/browser/queries.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { SampleTree } from '../tree.ts'

/** The trajectories that are loaded now, by the keys of their records, in the order in which they were requested. */
interface LoadedTrajectories {
  readonly trajectories: ReadonlyMap<string, TrajectoryView>
  /** Why a trajectory cannot be loaded; undefined if all can. */
  readonly error: Error | undefined
}

/** Loads trajectories and keeps those of branches that were visible last. */
export interface TrajectoryLoader {
  /** Changes the tree, and the sample that stays loaded wherever the view is; undefined: none. */
  readonly setTree: (tree: SampleTree, pinned: number | undefined) => void
  /** Loads the trajectories of branches, by their indices, from top to bottom. */
  readonly setVisible: (branches: ReadonlySet<number>) => void
  readonly loaded: () => LoadedTrajectories
  readonly subscribe: (listener: () => void) => () => void
}

/** Most tokens of the trajectories that stay loaded after they leave the view: 64 samples of 20,000 tokens, each read once. */
const MOST_TOKENS = 1_300_000

/** Longest time for which an arrived trajectory waits for a pause between frames, and for others, in milliseconds. */
const LONGEST_WAIT_MS = 100

/** Returns a loader that has loaded nothing. It loads while something subscribes to it. */
export function createTrajectoryLoader(client: QueryClient, firstTree: SampleTree): TrajectoryLoader {
  const listeners = new Set<() => void>()
  const queries = new Map<string, { readonly observer: ReturnType<typeof observerOf>; readonly end: () => void }>()
  let tree = firstTree
  let tokens = tokensByKey(firstTree)
  let pinned: number | undefined
  /** Keys in the order in which their branches were visible, the last ones first. */
  let recent: readonly string[] = []
  /** Keys in the order in which they were requested, so that the same trajectory stays the first one. */
  let requested: readonly string[] = []
  let loaded: LoadedTrajectories = { trajectories: new Map(), error: undefined }
  let cancel: (() => void) | undefined

  const collect = () => {
    cancel?.()
    cancel = undefined
    const results = requested.map((key) => ({ key, result: queries.get(key)?.observer.getCurrentResult() }))
    const trajectories = new Map(
      results.flatMap(({ key, result }) => (result?.data ? [[key, result.data] as const] : [])),
    )
    const error = results.find(({ result }) => result?.error)?.result?.error ?? undefined
    if (error === loaded.error && isSame(trajectories, loaded.trajectories)) return
    loaded = { trajectories, error }
    for (const listener of listeners) listener()
  }
  const collectSoon = () => {
    // The first tokens do not wait.
    if (loaded.trajectories.size === 0) collect()
    else cancel ??= whenIdle(LONGEST_WAIT_MS, collect)
  }
  const endExcept = (keys: ReadonlySet<string>) => {
    for (const [key, { end }] of queries) {
      if (keys.has(key)) continue
      end()
      queries.delete(key)
    }
  }
  const request = () => {
    const pinnedKey = pinned === undefined ? undefined : keyOf(tree, pinned)
    const wanted = new Set(pinnedKey === undefined ? recent : [pinnedKey, ...recent])
    requested = [...new Set([...requested.filter((key) => wanted.has(key)), ...wanted])]
    if (listeners.size === 0) return
    endExcept(wanted)
    for (const key of wanted) {
      if (queries.has(key)) continue
      const observer = observerOf(client, key)
      queries.set(key, { observer, end: observer.subscribe(collectSoon) })
    }
    // Trajectories that another page has loaded are here at once.
    collect()
  }
  return {
    setTree: (nextTree, nextPinned) => {
      tree = nextTree
      tokens = tokensByKey(tree)
      pinned = nextPinned
      // The answer lacks samples that were deleted.
      recent = recent.filter((key) => tokens.has(key))
      request()
    },
    setVisible: (branches) => {
      const visible = keysOfBranches(tree, branches)
      const before = recent
      recent = withinTokens([...new Set([...visible, ...before])], visible.length, tokens)
      if (recent.length !== before.length || visible.some((key) => !before.includes(key))) request()
    },
    loaded: () => loaded,
    subscribe: (listener) => {
      listeners.add(listener)
      request()
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        cancel?.()
        cancel = undefined
        endExcept(new Set())
      }
    },
  }
}

const keyOf = ({ forest }: SampleTree, sample: number): string => elementAt(forest.samples, sample).row.key

const tokensByKey = ({ forest }: SampleTree): ReadonlyMap<string, number> =>
  new Map(forest.samples.map(({ row }) => [row.key, row.tokens]))

/** Returns an observer of the stored trajectory with a key, which is read again while its sample is running. */
const observerOf = (client: QueryClient, key: string) =>
  new QueryObserver(client, {
    ...followedTrajectoryOptions(key),
    notifyOnChangeProps: ['data', 'error'],
  })

/** Returns whether two maps have the same trajectories in the same order. */
function isSame(a: ReadonlyMap<string, TrajectoryView>, b: ReadonlyMap<string, TrajectoryView>): boolean {
  const others = [...b]
  return a.size === b.size && [...a].every(([key, one], at) => others[at]?.[0] === key && others[at][1] === one)
}

/** Returns the keys of the samples from which branches are drawn. A branch without tokens needs none. */
function keysOfBranches(tree: SampleTree, branches: ReadonlySet<number>): readonly string[] {
  const keys = [...branches].flatMap((index) => {
    const branch = tree.branches[index]
    return branch && branch.end > branch.start ? [keyOf(tree, branch.sample)] : []
  })
  return [...new Set(keys)]
}

/** Returns the first keys: those that are needed now, and others up to MOST_TOKENS tokens. */
function withinTokens(keys: readonly string[], least: number, tokens: ReadonlyMap<string, number>): readonly string[] {
  let sum = 0
  return keys.filter((key, at) => {
    sum += tokens.get(key) ?? 0
    return at < least || sum <= MOST_TOKENS
  })
}
