/** A typed text that belongs to no document: stored while its window is open, across tabs of a page and reloads. */
import { inStorage } from './browser-storage.ts'

/** Returns the stored text; '' if there is none, or if the storage is switched off. */
export const sessionText = (name: string): string =>
  inStorage('sessionStorage', (storage) => storage.getItem(keyOf(name))) ?? ''

/** Stores a text. If the browser's storage is full or switched off, the text is not stored, without further effects. */
export const keepText = (name: string, text: string): void =>
  inStorage('sessionStorage', (storage) =>
    text === '' ? storage.removeItem(keyOf(name)) : storage.setItem(keyOf(name), text),
  )

const keyOf = (name: string): string => `rollscope.text.${name}`
