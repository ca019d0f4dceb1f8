/** Texts inside of Python source. */

/** JSON strings are Python strings too. */
export const pythonString = (text: string): string => JSON.stringify(text)

/** A text within """ of a docstring; of control characters, which source may not hold, their escapes are shown. */
export const inDocstring = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', "'''")
    .replace(/(?!\n)\p{Cc}/gu, (control) => `\\\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
