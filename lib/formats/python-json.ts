import { tooDeepAt } from '#lib/core/json-depth.ts'

/**
 * JSON as Python's json module writes it: NaN, Infinity and -Infinity are numbers. Throws SyntaxError for what is none,
 * and for what is nested deeper than any file of ours or of a trainer: later steps walk it by recursion.
 */
export function parsePythonJson(text: string): unknown {
  if (tooDeepAt(text, DEEPEST) !== undefined) throw new SyntaxError(`it is nested deeper than ${DEEPEST} levels`)
  const mark = markAbsentFrom(text)
  const { marked, found } = withMarks(text, mark)
  if (!found) return JSON.parse(text)
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? Number(value.slice(mark.length)) : value,
  )
}

const DEEPEST = 100

/** Numbers that JSON has no word for, as texts behind a mark. */
function withMarks(text: string, mark: string): { readonly marked: string; readonly found: boolean } {
  const parts: string[] = []
  let copied = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i)
        break
      case LETTER_N:
      case LETTER_I: {
        const word = WORDS.find((name) => text.startsWith(name, i))
        if (word === undefined) break
        const start = text[i - 1] === '-' ? i - 1 : i
        parts.push(text.slice(copied, start), JSON.stringify(mark + text.slice(start, i + word.length)))
        i += word.length - 1
        copied = i + 1
        break
      }
    }
  }
  return { marked: parts.join('') + text.slice(copied), found: copied > 0 }
}

const WORDS = ['NaN', 'Infinity'] as const
const [QUOTE, BACKSLASH, LETTER_N, LETTER_I] = Array.from('"\\NI', (character) => character.charCodeAt(0))

/** Index of the closing quote; that of the last character where there is none. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1
  return i
}

/** One character more than the longest run of it in the text. */
function markAbsentFrom(text: string): string {
  let longest = 0
  for (const [run] of text.matchAll(/¤+/g)) longest = Math.max(longest, run.length)
  return '¤'.repeat(longest + 1)
}
