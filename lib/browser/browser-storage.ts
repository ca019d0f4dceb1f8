/** What a browser keeps over reloads and windows. It may be full or switched off: then nothing is kept, and no more is lost. */

/** null: nothing is kept there. */
export const readKept = (key: string): string | null => inStorage((storage) => storage.getItem(key)) ?? null

/** Whether it is kept. */
export const keepInBrowser = (key: string, text: string): boolean =>
  inStorage((storage) => {
    storage.setItem(key, text)
    return true
  }) ?? false

export const dropKept = (key: string): void => inStorage((storage) => storage.removeItem(key))

/** Undefined where the browser refuses. */
function inStorage<T>(act: (storage: Storage) => T): T | undefined {
  try {
    return act(window.localStorage)
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    return undefined
  }
}
