/** Settings of a view that the browser stores, shared by all its tabs and windows. */
import { useSyncExternalStore } from 'react'
import { keepInBrowser, readStoredText } from './browser-storage.ts'

/** A setting with its name in storage and its default, `usual`. */
export interface Preference<T> {
  readonly name: string
  readonly usual: T
  /** Returns the value; undefined if the stored one is invalid, for example from another version or written by hand. */
  readonly read: (stored: unknown) => T | undefined
}

/** Returns the value and a function that sets it in all windows. */
export function usePreference<T>(preference: Preference<T>): readonly [value: T, set: (value: T) => void] {
  const stored = useSyncExternalStore(
    subscribe,
    () => currentText(preference.name),
    () => null,
  )
  return [readPreference(preference, stored), (value) => keep(preference.name, JSON.stringify(value))]
}

/** Returns the value that is stored now, which another window may have changed since a component was drawn. */
export const currentPreference = <T>(preference: Preference<T>): T =>
  readPreference(preference, currentText(preference.name))

/** Changes the value that is stored now. */
export const changePreference = <T>(preference: Preference<T>, change: (value: T) => T): void =>
  keep(preference.name, JSON.stringify(change(currentPreference(preference))))

/** Returns the value of a stored text, or the default if the text has none. */
export function readPreference<T>({ usual, read }: Preference<T>, stored: string | null): T {
  if (stored === null) return usual
  try {
    return read(JSON.parse(stored)) ?? usual
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return usual
  }
}

/** Values that were set in this window although the browser stores nothing: storage may be full or switched off. */
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

const currentText = (name: string): string | null => unkept.get(name) ?? readStoredText(keyOf(name))

function keep(name: string, text: string): void {
  if (keepInBrowser(keyOf(name), text)) unkept.delete(name)
  else unkept.set(name, text)
  for (const listener of listeners) listener()
}

const keyOf = (name: string): string => `rollscope.preference.${name}`
