/** A value outside of React, as useSyncExternalStore reads it. */
interface Store<T> {
  /** Adds a listener for changes, and returns a function that removes it. */
  readonly subscribe: (listener: () => void) => () => void
  readonly state: () => T
  readonly set: (state: T) => void
}

/** Returns a store with this value. */
export function createStore<T>(initial: T): Store<T> {
  const listeners = new Set<() => void>()
  let current = initial
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    state: () => current,
    set(state) {
      current = state
      for (const listener of listeners) listener()
    },
  }
}
