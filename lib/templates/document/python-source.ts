/** Texts within Python source. */

/** Returns a Python string literal; JSON strings are Python strings too. */
export const pythonString = (text: string): string => JSON.stringify(text)

/** Returns a text for a docstring in """. Control characters, which source must not contain, are shown as their escapes. */
export const inDocstring = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', "'''")
    .replace(/(?!\n)\p{Cc}/gu, (control) => `\\\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
