/**
 * Parses a query. Adjacent terms must all be true. `or` and `|` join terms, `-` and `not` negate them, and brackets group them. Adjacent
 * words are one text. docs/find.md describes the language.
 */

import { elementAt } from '#lib/util/element-at.ts'
import { hasCapital } from './folded-text.ts'
import { type KnownNames, readFact } from './parse-fact.ts'
import { isOfSampled, type ParsedQuery, type Query, type QueryFault, type Term } from './query.ts'
import { afterSpace, isWhitespace, type ScannedValue, scanPattern, scanQuoted, scanWord } from './scanner.ts'

/** Parses a query. `columns` are the names of the trajectory's own columns. Returns a fault for a syntax error; never throws. */
export function parseQuery(text: string, columns: readonly string[]): ParsedQuery {
  if (text.trim() === '') return { kind: 'nothing' }
  try {
    return { kind: 'query', query: either({ text, facts: { columns }, depth: 0, isInBrackets: false }, 0).value }
  } catch (error) {
    if (error instanceof Faulty) return { kind: 'fault', fault: error.fault }
    throw error
  }
}

/** Ends parsing at the first fault. It is only thrown inside this file. */
class Faulty extends Error {
  readonly fault: QueryFault
  constructor(fault: QueryFault) {
    super(fault.message)
    this.fault = fault
  }
}

interface Reading {
  readonly text: string
  readonly facts: KnownNames
  /** Number of enclosing brackets and negations. Deeper nesting than DEEPEST is a fault, so that the stack does not overflow. */
  readonly depth: number
  readonly isInBrackets: boolean
}

const DEEPEST = 50

function either(reading: Reading, from: number): ScannedValue<Query> {
  const parts: Query[] = []
  let index = from
  for (;;) {
    const part = all(reading, index)
    parts.push(part.value)
    index = part.end
    const bar = joiner(reading, index)
    if (bar === undefined) return { value: joinQueries('or', parts), end: index }
    index = bar
  }
}

/** Returns the index after `or` or `|`; undefined if there is none. */
function joiner({ text }: Reading, from: number): number | undefined {
  const word = scanWord(text, afterSpace(text, from), true)
  return /^(?:\||or)$/i.test(word.value) ? word.end : undefined
}

function all(reading: Reading, from: number): ScannedValue<Query> {
  const parts: Query[] = []
  let index = from
  let phrase: { readonly start: number; readonly end: number } | undefined
  const endPhrase = () => {
    if (phrase) parts.push(textTerm(reading.text.slice(phrase.start, phrase.end), false))
    phrase = undefined
  }
  for (;;) {
    const start = afterSpace(reading.text, index)
    const isFirst = parts.length === 0 && phrase === undefined
    if (isAtEnd(reading, start) || isJoiner(reading, start, isFirst)) {
      if (isFirst) throw missing(reading, start)
      endPhrase()
      return { value: joinQueries('and', parts), end: start }
    }
    const part = unit(reading, start)
    index = part.end
    if (part.value === 'word') phrase = { start: phrase?.start ?? start, end: index }
    else {
      endPhrase()
      parts.push(part.value)
    }
  }
}

const joinQueries = (kind: 'and' | 'or', parts: readonly Query[]): Query =>
  parts.length === 1 ? elementAt(parts, 0) : { kind, parts }

const isAtEnd = ({ text, isInBrackets }: Reading, index: number): boolean =>
  index >= text.length || (isInBrackets && text[index] === ')')

/** Returns true for an `or` or `|` that joins terms. An `or` without a term on both sides is a word, but a bar is not. */
function isJoiner(reading: Reading, start: number, isFirst: boolean): boolean {
  const end = joiner(reading, start)
  if (end === undefined) return false
  return reading.text[start] === '|' || !(isFirst || isAtEnd(reading, afterSpace(reading.text, end)))
}

function missing({ text }: Reading, start: number): Faulty {
  const at = { start: Math.min(start, Math.max(0, text.length - 1)), end: Math.min(start + 1, text.length) }
  return new Faulty({
    at,
    message: 'Write a search term here.',
    hint: 'Write bars in quotes to search for them: "|".',
  })
}

/** Parses one term, group or negation. The value `word` is a word of a text, which the next word may continue. */
function unit(reading: Reading, start: number): ScannedValue<Query | 'word'> {
  const { text, depth, isInBrackets } = reading
  const sign = text.charAt(start)
  if (sign === '(') return group(reading, start)
  const negated = afterNegation(reading, start)
  if (negated !== undefined) {
    if (depth >= DEEPEST) throw tooDeep(start)
    const part = unit({ ...reading, depth: depth + 1 }, negated)
    const value = part.value === 'word' ? textTerm(text.slice(negated, part.end), false) : part.value
    return { value: { kind: 'not', part: value }, end: part.end }
  }
  if (sign === '"' && !isPartOfWord(reading, start)) return readQuoted(text, start, false)
  const pattern = sign === '/' ? scanPattern(text, start, isInBrackets) : undefined
  if (pattern) return { value: patternTerm(pattern.value, start, pattern.end), end: pattern.end }
  if (text.startsWith('case:', start)) {
    if (text[start + 5] === '"') return readQuoted(text, start + 5, true)
    const word = scanWord(text, start + 5, isInBrackets)
    if (word.value !== '') return { value: textTerm(word.value, true), end: word.end }
  }
  const withPrompt = promptFact(reading, start)
  if (withPrompt) return withPrompt
  const fact = readFact(text, start, isInBrackets, reading.facts)
  if (fact?.kind === 'fault') throw new Faulty(fact.fault)
  if (fact) return { value: fact.query, end: fact.end }
  return { value: 'word', end: scanWord(text, start, isInBrackets).end }
}

/** Parses a fact such as `prompt logprob<-1`, which includes context tokens. Returns undefined if `prompt` is a word, or is not here. */
function promptFact({ text, isInBrackets, facts }: Reading, start: number): ScannedValue<Term> | undefined {
  const word = /^prompt(?=\s)/.exec(text.slice(start, start + 7))
  if (!word) return undefined
  const fact = readFact(text, afterSpace(text, start + word[0].length), isInBrackets, facts)
  if (fact?.kind !== 'fact' || fact.query.kind !== 'number' || !isOfSampled(fact.query.number)) return undefined
  return { value: { ...fact.query, withPrompt: true }, end: fact.end }
}

function group(reading: Reading, start: number): ScannedValue<Query> {
  if (reading.depth >= DEEPEST) throw tooDeep(start)
  const inner = either({ ...reading, depth: reading.depth + 1, isInBrackets: true }, start + 1)
  if (reading.text[inner.end] === ')') return { value: inner.value, end: inner.end + 1 }
  throw new Faulty({
    at: { start, end: start + 1 },
    message: 'This bracket is not closed.',
    hint: 'Write brackets in quotes to search for them: "(".',
  })
}

const tooDeep = (start: number): Faulty =>
  new Faulty({ at: { start, end: start + 1 }, message: `The query is nested deeper than ${DEEPEST} levels.` })

/**
 * Returns the index at which the negated term begins; undefined if nothing is negated. A minus before a digit, a sign or a space is
 * text: -3, ->, --flag.
 */
function afterNegation(reading: Reading, start: number): number | undefined {
  const { text } = reading
  if (text[start] === '-') return /^[\p{L}_"'(/<[{]/u.test(text.slice(start + 1, start + 3)) ? start + 1 : undefined
  const word = /^not(?=[\s(])/i.exec(text.slice(start, start + 4))
  if (!word) return undefined
  const next = afterSpace(text, start + 3)
  return isAtEnd(reading, next) ? undefined : next
}

/** Returns true if a quoted text continues after its closing quote, as in pasted JSON: `"user"}`. */
function isPartOfWord({ text, isInBrackets }: Reading, start: number): boolean {
  const next = text[scanQuoted(text, start)?.end ?? text.length]
  return next !== undefined && !isWhitespace(next) && !(next === ')' && isInBrackets)
}

function readQuoted(text: string, start: number, isExact: boolean): ScannedValue<Term> {
  const scanned = scanQuoted(text, start)
  if (!scanned)
    throw new Faulty({
      at: { start, end: text.length },
      message: 'This quote is not closed.',
      hint: 'Write a quote inside a text as \\".',
    })
  if (scanned.value === '')
    throw new Faulty({ at: { start, end: scanned.end }, message: 'Write a text between the quotes.' })
  return { value: textTerm(scanned.value, isExact), end: scanned.end }
}

/** Returns the term of a text. Upper and lower case are distinguished if the text has a capital letter. */
const textTerm = (text: string, isExact: boolean): Term => ({
  kind: 'text',
  text,
  isExact: isExact || hasCapital(text),
})

function patternTerm({ source, flags }: { source: string; flags: string }, start: number, end: number): Term {
  try {
    return { kind: 'pattern', pattern: new RegExp(source, `${flags.replaceAll('g', '')}g`) }
  } catch (error) {
    // V8's message is such as “Invalid regular expression: /(/: Unterminated group”.
    const why = (error as SyntaxError).message.split(': ').at(-1) as string
    throw new Faulty({ at: { start, end }, message: `This is not a regular expression: ${why}.` })
  }
}
