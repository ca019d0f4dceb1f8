/**
 * Grammars as data, written as EBNF in the dialect of llama.cpp (GBNF), which SGLang and vLLM take too, or as a regular expression.
 */
import { unicodeEscape } from '#lib/json/unicode-escape.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { escapePattern } from '#lib/util/text/escape-pattern.ts'

/** A set of texts. */
export type GrammarExpression =
  | { readonly kind: 'text'; readonly text: string }
  /** One of these characters, or one of all others. */
  | { readonly kind: 'characters'; readonly isNegated: boolean; readonly ranges: readonly CharacterRange[] }
  | { readonly kind: 'sequence'; readonly parts: readonly GrammarExpression[] }
  | { readonly kind: 'choice'; readonly options: readonly GrammarExpression[] }
  | { readonly kind: 'repeat'; readonly of: GrammarExpression; readonly least: number; readonly most: number }
  /** A set with a name. One that `mayRecur` may contain itself. Equal rules are the same object. */
  | { readonly kind: 'rule'; readonly mayRecur: boolean; readonly of: () => GrammarExpression }

/** First and last character. */
type CharacterRange = readonly [first: string, last: string]

/** Returns the set of one text. */
export const text = (value: string): GrammarExpression => ({ kind: 'text', text: value })

/** Returns the set of texts that consist of these parts. */
export const sequence = (...parts: readonly (GrammarExpression | string)[]): GrammarExpression => ({
  kind: 'sequence',
  parts: parts
    .map((part) => (typeof part === 'string' ? text(part) : part))
    .filter((part) => part.kind !== 'text' || part.text !== ''),
})

/** Returns the union of sets. */
export const choice = (options: readonly GrammarExpression[]): GrammarExpression =>
  options.length === 1 ? elementAt(options, 0) : { kind: 'choice', options }

/** Returns the set of texts with this number of parts. */
export const repeat = (of: GrammarExpression, least = 0, most = Number.POSITIVE_INFINITY): GrammarExpression => ({
  kind: 'repeat',
  of,
  least,
  most,
})

/** Returns the lists of at least one item, with a separator between each two. */
export const listOf = (item: GrammarExpression, separator: GrammarExpression | string): GrammarExpression =>
  sequence(item, repeat(sequence(separator, item)))

/** Returns a set that is written once in EBNF, however often it occurs. */
export const shared = (of: GrammarExpression): GrammarExpression => ({ kind: 'rule', mayRecur: false, of: () => of })

/** Returns a set that may contain itself. */
export const recursive = (of: () => GrammarExpression): GrammarExpression => ({ kind: 'rule', mayRecur: true, of })

/** Returns the set of these texts and the empty one. */
export const optional = (of: GrammarExpression | string): GrammarExpression =>
  repeat(typeof of === 'string' ? text(of) : of, 0, 1)

/** Returns the set of these characters; a range is written as its two ends. */
export const oneOf = (...ranges: readonly (string | CharacterRange)[]): GrammarExpression => ({
  kind: 'characters',
  isNegated: false,
  ranges: ranges.flatMap(rangesOf),
})

/** Returns the set of all other characters. */
export const noneOf = (...ranges: readonly (string | CharacterRange)[]): GrammarExpression => ({
  kind: 'characters',
  isNegated: true,
  ranges: ranges.flatMap(rangesOf),
})

const rangesOf = (range: string | CharacterRange): readonly CharacterRange[] =>
  typeof range === 'string' ? Array.from(range, (character) => [character, character] as const) : [range]

/**
 * Returns the set of texts that contain none of these words. All words begin with the same character, which they contain only there, so that
 * a word can begin only where this character is.
 */
export function textWithout(words: readonly string[]): GrammarExpression {
  const first = elementAt(Array.from(elementAt(words, 0)), 0)
  const next = (rests: readonly string[]): ReadonlyMap<string, readonly string[]> => {
    const following = new Map<string, string[]>()
    for (const rest of rests) {
      const character = elementAt(Array.from(rest), 0)
      following.set(character, [...(following.get(character) ?? []), rest.slice(character.length)])
    }
    return following
  }
  /** After a beginning of a word: characters that make sure that none of the words follows. */
  const different = (rests: readonly string[]): GrammarExpression => {
    const following = next(rests)
    return choice([
      allBut([first, ...following.keys()]),
      ...Array.from(following, ([character, more]) =>
        more.includes('') ? [] : [sequence(character, different(more))],
      ).flat(),
    ])
  }
  /** The rest of a beginning of a word that is not the whole word; may be empty. */
  const beginning = (rests: readonly string[]): GrammarExpression | undefined => {
    const options = Array.from(next(rests), ([character, more]) => {
      if (more.includes('')) return []
      const rest = beginning(more)
      return [rest ? sequence(character, rest) : text(character)]
    }).flat()
    return options.length > 0 ? optional(choice(options)) : undefined
  }
  const rests = words.map((word) => word.slice(first.length))
  const beginnings = repeat(sequence(first, beginning(rests) ?? text('')))
  return sequence(repeat(choice([noneOf(first), sequence(beginnings, first, different(rests))])), beginnings)
}

/** Engines do not exclude single characters outside of ASCII: then only ASCII is left. */
function allBut(characters: readonly string[]): GrammarExpression {
  if (characters.every((character) => character <= LAST_OF_ASCII)) return noneOf(...characters)
  const others = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
  return oneOf(others.filter((character) => !characters.includes(character)).join(''))
}

const LAST_OF_ASCII = '\x7f'

/** Returns a grammar in EBNF. Its first rule is `root`. */
export function toEbnf(root: GrammarExpression): string {
  const names = new Map<GrammarExpression, string>()
  const rules: string[] = []
  const write = (one: GrammarExpression): string => {
    switch (one.kind) {
      case 'text':
        return quoted(one.text)
      case 'characters':
        return writtenClass(one)
      case 'sequence':
        return one.parts.length === 0 ? '""' : one.parts.map(write).join(' ')
      case 'choice':
        return `(${one.options.map(write).join(' | ')})`
      case 'repeat':
        return `(${write(one.of)})${quantifier(one)}`
      case 'rule': {
        const known = names.get(one)
        if (known !== undefined) return known
        const name = `r${names.size}`
        names.set(one, name)
        rules.push(`${name} ::= ${write(one.of())}`)
        return name
      }
    }
  }
  const first = `root ::= ${write(root)}`
  return [first, ...rules].join('\n')
}

const quoted = (value: string): string =>
  `"${value.replace(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`

/** Longest regular expression, as on the built-in server. */
const LONGEST = 100_000

/**
 * Returns a grammar as a regular expression. Those have no recursion: what may recur does so up to `depth` levels, and what would need more is
 * left out. Throws RangeError if nothing remains, or if the expression is too long.
 */
export function toRegex(root: GrammarExpression, depth: number): string {
  const source = regexOf(root, depth)
  if (source === undefined) throw new RangeError(`the grammar needs more than ${depth} levels of rules`)
  return source
}

/** Returns undefined for a set that needs more levels. */
function regexOf(one: GrammarExpression, depth: number): string | undefined {
  switch (one.kind) {
    case 'text':
      return escapePattern(one.text).replaceAll('\n', '\\n')
    case 'characters':
      return writtenClass(one)
    case 'sequence': {
      const parts = one.parts.map((part) => regexOf(part, depth))
      return parts.every((part) => part !== undefined) ? limited(parts.join('')) : undefined
    }
    case 'choice': {
      const options = one.options.flatMap((option) => regexOf(option, depth) ?? [])
      return options.length > 0 ? limited(`(?:${options.join('|')})`) : undefined
    }
    case 'repeat': {
      const inside = regexOf(one.of, depth)
      if (inside !== undefined) return `(?:${inside})${quantifier(one)}`
      return one.least === 0 ? '' : undefined
    }
    case 'rule':
      if (!one.mayRecur) return regexOf(one.of(), depth)
      return depth === 0 ? undefined : regexOf(one.of(), depth - 1)
  }
}

function limited(source: string): string {
  if (source.length > LONGEST) throw new RangeError(`the grammar is longer than ${LONGEST} characters`)
  return source
}

function quantifier({ least, most }: Extract<GrammarExpression, { kind: 'repeat' }>): string {
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? '*' : least === 1 ? '+' : `{${least},}`
  return least === 0 && most === 1 ? '?' : `{${least},${most}}`
}

/** Both notations have the same classes. Other characters than letters and digits of ASCII are written by their numbers. */
function writtenClass({ isNegated, ranges }: Extract<GrammarExpression, { kind: 'characters' }>): string {
  const inside = ranges.map(([first, last]) => (first === last ? inClass(first) : `${inClass(first)}-${inClass(last)}`))
  return `[${isNegated ? '^' : ''}${inside.join('')}]`
}

/** The end of a number with fewer than four digits is ambiguous in some readers. */
const inClass = (character: string): string =>
  /^(?:[a-zA-Z0-9]|\P{ASCII})$/u.test(character) ? character : unicodeEscape(character)
