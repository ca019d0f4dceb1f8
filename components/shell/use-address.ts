'use client'
import { type UseQueryStatesKeysMap, useQueryStates, type Values } from 'nuqs'
import { useEffect, useRef, useState } from 'react'

/** Longer than the address needs to settle on a machine that is busy. */
const SETTLED_MS = 1_500

type Change<Names extends UseQueryStatesKeysMap> = {
  readonly [Name in keyof Names]?: Values<Names>[Name] | null | undefined
}

/**
 * The names of the address, and how they are changed without a reload. What was set here holds until the address has
 * settled: the router tells of each change late, and on a busy page an older one after a newer, so that a key pressed then
 * would go on from where the one before it began.
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
