/**
 * Reads template text as tokens, like jinja2's lexer under trim_blocks and lstrip_blocks. Tokens are read one at a time, so that of a wrong
 * character and a wrong word the first one is reported. Every token costs time in proportion to its length: no pattern here backtracks.
 */
import { isIdentifier, isSpace, quoteText, trimEnd } from '../python/text/code-points.ts'
import { PyFloat, type Value } from '../python/values.ts'
import { LocatedError } from './syntax.ts'

/** One token of a template. */
export interface TemplateToken {
  readonly type: TokenType
  /** Text of a name, a string, an operator or literal text. */
  readonly text: string
  /** Value of an integer or float; null for other types. */
  readonly number: Value
  readonly line: number
}

/** Types of tokens, under jinja2's names. */
export type TokenType =
  | 'data'
  | 'block_begin'
  | 'block_end'
  | 'variable_begin'
  | 'variable_end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'eof'
  | OperatorType

type OperatorType = (typeof operators)[keyof typeof operators]

const operators = {
  '+': 'add',
  '-': 'sub',
  '/': 'div',
  '//': 'floordiv',
  '*': 'mul',
  '%': 'mod',
  '**': 'pow',
  '~': 'tilde',
  '[': 'lbracket',
  ']': 'rbracket',
  '(': 'lparen',
  ')': 'rparen',
  '{': 'lbrace',
  '}': 'rbrace',
  '==': 'eq',
  '!=': 'ne',
  '>': 'gt',
  '>=': 'gteq',
  '<': 'lt',
  '<=': 'lteq',
  '=': 'assign',
  '.': 'dot',
  ':': 'colon',
  '|': 'pipe',
  ',': 'comma',
  ';': 'semicolon',
} as const

/** Returns the next token; after the end, "eof" every time. Throws LocatedError (TemplateSyntaxError). */
export type NextToken = () => TemplateToken

/** Returns a reader of the tokens of a template. */
export function lexer(template: string): NextToken {
  const source = withoutLastNewline(template.replace(/\r\n?/g, '\n'))
  let position = 0
  let line = 1
  let state: 'root' | 'block' | 'variable' = 'root'
  /** Tag that was found after the text that was returned last. */
  let pending: TemplateToken | undefined
  /** Closing brackets that are expected, the innermost last. */
  const brackets: string[] = []
  /** Whether the text that was read last ended a line. */
  let startsLine = true
  let newline = source.indexOf('\n')

  const fail = (message: string): never => {
    throw new LocatedError('TemplateSyntaxError', message, line)
  }
  const token = (type: TokenType, text: string, number: Value = null): TemplateToken => ({ type, text, number, line })
  /** Moves the position to `end` and counts the lines up to it. */
  const advance = (end: number): void => {
    for (; newline !== -1 && newline < end; newline = source.indexOf('\n', newline + 1)) line++
    if (end > position) startsLine = source[end - 1] === '\n'
    position = end
  }
  const whitespaceEnd = (from: number): number => whitespaceEndIn(source, from)

  /** Returns the end of a `raw` block's opening tag at `at`; undefined if there is none. */
  const rawBegin = (at: number): number | undefined => {
    let end = at + 2
    if (source[end] === '-' || source[end] === '+') end++
    end = whitespaceEnd(end)
    if (!source.startsWith('raw', end)) return undefined
    end = whitespaceEnd(end + 3)
    if (source.startsWith('-%}', end)) return whitespaceEnd(end + 3)
    return source.startsWith('%}', end) ? end + 2 : undefined
  }

  /** Returns the text before a tag without the whitespace that `-` or lstrip_blocks removes. */
  const stripped = (text: string, sign: string | undefined, isOutput: boolean): string => {
    if (sign === '-') return trimEnd(text)
    if (sign === '+' || isOutput) return text
    const lineStart = text.lastIndexOf('\n') + 1
    const isBlank = lineStart < text.length && whitespaceEndIn(text, lineStart) === text.length
    return isBlank && (lineStart > 0 || startsLine) ? text.slice(0, lineStart) : text
  }

  const root = (): TemplateToken | undefined => {
    if (position >= source.length) return token('eof', '')
    const tag = nextTag(source, position)
    if (tag === undefined) {
      const found = token('data', source.slice(position))
      advance(source.length)
      return found
    }
    const sign = source[tag + 2]
    const kind = source[tag + 1]
    const text = stripped(source.slice(position, tag), sign, kind === '{')
    const data = text === '' ? undefined : token('data', text)
    advance(tag)
    const raw = kind === '%' ? rawBegin(tag) : undefined
    const signEnd = tag + (sign === '-' || sign === '+' ? 3 : 2)
    if (raw !== undefined) {
      advance(raw)
      pending = rawText()
    } else if (kind === '#') {
      advance(signEnd)
      comment()
    } else {
      state = kind === '{' ? 'variable' : 'block'
      pending = token(`${state}_begin`, source.slice(tag, signEnd))
      advance(signEnd)
    }
    return data
  }

  const rawText = (): TemplateToken | undefined => {
    for (let at = source.indexOf('{%', position); at !== -1; at = source.indexOf('{%', at + 2)) {
      const sign = source[at + 2]
      const wordAt = whitespaceEnd(at + (sign === '-' || sign === '+' ? 3 : 2))
      if (!source.startsWith('endraw', wordAt)) continue
      const end = blockEnd(whitespaceEnd(wordAt + 6))
      if (end === undefined) continue
      const text = stripped(source.slice(position, at), sign, false)
      const found = text === '' ? undefined : token('data', text)
      advance(end)
      return found
    }
    // At the very end of the template, jinja2 does not report the missing tag.
    return position < source.length ? fail('Missing end of raw directive') : undefined
  }

  const comment = (): void => {
    const close = source.indexOf('#}', position)
    if (close === -1) {
      if (position < source.length) fail('Missing end of comment tag')
      return
    }
    const sign = close > position ? source[close - 1] : undefined
    if (sign === '-') advance(whitespaceEnd(close + 2))
    else advance(close + (sign !== '+' && source[close + 2] === '\n' ? 3 : 2))
  }

  /** Returns the end of a statement tag's closing part at `at`; undefined if there is none. */
  const blockEnd = (at: number): number | undefined => {
    if (source.startsWith('%}', at)) return at + (source[at + 2] === '\n' ? 3 : 2)
    if (source.startsWith('-%}', at)) return whitespaceEnd(at + 3)
    return source.startsWith('+%}', at) ? at + 3 : undefined
  }

  const variableEnd = (at: number): number | undefined => {
    if (source.startsWith('-}}', at)) return whitespaceEnd(at + 3)
    return source.startsWith('}}', at) ? at + 2 : undefined
  }

  const inTag = (): TemplateToken | undefined => {
    const inside = state === 'block' ? 'block' : 'variable'
    const end = brackets.length > 0 ? undefined : inside === 'block' ? blockEnd(position) : variableEnd(position)
    if (end !== undefined) {
      const found = token(`${inside}_end`, source.slice(position, end))
      advance(end)
      state = 'root'
      return found
    }
    const blank = whitespaceEnd(position)
    if (blank > position) {
      advance(blank)
      return undefined
    }
    if (position >= source.length) return token('eof', '')
    const found = numberAt() ?? nameAt() ?? stringAt() ?? operatorAt()
    if (found) return found
    const character = String.fromCodePoint(source.codePointAt(position) ?? 0)
    return fail(`unexpected char ${quoteText(character)} at ${[...source.slice(0, position)].length}`)
  }

  const numberAt = (): TemplateToken | undefined => {
    if (!isDigit(source.charCodeAt(position))) return undefined
    const float = source[position - 1] === '.' ? undefined : matchEnd(FLOAT, source, position)
    const end = float ?? matchEnd(INTEGER, source, position)
    if (end === undefined) return undefined
    const text = source.slice(position, end)
    const digits = text.replaceAll('_', '')
    const found =
      float === undefined
        ? token('integer', text, wholeNumber(digits))
        : token('float', text, new PyFloat(Number(digits)))
    advance(end)
    return found
  }

  const nameAt = (): TemplateToken | undefined => {
    const code = source.charCodeAt(position)
    if (!isWordCode(code) && code < 0x80) return undefined
    let end: number | undefined = position
    while (isWordCode(source.charCodeAt(end))) end++
    const isAscii = end > position && !(source.charCodeAt(end) > 0x7f)
    if (!isAscii) end = matchEnd(NAME, source, position)
    if (end === undefined) return undefined
    const text = source.slice(position, end)
    if (!isAscii && !isIdentifier(text)) fail('Invalid character in identifier')
    const found = token('name', text)
    advance(end)
    return found
  }

  const stringAt = (): TemplateToken | undefined => {
    const quote = source[position]
    if (quote !== '"' && quote !== "'") return undefined
    let end = position + 1
    while (end < source.length && source[end] !== quote) end += source[end] === '\\' ? 2 : 1
    if (end >= source.length) return undefined
    const found = token('string', unescapeString(source.slice(position + 1, end), fail))
    advance(end + 1)
    return found
  }

  const operatorAt = (): TemplateToken | undefined => {
    const two = source.slice(position, position + 2)
    const text = OPERATORS.has(two) ? two : two.slice(0, 1)
    const type = OPERATORS.get(text)
    if (type === undefined) return undefined
    const closing = CLOSING.get(text)
    if (closing !== undefined) brackets.push(closing)
    if (text === ')' || text === ']' || text === '}') {
      const expected = brackets.pop()
      if (expected === undefined) fail(`unexpected '${text}'`)
      if (expected !== text) fail(`unexpected '${text}', expected '${expected}'`)
    }
    const found = token(type, text)
    advance(position + text.length)
    return found
  }

  return () => {
    for (;;) {
      const waiting = pending
      pending = undefined
      const found = waiting ?? (state === 'root' ? root() : inTag())
      if (found) return found
    }
  }
}

const OPERATORS: ReadonlyMap<string, OperatorType> = new Map(Object.entries(operators))

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isWordCode = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || isDigit(code)

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['(', ')'],
  ['[', ']'],
])

/** Removes one final newline, because keep_trailing_newline is off. */
const withoutLastNewline = (source: string): string => (source.endsWith('\n') ? source.slice(0, -1) : source)

const DIGITS = String.raw`(?:\d+_)*\d+`
const FLOAT = new RegExp(String.raw`${DIGITS}(?:(?:\.${DIGITS})?e[+-]?${DIGITS}|\.${DIGITS})`, 'iy')
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy
const NAME = /[\p{L}\p{N}\p{XID_Continue}]+/uy

function matchEnd(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : undefined
}

function whitespaceEndIn(text: string, from: number): number {
  let end = from
  while (isSpaceAt(text, end)) end++
  return end
}

function isSpaceAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (
    code === 0x20 || code === 0x0a || (!(code > 0x20 && code < 0x7f) && at < text.length && isSpace(text.charAt(at)))
  )
}

/** Returns the index of the next `{%`, `{{` or `{#`. */
function nextTag(source: string, from: number): number | undefined {
  for (let at = source.indexOf('{', from); at !== -1; at = source.indexOf('{', at + 1)) {
    const next = source[at + 1]
    if (next === '%' || next === '{' || next === '#') return at
  }
  return undefined
}

function wholeNumber(digits: string): Value {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : BigInt(digits)
}

/**
 * Returns the text between quotes with its escapes replaced. jinja2 first writes characters outside ASCII as escapes, so that a backslash
 * before such a character escapes the backslash of its escape.
 */
function unescapeString(text: string, fail: (message: string) => never): string {
  if (!text.includes('\\')) return text
  const ascii = text.replace(/[^\0-\x7f]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    const hexadecimal = code.toString(16)
    if (code < 0x100) return `\\x${hexadecimal.padStart(2, '0')}`
    return code < 0x10000 ? `\\u${hexadecimal.padStart(4, '0')}` : `\\U${hexadecimal.padStart(8, '0')}`
  })
  return ascii.replace(ESCAPE, (whole: string, octal?: string) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
    const letter = whole[1] ?? ''
    const length = CODE_LENGTHS.get(letter)
    if (length !== undefined) {
      if (whole.length < 2 + length) fail(`truncated \\${letter}${'X'.repeat(length)} escape`)
      const code = Number.parseInt(whole.slice(2), 16)
      return code > 0x10ffff ? fail('illegal Unicode character') : String.fromCodePoint(code)
    }
    if (letter === 'N') return fail(whole.length > 4 ? 'unknown Unicode character name' : NAMELESS)
    return SIMPLE_ESCAPES.get(letter) ?? whole
  })
}

const ESCAPE = /\\(?:([0-7]{1,3})|x[\da-fA-F]{0,2}|u[\da-fA-F]{0,4}|U[\da-fA-F]{0,8}|N(?:\{[^}]*\})?|.)/gs
const CODE_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
])
const NAMELESS = 'malformed \\N character escape'
const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', ''],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

/** Returns the name of a token in jinja2's messages. */
export const describeToken = ({ type, text }: TemplateToken): string => (type === 'name' ? text : describeType(type))

/** Returns the name of a token type in jinja2's messages. */
export const describeType = (type: string): string => DESCRIPTIONS.get(type) ?? type

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(operators).map(([text, type]) => [type, text] as const),
  ['block_begin', 'begin of statement block'],
  ['block_end', 'end of statement block'],
  ['variable_begin', 'begin of print statement'],
  ['variable_end', 'end of print statement'],
  ['data', 'template data / text'],
  ['eof', 'end of template'],
])
