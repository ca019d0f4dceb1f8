/**
 * Values that a browser keeps across reloads and windows. If its storage is full or switched off, nothing is stored, without further
 * effects.
 */

/** Returns the stored text; null if there is none. */
export const readStoredText = (key: string): string | null =>
  inStorage('localStorage', (storage) => storage.getItem(key)) ?? null

/** Stores a text and returns whether that succeeded. */
export const keepInBrowser = (key: string, text: string): boolean =>
  inStorage('localStorage', (storage) => {
    storage.setItem(key, text)
    return true
  }) ?? false

/** Removes a stored text. */
export const removeStoredText = (key: string): void => inStorage('localStorage', (storage) => storage.removeItem(key))

/** Returns the result of an access to a storage; undefined if the browser refuses it. */
export function inStorage<T>(name: 'localStorage' | 'sessionStorage', act: (storage: Storage) => T): T | undefined {
  try {
    return act(window[name])
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    return undefined
  }
}
