/**
 * Reads JSON that is still being written, as far as possible: SGLang streams the arguments of a call by reading them again after every
 * token (partial_json_parser).
 */

import { JsonError } from '#lib/json/json-reader.ts'
import { stringEnd } from '#lib/json/json-scan.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'
import { trimEnd } from '#lib/templates/jinja/python/text/code-points.ts'
import type { Value } from '#lib/templates/jinja/python/values.ts'

/** The value of a text so far. */
export interface PartialJson {
  readonly value: Value
  /** End of a whole value: after the following white space if nothing else follows. */
  readonly end: number
  readonly isWhole: boolean
}

/** Reads the value that a text begins with; undefined if it is no JSON. `texts` says whether an unclosed string counts. */
export function readPartialJson(text: string, texts: 'whole' | 'also cut'): PartialJson | undefined {
  const found = scan(text)
  if (found === undefined) return undefined
  try {
    if (found.kind === 'whole') {
      const isAll = text.slice(found.end).trim() === ''
      return { value: readJson(text.slice(0, found.end)), end: isAll ? text.length : found.end, isWhole: true }
    }
    const repaired = closeValue(text, found, texts)
    return repaired === undefined ? undefined : { value: readJson(repaired), end: text.length, isWhole: false }
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

type Scan =
  | { readonly kind: 'whole'; readonly end: number }
  | {
      readonly kind: 'cut'
      /** All members before this position are whole. */
      readonly safe: number
      /** The brackets that close the open containers. */
      readonly closers: string
      /** Start of the unfinished last value; undefined between values, and in a member's name. */
      readonly value: number | undefined
    }

interface Container {
  readonly closer: '}' | ']'
  /** The token that may come next. */
  expects: 'name' | 'colon' | 'value' | 'comma'
}

/** Scans brackets, names and values in one pass; readJson checks the contents of scalars. */
function scan(text: string): Scan | undefined {
  const open: Container[] = []
  let safe = 0
  let at = 0
  const cut = (value?: number): Scan => ({
    kind: 'cut',
    safe,
    closers: open.map(({ closer }) => closer).reduceRight((all, closer) => all + closer, ''),
    value,
  })
  for (;;) {
    while (SPACE.test(text[at] ?? '')) at++
    const character = text[at]
    const container = open.at(-1)
    if (character === undefined) return open.length === 0 ? undefined : cut()
    if (container && character === container.closer) {
      open.pop()
      at++
    } else if (container && (container.expects === 'comma' || container.expects === 'colon')) {
      if (character !== (container.expects === 'comma' ? ',' : ':')) return undefined
      container.expects = character === ':' || container.closer === ']' ? 'value' : 'name'
      at++
      continue
    } else if (character === '{' || character === '[') {
      open.push({ closer: character === '{' ? '}' : ']', expects: character === '{' ? 'name' : 'value' })
      at++
      safe = at
      continue
    } else {
      const start = at
      at = endOfScalar(text, at)
      if (container?.expects === 'name') {
        if (character !== '"') return undefined
        if (at >= text.length && !isWholeText(text, start)) return cut()
        container.expects = 'colon'
        continue
      }
      // A number at the end may continue.
      if (at >= text.length && !isWholeText(text, start)) return cut(start)
      if (at === start) return undefined
    }
    safe = at
    const outer = open.at(-1)
    if (!outer) return { kind: 'whole', end: at }
    outer.expects = 'comma'
  }
}

const SPACE = /\s/

function endOfScalar(text: string, start: number): number {
  if (text[start] !== '"') {
    let end = start
    while (end < text.length && !/[\s,:[\]{}"]/.test(text.charAt(end))) end++
    return end
  }
  return Math.min(stringEnd(text, start), text.length)
}

const isWholeText = (text: string, start: number): boolean => /^"(?:[^"\\]|\\.)*"$/s.test(text.slice(start))

const WORDS = ['null', 'true', 'false', 'NaN', 'Infinity', '-Infinity']

/** Returns the text without its unfinished parts; undefined if that cannot become a value. */
function closeValue(
  text: string,
  { safe, closers, value }: Extract<Scan, { kind: 'cut' }>,
  texts: 'whole' | 'also cut',
): string | undefined {
  const without = text.slice(0, safe) + closers
  if (value === undefined) return without
  const written = text.slice(value)
  const before = text.slice(0, value)
  if (written.startsWith('"')) {
    if (texts === 'whole') return without
    // An unfinished escape is removed, and so is white space at the end.
    const match = /^("(?:[^"\\]|\\u[\da-fA-F]{4}|\\[^u])*)(?:\\(?:u[\da-fA-F]{0,3})?)?$/s.exec(trimEnd(written))
    return match ? `${before}${match[1]}"${closers}` : undefined
  }
  const number = /^-?[\d.eE+-]*\d/.exec(written)?.[0]
  if (number !== undefined) return `${before}${number}${closers}`
  if (written === '-') return without
  const word = WORDS.find((one) => one.startsWith(written))
  return word && `${before}${word}${closers}`
}
