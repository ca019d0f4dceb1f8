/**
 * Values that a browser keeps across reloads and windows. If its storage is full or switched off, nothing is stored, without further
 * effects.
 */

/** Returns the stored text; null if there is none. */
export const readStoredText = (key: string): string | null => inStorage((storage) => storage.getItem(key)) ?? null

/** Stores a text and returns whether that succeeded. */
export const keepInBrowser = (key: string, text: string): boolean =>
  inStorage((storage) => {
    storage.setItem(key, text)
    return true
  }) ?? false

/** Removes a stored text. */
export const removeStoredText = (key: string): void => inStorage((storage) => storage.removeItem(key))

/** Returns the result of an access to storage; undefined if the browser refuses it. */
function inStorage<T>(act: (storage: Storage) => T): T | undefined {
  try {
    return act(window.localStorage)
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    return undefined
  }
}
