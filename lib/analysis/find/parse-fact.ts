/** Parses a term with a name, an operator and a value: `logprob<-3`, `tool:calculator`, `column:"kl ratio">1`. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { comparedWith, readNumber, readRange } from '#lib/util/interval.ts'
import { suggestName } from './closest.ts'
import {
  NAMED_FACTS,
  type NamedFact,
  NUMBER_FACTS,
  type NumberFact,
  type NumberName,
  type Query,
  type QueryFault,
  type Term,
} from './query.ts'
import { type ScannedValue, scanQuoted, scanWord } from './scanner.ts'

/** Names that depend on the trajectory. */
export interface KnownNames {
  /** Names of the trajectory's own columns. */
  readonly columns: readonly string[]
}

type ReadFact =
  | { readonly kind: 'fact'; readonly query: Query; readonly end: number }
  | { readonly kind: 'fault'; readonly fault: QueryFault }

/** Parses the term at `start`. Returns undefined if there is none: the characters are text. Never throws. */
export function readFact(text: string, start: number, isInBrackets: boolean, facts: KnownNames): ReadFact | undefined {
  const head = HEAD.exec(text.slice(start))
  if (!head) return undefined
  const [written, name, sign] = head as unknown as readonly [string, string, Sign]
  const at = start + written.length
  if (name === 'column') return readColumn(text, start, at, isInBrackets, facts)
  const value = valueAt(text, at, isInBrackets)
  if (!value) return unclosedFault(at, text.length)
  const place = { start, end: value.end }
  const reading: Value = { ...value, sign, at: { start: at, end: value.end } }
  if (name === 'id' && sign === ':') return finishFact(idsTerm(reading), value.end)
  if (isNumberFact(name)) return finishFact(numberTerm({ kind: 'fact', name }, name, reading), value.end)
  if (isNamedFact(name)) return finishFact(namedTerm(name, reading, facts), value.end)
  if (facts.columns.includes(name)) return finishFact(numberTerm({ kind: 'column', name }, name, reading), value.end)
  return isFactLike(sign, value.text) ? { kind: 'fault', fault: unknownName(name, place, facts) } : undefined
}

type Sign = ':' | '<' | '<=' | '>' | '>=' | '=' | '!='

const HEAD = /^([A-Za-z_][\w.]*)(:|<=|>=|!=|<|>|=)/

interface Value {
  readonly text: string
  readonly isQuoted: boolean
  readonly end: number
  readonly sign: Sign
  readonly at: Span
}

/** Reads a word or a quoted value. Returns undefined if a quote is not closed. */
function valueAt(
  text: string,
  at: number,
  isInBrackets: boolean,
): Pick<Value, 'text' | 'isQuoted' | 'end'> | undefined {
  if (text[at] !== '"') {
    const word = scanWord(text, at, isInBrackets)
    return { text: word.value, isQuoted: false, end: word.end }
  }
  const quoted = scanQuoted(text, at)
  return quoted && { text: quoted.value, isQuoted: true, end: quoted.end }
}

const unclosedFault = (start: number, end: number): ReadFact => ({
  kind: 'fault',
  fault: { at: { start, end }, message: 'This quote is not closed.' },
})

/** Returns true for terms such as `x<3` and `role:user`; `a<b`, `Error:` and `https://…` are text. */
const isFactLike = (sign: Sign, value: string): boolean =>
  sign === ':' ? value !== '' && !value.startsWith('//') && !value.startsWith(':') : readNumber(value) !== undefined

function unknownName(name: string, at: Span, { columns }: KnownNames): QueryFault {
  const known = [...NUMBER_FACTS, ...Object.keys(NAMED_FACTS), ...columns]
  const suggestion = suggestName(name, known)
  return {
    at: { start: at.start, end: at.start + name.length },
    message: `Tokens have no “${name}”.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`,
    hint: `In quotes, it is searched as text. Known names: ${known.join(', ')}.`,
  }
}

const finishFact = (term: Query | QueryFault, end: number): ReadFact =>
  'kind' in term ? { kind: 'fact', query: term, end } : { kind: 'fault', fault: term }

function readColumn(text: string, start: number, at: number, isInBrackets: boolean, facts: KnownNames): ReadFact {
  const name = text[at] === '"' ? scanQuoted(text, at) : bareColumn(text, at)
  if (!name) return unclosedFault(at, text.length)
  if (!facts.columns.includes(name.value)) {
    const suggestion = suggestName(name.value, facts.columns)
    const hint =
      facts.columns.length === 0 ? 'This trajectory has no columns.' : `Columns: ${facts.columns.join(', ')}.`
    return {
      kind: 'fault',
      fault: {
        at: { start: at, end: Math.max(name.end, at + 1) },
        message: `There is no column “${name.value}”.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`,
        hint,
      },
    }
  }
  const sign = SIGN.exec(text.slice(name.end))?.[0] as Sign | undefined
  if (sign === undefined)
    return {
      kind: 'fault',
      fault: { at: { start, end: name.end }, message: 'Write <, <=, >, >=, = or : and a number after the column.' },
    }
  const valueStart = name.end + sign.length
  const value = scanWord(text, valueStart, isInBrackets)
  const reading: Value = {
    text: value.value,
    isQuoted: false,
    end: value.end,
    sign,
    at: { start: valueStart, end: value.end },
  }
  return finishFact(numberTerm({ kind: 'column', name: name.value }, name.value, reading), value.end)
}

const SIGN = /^(?::|<=|>=|!=|<|>|=)/

function bareColumn(text: string, at: number): ScannedValue<string> {
  const value = /^[^\s<>=!:()"]*/.exec(text.slice(at))?.[0] as string
  return { value, end: at + value.length }
}

function idsTerm({ text, at }: Value): Term | QueryFault {
  const ids = text.split(',').map((part) => (/^\d{1,10}$/.test(part) ? Number(part) : -1))
  if (!ids.includes(-1)) return { kind: 'ids', ids }
  return {
    at: { start: at.start, end: Math.max(at.end, at.start + 1) },
    message: 'Write consecutive token ids with commas: id:1,2,3.',
    hint: 'Write a range of ids as id>=100 id<=200.',
  }
}

function numberTerm(number: NumberName, name: string, { text, sign, at }: Value): Term | QueryFault {
  const place = { start: at.start, end: Math.max(at.end, at.start + 1) }
  if (sign === '!=')
    return { at: place, message: 'There is no operator !=.', hint: `To exclude a number, write -${name}:${text || 1}.` }
  const within =
    sign === ':' || sign === '=' ? text.split(/[,|]/).map(readRange) : [comparedWith(sign, readNumber(text))]
  if (within.every((interval) => interval !== undefined)) return { kind: 'number', number, within }
  return {
    at: place,
    message: sign === ':' ? 'Write a number, a range such as 100-200, or several with commas.' : 'Expected a number.',
  }
}

/** Returns the query of a named fact. Several values are joined by `or`: `kind:prompt|response`. */
function namedTerm(name: NamedFact, { text, isQuoted, sign, at }: Value, { columns }: KnownNames): Query | QueryFault {
  const known: readonly string[] | undefined = name === 'unknown' ? [...NUMBER_FACTS, ...columns] : NAMED_FACTS[name]
  const expected = known ? `Write one of ${known.join(', ')}.` : `Write a name: ${name}:name.`
  if (text === '' || (sign !== ':' && sign !== '='))
    return {
      at: { start: at.start - (text === '' ? 1 : sign.length), end: Math.max(at.end, at.start) },
      message: expected,
    }
  const terms: Term[] = []
  let start = at.start
  for (const value of isQuoted ? [text] : text.split('|')) {
    const place = { start, end: isQuoted ? at.end : start + value.length }
    start = place.end + 1
    if (value === '' || (known && !known.includes(value))) {
      const suggestion = known && suggestName(value, known)
      return {
        at: { start: place.start, end: Math.max(place.end, place.start + 1) },
        message: suggestion === undefined ? expected : `The name “${value}” is unknown. Did you mean ${suggestion}?`,
        ...(suggestion !== undefined && { hint: expected }),
      }
    }
    terms.push({ kind: 'name', name, value, at: place })
  }
  return terms.length === 1 ? elementAt(terms, 0) : { kind: 'or', parts: terms }
}

const isNumberFact = (name: string): name is NumberFact => (NUMBER_FACTS as readonly string[]).includes(name)
const isNamedFact = (name: string): name is NamedFact => Object.hasOwn(NAMED_FACTS, name)
