'use client'
import { type UseQueryStatesKeysMap, useQueryStates, type Values } from 'nuqs'
import { useEffect, useEffectEvent, useRef, useState } from 'react'

/** Longer than the router needs to update the address on a busy machine. */
const SETTLED_MS = 1_500

type Change<Names extends UseQueryStatesKeysMap> = {
  readonly [Name in keyof Names]?: Values<Names>[Name] | null | undefined
}

/**
 * Returns the values in the address and a function that changes them without a reload. A change is kept here until the
 * address has settled: the router reports each change late, and on a busy page an older one after a newer. A key pressed in
 * between would otherwise act on an old value, and the router could write an old value back. So each change also writes those before
 * it that are not settled.
 */
export function useAddress<Names extends UseQueryStatesKeysMap>(names: Names) {
  const [settled, setQuery] = useQueryStates(names, { history: 'replace', shallow: true })
  const [pending, setPending] = useState<Partial<Values<Names>>>(NOTHING)
  /** The values of `pending`, which a second change in the same frame needs before they are drawn. */
  const unsettled = useRef<Partial<Values<Names>>>(NOTHING)
  const settling = useRef<ReturnType<typeof setTimeout>>(undefined)
  const keepPending = (values: Partial<Values<Names>>) => {
    unsettled.current = values
    setPending(values)
  }
  const clearPending = useEffectEvent(() => keepPending(NOTHING))
  useEffect(() => {
    window.addEventListener('popstate', clearPending)
    return () => {
      window.removeEventListener('popstate', clearPending)
      clearTimeout(settling.current)
    }
  }, [])
  const set = (change: Change<Names>, options: { readonly history?: 'push' | 'replace' } = {}) => {
    clearTimeout(settling.current)
    settling.current = setTimeout(() => keepPending(NOTHING), SETTLED_MS)
    const entries = Object.entries(change).filter(([, value]) => value !== undefined)
    const values = entries.map(([name, value]) => [name, value ?? names[name]?.defaultValue ?? null])
    const all = { ...unsettled.current, ...Object.fromEntries(values) }
    keepPending(all)
    return setQuery(all as Parameters<typeof setQuery>[0], options)
  }
  return [{ ...settled, ...pending }, set] as const
}

const NOTHING = {}
