/** A text that is typed and belongs to no document: kept while its window is open, over tabs of a page and reloads. */

export const sessionText = (name: string): string => window.sessionStorage.getItem(keyOf(name)) ?? ''

/** Where the browser's storage is full or switched off, the text is not kept: no more is lost than without it. */
export function keepText(name: string, text: string): void {
  try {
    if (text === '') window.sessionStorage.removeItem(keyOf(name))
    else window.sessionStorage.setItem(keyOf(name), text)
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
  }
}

const keyOf = (name: string): string => `rollscope.text.${name}`
