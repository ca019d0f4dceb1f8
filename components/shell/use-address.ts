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
  const [told, tell] = useQueryStates(names, { history: 'replace', shallow: true })
  const [held, setHeld] = useState<Partial<Values<Names>>>(NOTHING)
  const settling = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    const letGo = () => setHeld(NOTHING)
    window.addEventListener('popstate', letGo)
    return () => {
      window.removeEventListener('popstate', letGo)
      clearTimeout(settling.current)
    }
  }, [])
  const set = (change: Change<Names>, options: { readonly history?: 'push' | 'replace' } = {}) => {
    clearTimeout(settling.current)
    settling.current = setTimeout(() => setHeld(NOTHING), SETTLED_MS)
    const given = Object.entries(change).filter(([, value]) => value !== undefined)
    const values = given.map(([name, value]) => [name, value ?? names[name]?.defaultValue ?? null])
    setHeld((before) => ({ ...before, ...Object.fromEntries(values) }))
    return tell(Object.fromEntries(given) as Parameters<typeof tell>[0], options)
  }
  return [{ ...told, ...held }, set] as const
}

const NOTHING = {}
