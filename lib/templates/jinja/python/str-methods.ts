/** The methods of Python's str that templates can call; attributes.ts adds format and format_map, which the sandbox restricts. */
import {
  indexOf,
  namedArguments,
  noArguments,
  oneArgument,
  parsedArguments,
  positionalArguments,
  sizeArgument,
} from './arguments.ts'
import { items, iteratorOf } from './iteration.ts'
import { stringOf } from './markup.ts'
import { clampInt, integer } from './numbers.ts'
import { item } from './subscript.ts'
import {
  capitalize,
  caseFold,
  codePointLength,
  isAllSpace,
  isAlpha,
  isAlphanumeric,
  isAscii,
  isDecimal,
  isDigit,
  isIdentifier,
  isLower,
  isLowerText,
  isNumeric,
  isPrintable,
  isTitle,
  isUpper,
  isUpperText,
  splitLines,
  swapCase,
  titleCaseText,
} from './text/code-points.ts'
import { encodeText } from './text/encodings.ts'
import { typeName } from './text/repr.ts'
import {
  countOccurrences,
  find,
  findLast,
  justifyText,
  replaceText,
  split,
  splitFromEnd,
  stripText,
  tabsExpanded,
  windowOf,
  zeroFilled,
} from './text/text-search.ts'
import { type Arguments, PyDict, PyError, PyTuple, type Runtime, type Value } from './values.ts'

/** A method of str; `self` is the text of the str. Throws PyError. */
export type StrMethod = (self: string, call: Arguments, runtime: Runtime) => Value

const typeError = (message: string): PyError => new PyError('TypeError', message)

/** Returns the name of a value's type in messages about arguments. */
const argumentType = (value: Value): string => (value === null ? 'None' : typeName(value))

/** Makes a method that returns the text in another case. */
/** Measured: these functions look at each character alone, which takes half a second for a million of them. */
const CASED_STEPS = 8

const changing =
  (name: string, change: (text: string) => string, stepsOfCharacter = 0): StrMethod =>
  (self, call, runtime) => {
    noArguments(`str.${name}`, call)
    runtime.allocate(self.length)
    runtime.step(stepsOfCharacter * self.length)
    return change(self)
  }

const testing =
  (name: string, holds: (text: string) => boolean): StrMethod =>
  (self, call, runtime) => {
    noArguments(`str.${name}`, call)
    runtime.step(1 + self.length / 16)
    return holds(self)
  }

/** Makes a condition that is true if there are characters and all of them pass. */
const every =
  (test: (character: string) => boolean) =>
  (text: string): boolean =>
    text !== '' && [...text].every(test)

function isTitled(text: string): boolean {
  let previousCased = false
  let any = false
  for (const character of text) {
    const starts = isUpper(character) || isTitle(character)
    if (starts ? previousCased : isLower(character) && !previousCased) return false
    previousCased = starts || isLower(character)
    any ||= previousCased
  }
  return any
}

const stripping =
  (name: string, side: 'left' | 'right' | 'both'): StrMethod =>
  (self, call, runtime) => {
    const [characters] = positionalArguments(name, 0, 1, call)
    runtime.step(1 + self.length / 1000)
    if (characters === undefined || characters === null) return stripText(self, undefined, side)
    const text = stringOf(characters)
    if (text === undefined) throw typeError(`${name} arg must be None or str`)
    return stripText(self, text, side)
  }

const splitting =
  (name: string, cut: typeof split): StrMethod =>
  (self, call, runtime) => {
    const [separator = null, most = -1] = namedArguments(name, ['sep', 'maxsplit'], call)
    const limit = sizeArgument(most)
    const text = stringOf(separator)
    if (separator !== null && text === undefined) {
      throw typeError(`must be str or None, not ${typeName(separator)}`)
    }
    const parts = cut(self, text, limit)
    runtime.step(1 + self.length / 1000 + parts.length / 16)
    runtime.allocate(parts.length)
    return parts
  }

/** Reads the arguments `(part, start, end)` of find, count and startswith. */
function searchArguments(
  name: string,
  call: Arguments,
): { part: Value; start: number | undefined; end: number | undefined } {
  const [part = null, start = null, end = null] = parsedArguments(`str.${name}`, 1, 3, call)
  return { part, start: boundArgument(start), end: boundArgument(end) }
}

function boundArgument(value: Value): number | undefined {
  if (value === null) return undefined
  const index = integer(value)
  if (index !== undefined) return clampInt(index)
  throw typeError('slice indices must be integers or None or have an __index__ method')
}

const finding =
  (name: string, look: typeof find, isIndex: boolean): StrMethod =>
  (self, call, runtime) => {
    const { part, start, end } = searchArguments(name, call)
    const text = stringOf(part)
    if (text === undefined) throw typeError(`must be str, not ${typeName(part)}`)
    runtime.step(1 + self.length / 1000)
    const found = look(self, text, windowOf(self, start, end))
    if (isIndex && found < 0) throw new PyError('ValueError', 'substring not found')
    return found
  }

const edge =
  (name: 'startswith' | 'endswith'): StrMethod =>
  (self, call) => {
    const { part, start, end } = searchArguments(name, call)
    const window = windowOf(self, start, end)
    const fits = (text: string): boolean => {
      if (window === undefined || text.length > window.end - window.start) return false
      return name === 'startswith' ? self.startsWith(text, window.start) : self.endsWith(text, window.end)
    }
    if (part instanceof PyTuple) return part.items.some((item) => fits(tupleText(name, item)))
    const text = stringOf(part)
    if (text === undefined) {
      throw typeError(`${name} first arg must be str or a tuple of str, not ${typeName(part)}`)
    }
    return fits(text)
  }

function tupleText(name: string, item: Value): string {
  const text = stringOf(item)
  if (text === undefined) throw typeError(`tuple for ${name} must only contain str, not ${typeName(item)}`)
  return text
}

const filling =
  (name: string, align: 'left' | 'right' | 'center'): StrMethod =>
  (self, call, runtime) => {
    const [width = 0, fill = ' '] = positionalArguments(name, 1, 2, call)
    const size = sizeArgument(width)
    const character = stringOf(fill)
    if (character === undefined) {
      throw typeError(`The fill character must be a unicode character, not ${typeName(fill)}`)
    }
    if (codePointLength(character) !== 1) throw typeError('The fill character must be exactly one character long')
    return justifyText(self, size, character, align, runtime)
  }

const partitioning =
  (name: 'partition' | 'rpartition'): StrMethod =>
  (self, call) => {
    const separator = oneArgument(`str.${name}`, call)
    const text = stringOf(separator)
    if (text === undefined) throw typeError(`must be str, not ${typeName(separator)}`)
    if (text === '') throw new PyError('ValueError', 'empty separator')
    const at = name === 'partition' ? self.indexOf(text) : self.lastIndexOf(text)
    if (at < 0) return new PyTuple(name === 'partition' ? [self, '', ''] : ['', '', self])
    return new PyTuple([self.slice(0, at), text, self.slice(at + text.length)])
  }

const removing =
  (name: 'removeprefix' | 'removesuffix'): StrMethod =>
  (self, call) => {
    const affix = oneArgument(`str.${name}`, call)
    const text = stringOf(affix)
    if (text === undefined) throw typeError(`${name}() argument must be str, not ${argumentType(affix)}`)
    if (name === 'removeprefix') return self.startsWith(text) ? self.slice(text.length) : self
    return text !== '' && self.endsWith(text) ? self.slice(0, -text.length) : self
  }

/** Implements str.join, and the filter join for texts. */
export function joinedText(separator: string, parts: Value, runtime: Runtime): string {
  if (iteratorOf(parts, runtime) === undefined) throw typeError('can only join an iterable')
  const texts: string[] = []
  for (const part of items(parts, runtime)) {
    const text = stringOf(part)
    if (text === undefined) {
      throw typeError(`sequence item ${texts.length}: expected str instance, ${typeName(part)} found`)
    }
    runtime.allocate(text.length + separator.length)
    texts.push(text)
  }
  return texts.join(separator)
}

function replaceMethod(self: string, call: Arguments, runtime: Runtime): Value {
  const [old = '', by = '', most = -1] = positionalArguments('str.replace', 2, 3, call)
  const [oldText, byText] = [stringOf(old), stringOf(by)]
  if (oldText === undefined) throw typeError(`replace() argument 1 must be str, not ${argumentType(old)}`)
  if (byText === undefined) throw typeError(`replace() argument 2 must be str, not ${argumentType(by)}`)
  return replaceText(self, oldText, byText, sizeArgument(most), runtime)
}

/** Implements str.translate: the table has another text or code point for a character, None to remove it, or no entry. */
function translateText(self: string, call: Arguments, runtime: Runtime): Value {
  const table = oneArgument('str.translate', call)
  let result = ''
  for (const character of self) {
    runtime.step()
    const code = character.codePointAt(0) ?? 0
    const by = translationOf(table, code, runtime)
    const text = by === undefined ? character : by === null ? '' : translation(by)
    runtime.allocate(text.length)
    result += text
  }
  return result
}

function translationOf(table: Value, code: number, runtime: Runtime): Value | undefined {
  if (table instanceof PyDict) return table.get(code)
  try {
    return item(table, code, runtime)
  } catch (error) {
    if (error instanceof PyError && error.className === 'IndexError') return undefined
    throw error
  }
}

function translation(by: Value): string {
  const text = stringOf(by)
  if (text !== undefined) return text
  const code = integer(by)
  if (code === undefined) throw typeError('character mapping must return integer, None or str')
  if (code < 0 || code > 0x10ffff) throw new PyError('ValueError', 'character mapping must be in range(0x110000)')
  return String.fromCodePoint(Number(code))
}

function tableOf(_self: string, call: Arguments): Value {
  const [from = null, to, gone] = positionalArguments('str.maketrans', 1, 3, call)
  const [fromText, toText, goneText] = [stringOf(from), stringOf(to ?? null), stringOf(gone ?? null)]
  if (to === undefined) return tableOfDict(from)
  if (toText === undefined) {
    throw typeError(`maketrans() argument 2 must be str, not ${argumentType(to)}`)
  }
  if (gone !== undefined && goneText === undefined) {
    throw typeError(`maketrans() argument 3 must be str, not ${argumentType(gone)}`)
  }
  if (fromText === undefined) {
    throw typeError('first maketrans argument must be a string if there is a second argument')
  }
  const [sources, targets] = [[...fromText], [...toText]]
  if (sources.length !== targets.length) {
    throw new PyError('ValueError', 'the first two maketrans arguments must have equal length')
  }
  const table = PyDict.of(
    sources.map((source, index) => [source.codePointAt(0) ?? 0, targets[index]?.codePointAt(0) ?? 0]),
  )
  for (const character of goneText ?? '') table.set(character.codePointAt(0) ?? 0, null)
  return table
}

function tableOfDict(from: Value): Value {
  if (!(from instanceof PyDict)) throw typeError('if you give only one argument to maketrans it must be a dict')
  const table = new PyDict()
  for (const [key, value] of from.entries()) {
    const text = stringOf(key)
    if (text !== undefined && codePointLength(text) !== 1) {
      throw new PyError('ValueError', 'string keys in translate table must be of length 1')
    }
    if (text === undefined && integer(key) === undefined) {
      throw typeError('keys in translate table must be strings or integers')
    }
    table.set(text === undefined ? key : (text.codePointAt(0) ?? 0), value)
  }
  return table
}

/** Methods of str by name. */
export const strMethods: ReadonlyMap<string, StrMethod> = new Map<string, StrMethod>([
  ['upper', changing('upper', (text) => text.toUpperCase())],
  ['lower', changing('lower', (text) => text.toLowerCase())],
  ['title', changing('title', titleCaseText, CASED_STEPS)],
  ['capitalize', changing('capitalize', capitalize)],
  ['casefold', changing('casefold', caseFold)],
  ['swapcase', changing('swapcase', swapCase, CASED_STEPS)],
  ['isalpha', testing('isalpha', every(isAlpha))],
  ['isalnum', testing('isalnum', every(isAlphanumeric))],
  ['isascii', testing('isascii', isAscii)],
  ['isdecimal', testing('isdecimal', every(isDecimal))],
  ['isdigit', testing('isdigit', every(isDigit))],
  ['isnumeric', testing('isnumeric', every(isNumeric))],
  ['isidentifier', testing('isidentifier', isIdentifier)],
  ['isspace', testing('isspace', isAllSpace)],
  ['isprintable', testing('isprintable', (text) => [...text].every(isPrintable))],
  ['islower', testing('islower', isLowerText)],
  ['isupper', testing('isupper', isUpperText)],
  ['istitle', testing('istitle', isTitled)],
  ['strip', stripping('strip', 'both')],
  ['lstrip', stripping('lstrip', 'left')],
  ['rstrip', stripping('rstrip', 'right')],
  ['split', splitting('split', split)],
  ['rsplit', splitting('rsplit', splitFromEnd)],
  [
    'splitlines',
    (self, call, runtime) => {
      const [keep = false] = namedArguments('splitlines', ['keepends'], call)
      const lines = splitLines(self, indexOf(keep) !== 0)
      runtime.step(1 + self.length / 1000 + lines.length / 16)
      return lines
    },
  ],
  ['find', finding('find', find, false)],
  ['rfind', finding('rfind', findLast, false)],
  ['index', finding('index', find, true)],
  ['rindex', finding('rindex', findLast, true)],
  ['count', finding('count', countOccurrences, false)],
  ['startswith', edge('startswith')],
  ['endswith', edge('endswith')],
  ['replace', replaceMethod],
  ['center', filling('str.center', 'center')],
  ['ljust', filling('str.ljust', 'left')],
  ['rjust', filling('str.rjust', 'right')],
  ['zfill', (self, call, runtime) => zeroFilled(self, sizeArgument(oneArgument('str.zfill', call)), runtime)],
  [
    'expandtabs',
    (self, call, runtime) => {
      const [size = 8] = namedArguments('expandtabs', ['tabsize'], call)
      runtime.step(1 + self.length / 64)
      return tabsExpanded(self, clampInt(indexOf(size)), runtime)
    },
  ],
  ['partition', partitioning('partition')],
  ['rpartition', partitioning('rpartition')],
  ['removeprefix', removing('removeprefix')],
  ['removesuffix', removing('removesuffix')],
  ['join', (self, call, runtime) => joinedText(self, oneArgument('str.join', call), runtime)],
  ['translate', translateText],
  ['maketrans', tableOf],
  [
    'encode',
    (self, call, runtime) => {
      const [encoding = 'utf-8', errors = 'strict'] = namedArguments('encode', ['encoding', 'errors'], call)
      return encodeText(
        self,
        textArgument('encode', 'encoding', encoding),
        textArgument('encode', 'errors', errors),
        runtime,
      )
    },
  ],
])

function textArgument(method: string, name: string, value: Value): string {
  const text = stringOf(value)
  if (text === undefined) throw typeError(`${method}() argument '${name}' must be str, not ${argumentType(value)}`)
  return text
}
