/**
 * Cuts texts into units (words, numbers, tags, runs of spaces, single marks) and numbers the units. Equal text is cut
 * in the same way on both sides, independent of the tokens.
 */
import { FIRST_UNKNOWN } from './spelling.ts'

/** The units of one side. */
export interface AlignmentUnits {
  /** Number of each unit; it is the same for equal text on both sides. */
  readonly classes: Int32Array
  /** Start of each unit among the symbols, then the number of symbols: n + 1 entries. */
  readonly starts: Int32Array
}

/** Cuts both sides into units. */
export function unitsOf(
  left: Int32Array,
  right: Int32Array,
): { readonly left: AlignmentUnits; readonly right: AlignmentUnits } {
  const classify = unitClasses()
  const units = (symbols: Int32Array): AlignmentUnits => {
    const starts = unitStarts(symbols)
    return { starts, classes: classify(symbols, starts) }
  }
  return { left: units(left), right: units(right) }
}

/** Tags such as `<|im_end|>`, `</think>`, `<function=add>`, `<｜Assistant｜>`. Longer ones are text in brackets. */
const LONGEST_TAG = 48
const NEWLINE = 10
const RETURN = 13
const TAB = 9
const SPACE = 32
const LESS = 60
const GREATER = 62

function unitStarts(symbols: Int32Array): Int32Array {
  const starts = new Int32Array(symbols.length + 1)
  let count = 0
  for (let at = 0; at < symbols.length; at = unitEnd(symbols, at)) starts[count++] = at
  starts[count] = symbols.length
  return starts.subarray(0, count + 1)
}

/**
 * Depends only on the text that follows, and looks at most one tag length ahead, so equal texts are soon cut in the
 * same way again.
 */
function unitEnd(symbols: Int32Array, start: number): number {
  const first = symbols[start] as number
  if (first === LESS) return tagEnd(symbols, start)
  if (isLetter(first)) return wordEnd(symbols, start)
  if (isBlank(first)) {
    const end = endWhile(symbols, start, isBlank)
    // The last space belongs to the next word.
    if (symbols[end - 1] !== SPACE || !isLetter(symbols[end])) return end
    return end - 1 > start ? end - 1 : wordEnd(symbols, end)
  }
  if (isDigit(first)) return endWhile(symbols, start, isDigit)
  if (isLineEnd(first)) return endWhile(symbols, start, isLineEnd)
  // A character of several bytes, or a fragment of one.
  if (first >= 0x80 && first < FIRST_UNKNOWN) return endWhile(symbols, start, isContinuation)
  return start + 1
}

/** Words end where a lower-case letter meets an upper-case one, so identifiers become several words. */
function wordEnd(symbols: Int32Array, start: number): number {
  let end = start + 1
  while (isLetter(symbols[end]) && !(isUpper(symbols[end]) && !isUpper(symbols[end - 1]))) end++
  return end
}

function tagEnd(symbols: Int32Array, start: number): number {
  for (let at = start + 1; at < start + LONGEST_TAG; at++) {
    const symbol = symbols[at]
    if (symbol === GREATER) return at + 1
    if (symbol === undefined || symbol === LESS || symbol === SPACE || isLineEnd(symbol)) break
  }
  return start + 1
}

function endWhile(symbols: Int32Array, start: number, test: (symbol: number | undefined) => boolean): number {
  let end = start + 1
  while (test(symbols[end])) end++
  return end
}

const isUpper = (symbol = 0): boolean => symbol >= 65 && symbol <= 90
/** ASCII only; one bit distinguishes lower case. */
const isLetter = (symbol = 0): boolean => symbol < 128 && isUpper(symbol & ~32)
const isDigit = (symbol = 0): boolean => symbol >= 48 && symbol <= 57
const isBlank = (symbol = 0): boolean => symbol === SPACE || symbol === TAB
const isLineEnd = (symbol = 0): boolean => symbol === NEWLINE || symbol === RETURN
const isContinuation = (symbol = 0): boolean => symbol >= 0x80 && symbol < 0xc0

const FIRST_CAPACITY = 64

/** Numbers units by their exact text in order of occurrence, with a hash table that compares its entries. */
function unitClasses(): (symbols: Int32Array, starts: Int32Array) => Int32Array {
  let slots = new Int32Array(FIRST_CAPACITY).fill(-1)
  const hashes: number[] = []
  const known: { readonly symbols: Int32Array; readonly start: number; readonly length: number }[] = []
  const grow = () => {
    slots = new Int32Array(slots.length * 2).fill(-1)
    for (const [number, hash] of hashes.entries()) {
      let slot = hash & (slots.length - 1)
      while (slots[slot] !== -1) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = number
    }
  }
  const numberOf = (symbols: Int32Array, start: number, length: number): number => {
    let hash = length
    for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ (symbols[at] as number), 0x9e3779b1)
    hash ^= hash >>> 15
    let slot = hash & (slots.length - 1)
    for (;;) {
      const number = slots[slot] as number
      if (number === -1) break
      if (isSame(number, symbols, start, length)) return number
      slot = (slot + 1) & (slots.length - 1)
    }
    const number = known.length
    slots[slot] = number
    hashes.push(hash)
    known.push({ symbols, start, length })
    if (known.length * 2 > slots.length) grow()
    return number
  }
  const isSame = (number: number, symbols: Int32Array, start: number, length: number): boolean => {
    const other = known[number] as (typeof known)[number]
    if (other.length !== length) return false
    for (let at = 0; at < length; at++) if (other.symbols[other.start + at] !== symbols[start + at]) return false
    return true
  }
  return (symbols, starts) => {
    const classes = new Int32Array(starts.length - 1)
    for (let index = 0; index < classes.length; index++) {
      const start = starts[index] as number
      classes[index] = numberOf(symbols, start, (starts[index + 1] as number) - start)
    }
    return classes
  }
}
