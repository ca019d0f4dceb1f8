/**
 * The deletions of this browser that can be undone. They are kept in its storage, so that they survive a reload and are the same in all
 * windows, for as long as the server certainly has the deleted trajectories.
 */
import { KEPT_DELETED_MS } from '#lib/api/library.ts'
import { changePreference, currentPreference, type Preference, usePreference } from '../preference.ts'

/** Trajectories that were deleted by one action. */
export interface Removal {
  readonly keys: readonly string[]
  /** Time of the deletion, in milliseconds of the wall clock. */
  readonly at: number
}

const REMOVALS: Preference<readonly Removal[]> = {
  name: 'removals',
  usual: [],
  read: (stored) => (Array.isArray(stored) ? stored.filter(isRemoval) : undefined),
}

/** Returns the deletions that can be undone, the latest last. */
export function useUndoableRemovals(): readonly Removal[] {
  const [removals] = usePreference(REMOVALS)
  return recent(removals, Date.now())
}

/** Returns those of the keys that are in a deletion now. */
export function removedKeys(keys: readonly string[]): readonly string[] {
  const removed = new Set(currentPreference(REMOVALS).flatMap((removal) => removal.keys))
  return keys.filter((key) => removed.has(key))
}

/** Adds a deletion, and forgets those that are a day old. */
export const keepRemoval = (removal: Removal): void =>
  changePreference(REMOVALS, (removals) => [...recent(removals, removal.at), removal])

/** Forgets trajectories that were restored, or that cannot be restored. */
export const forgetRemoved = (keys: readonly string[]): void =>
  changePreference(REMOVALS, (removals) =>
    removals
      .map((removal) => ({ ...removal, keys: removal.keys.filter((key) => !keys.includes(key)) }))
      .filter((removal) => removal.keys.length > 0),
  )

/** Forgets all deletions. The server keeps the trajectories. */
export const forgetAllRemovals = (): void => changePreference(REMOVALS, () => [])

const recent = (removals: readonly Removal[], now: number): readonly Removal[] =>
  removals.filter(({ at }) => now - at < KEPT_DELETED_MS)

function isRemoval(value: unknown): value is Removal {
  const { keys, at } = (value ?? {}) as Partial<Removal>
  return typeof at === 'number' && Array.isArray(keys) && keys.every((key) => typeof key === 'string')
}
