/** Reads the signs of a query: words, quoted texts, regular expressions. Each function reads at a place and tells where it ended. */

export interface Scanned<T> {
  readonly value: T
  /** Index after it. */
  readonly end: number
}

export function afterSpace(text: string, from: number): number {
  let index = from
  while (index < text.length && isSpace(text[index] as string)) index++
  return index
}

/** Up to a space; inside of brackets also up to a closing one that no opening one of the word asks for. */
export function scanWord(text: string, from: number, isInBrackets: boolean): Scanned<string> {
  let open = 0
  let index = from
  for (; index < text.length; index++) {
    const sign = text[index] as string
    if (isSpace(sign)) break
    if (sign === '(') open++
    if (sign === ')' && open-- === 0 && isInBrackets) break
  }
  return { value: text.slice(from, index), end: index }
}

/** A text in quotes, with the escapes of JSON; a backslash before anything else stands for itself. Undefined: not closed. */
export function scanQuoted(text: string, from: number): Scanned<string> | undefined {
  let value = ''
  for (let index = from + 1; index < text.length; index++) {
    const sign = text[index] as string
    if (sign === '"') return { value, end: index + 1 }
    const escaped = sign === '\\' ? ESCAPE.exec(text.slice(index, index + 6))?.[0] : undefined
    value += escaped === undefined ? sign : (JSON.parse(`"${escaped}"`) as string)
    index += (escaped?.length ?? 1) - 1
  }
  return undefined
}

const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/

/**
 * A regular expression between slashes and its flags. Undefined where it is none: not closed, or followed by something else
 * than flags, as in the path /usr/bin; and two slashes side by side are text.
 */
export function scanPattern(
  text: string,
  from: number,
  isInBrackets: boolean,
): Scanned<{ readonly source: string; readonly flags: string }> | undefined {
  let isInClass = false
  for (let index = from + 1; index < text.length; index++) {
    const sign = text[index] as string
    if (sign === '\\') index++
    else if (sign === '[') isInClass = true
    else if (sign === ']') isInClass = false
    else if (sign === '/' && !isInClass) {
      const flags = scanWord(text, index + 1, isInBrackets)
      if (index === from + 1 || !/^[gimsuv]*$/.test(flags.value)) return undefined
      return { value: { source: text.slice(from + 1, index), flags: flags.value }, end: flags.end }
    }
  }
  return undefined
}

export const isSpace = (sign: string): boolean => /\s/.test(sign)
