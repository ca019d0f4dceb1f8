/** Scans the tokens of a query: words, quoted texts and regular expressions. Each function starts at an index and returns where it ends. */

/** A scanned value and its end. */
export interface ScannedValue<T> {
  readonly value: T
  /** Index after the value. */
  readonly end: number
}

/** Returns the index of the first character from `from` that is not a space. */
export function afterSpace(text: string, from: number): number {
  let index = from
  while (index < text.length && isWhitespace(text.charAt(index))) index++
  return index
}

/** Scans up to a space. Inside brackets, a closing bracket without an opening one in the word ends it too. */
export function scanWord(text: string, from: number, isInBrackets: boolean): ScannedValue<string> {
  let open = 0
  let index = from
  for (; index < text.length; index++) {
    const sign = text.charAt(index)
    if (isWhitespace(sign)) break
    if (sign === '(') open++
    if (sign === ')' && open-- === 0 && isInBrackets) break
  }
  return { value: text.slice(from, index), end: index }
}

/** Scans a quoted text with the escapes of JSON; any other backslash is literal. Returns undefined if the quote is not closed. */
export function scanQuoted(text: string, from: number): ScannedValue<string> | undefined {
  let value = ''
  for (let index = from + 1; index < text.length; index++) {
    const sign = text.charAt(index)
    if (sign === '"') return { value, end: index + 1 }
    const escaped = sign === '\\' ? ESCAPE.exec(text.slice(index, index + 6))?.[0] : undefined
    value += escaped === undefined ? sign : (JSON.parse(`"${escaped}"`) as string)
    index += (escaped?.length ?? 1) - 1
  }
  return undefined
}

const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/

/**
 * Scans a regular expression between slashes, and its flags. Returns undefined if it is not closed, is empty, or is followed by
 * something other than flags, as in the path /usr/bin. A class that is not closed, as in /[/, ends at the last slash, so that it is
 * reported as an error.
 */
export function scanPattern(
  text: string,
  from: number,
  isInBrackets: boolean,
): ScannedValue<{ readonly source: string; readonly flags: string }> | undefined {
  let isInClass = false
  let slashInClass: number | undefined
  const endAt = (slash: number) => {
    const flags = scanWord(text, slash + 1, isInBrackets)
    if (slash === from + 1 || !/^[gimsuv]*$/.test(flags.value)) return undefined
    return { value: { source: text.slice(from + 1, slash), flags: flags.value }, end: flags.end }
  }
  for (let index = from + 1; index < text.length; index++) {
    const sign = text.charAt(index)
    if (sign === '\\') index++
    else if (sign === '[') isInClass = true
    else if (sign === ']') {
      isInClass = false
      slashInClass = undefined
    } else if (sign === '/' && !isInClass) return endAt(index)
    else if (sign === '/') slashInClass = index
  }
  return isInClass && slashInClass !== undefined ? endAt(slashInClass) : undefined
}

/** Returns true for a whitespace character. */
export const isWhitespace = (sign: string): boolean => /\s/.test(sign)
