/** A cache with a maximum total weight that evicts the least recently used entries. */
export interface Memory<T> {
  get(key: string): T | undefined
  set(key: string, value: T, weight: number): void
  delete(key: string): void
}

/** Creates a cache. The newest entry stays even if it alone exceeds the weight. */
export function createMemory<T>(heaviest: number): Memory<T> {
  const entries = new Map<string, { readonly value: T; readonly weight: number }>()
  let total = 0
  const forget = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }
  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, weight) {
      forget(key)
      entries.set(key, { value, weight })
      total += weight
      for (const oldest of entries.keys()) {
        if (total <= heaviest || oldest === key) break
        forget(oldest)
      }
    },
    delete: forget,
  }
}
