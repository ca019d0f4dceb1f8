/** How the reader likes a view: kept in the browser, the same in every tab and window of it. */
import { useSyncExternalStore } from 'react'
import { keepInBrowser, readKept } from './browser-storage.ts'

export interface Preference<T> {
  readonly name: string
  readonly usual: T
  /** What is kept may be of another version, or written by hand: undefined where it is no value of this. */
  readonly read: (kept: unknown) => T | undefined
}

export function usePreference<T>(preference: Preference<T>): readonly [value: T, set: (value: T) => void] {
  const kept = useSyncExternalStore(
    subscribe,
    () => keptText(preference.name),
    () => null,
  )
  return [preferred(preference, kept), (value) => keep(preference.name, JSON.stringify(value))]
}

/** What a text that was kept says; the usual value where it says nothing. */
export function preferred<T>({ usual, read }: Preference<T>, kept: string | null): T {
  if (kept === null) return usual
  try {
    return read(JSON.parse(kept)) ?? usual
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return usual
  }
}

/** What was set in this window where the browser keeps nothing: storage may be full or switched off. */
const unkept = new Map<string, string>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

const keptText = (name: string): string | null => unkept.get(name) ?? readKept(keyOf(name))

function keep(name: string, text: string): void {
  if (keepInBrowser(keyOf(name), text)) unkept.delete(name)
  else unkept.set(name, text)
  for (const listener of listeners) listener()
}

const keyOf = (name: string): string => `rollscope.preference.${name}`
