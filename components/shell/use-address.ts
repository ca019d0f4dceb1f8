'use client'
import { type UseQueryStatesKeysMap, useQueryStates, type Values } from 'nuqs'
import { useEffect, useRef, useState } from 'react'

/** Longer than the router needs to update the address on a busy machine. */
const SETTLED_MS = 1_500

type Change<Names extends UseQueryStatesKeysMap> = {
  readonly [Name in keyof Names]?: Values<Names>[Name] | null | undefined
}

/**
 * Returns the values in the address and a function that changes them without a reload. A change is kept here until the
 * address has settled: the router reports each change late, and on a busy page an older one after a newer. A key pressed in
 * between would otherwise act on an old value.
 */
export function useAddress<Names extends UseQueryStatesKeysMap>(names: Names) {
  const [settled, setQuery] = useQueryStates(names, { history: 'replace', shallow: true })
  const [pending, setPending] = useState<Partial<Values<Names>>>(NOTHING)
  const settling = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    const clearPending = () => setPending(NOTHING)
    window.addEventListener('popstate', clearPending)
    return () => {
      window.removeEventListener('popstate', clearPending)
      clearTimeout(settling.current)
    }
  }, [])
  const set = (change: Change<Names>, options: { readonly history?: 'push' | 'replace' } = {}) => {
    clearTimeout(settling.current)
    settling.current = setTimeout(() => setPending(NOTHING), SETTLED_MS)
    const entries = Object.entries(change).filter(([, value]) => value !== undefined)
    const values = entries.map(([name, value]) => [name, value ?? names[name]?.defaultValue ?? null])
    setPending((before) => ({ ...before, ...Object.fromEntries(values) }))
    return setQuery(Object.fromEntries(entries) as Parameters<typeof setQuery>[0], options)
  }
  return [{ ...settled, ...pending }, set] as const
}

const NOTHING = {}
