import { isDeeperThan, tooDeepAt } from '#lib/core/json-depth.ts'
import { LIMITS } from './limits.ts'

/**
 * JSON as Python's json module writes it: NaN, Infinity and -Infinity are numbers. Throws SyntaxError for what is none,
 * and for what is nested deeper than any file of ours or of a trainer: later steps walk it by recursion.
 */
export function parsePythonJson(text: string): unknown {
  const plain = plainJson(text)
  if (plain) {
    if (isDeeperThan(LIMITS.depth, plain.value)) throw tooDeep()
    return plain.value
  }
  if (tooDeepAt(text, LIMITS.depth) !== undefined) throw tooDeep()
  const mark = markAbsentFrom(text)
  return JSON.parse(withMarks(text, mark), (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? Number(value.slice(mark.length)) : value,
  )
}

const tooDeep = () => new SyntaxError(`it is nested deeper than ${LIMITS.depth} levels`)

/** Most files are JSON as it is: the engine parses one in a fifth of the time that looking through its text takes. */
function plainJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Numbers that JSON has no word for, as texts behind a mark. */
function withMarks(text: string, mark: string): string {
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
  return parts.join('') + text.slice(copied)
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
