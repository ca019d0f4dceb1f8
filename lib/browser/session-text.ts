/** A typed text that belongs to no document: stored while its window is open, across tabs of a page and reloads. */

/** Returns the stored text; '' if there is none, or if the storage is switched off. */
export function sessionText(name: string): string {
  try {
    return window.sessionStorage.getItem(keyOf(name)) ?? ''
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    return ''
  }
}

/** Stores a text. If the browser's storage is full or switched off, the text is not stored, without further effects. */
export function keepText(name: string, text: string): void {
  try {
    if (text === '') window.sessionStorage.removeItem(keyOf(name))
    else window.sessionStorage.setItem(keyOf(name), text)
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
  }
}

const keyOf = (name: string): string => `rollscope.text.${name}`
