/** Implements pprint.pformat: values over several lines of at most 80 characters, dicts sorted by keys. */

import { compareValues } from '../comparison.ts'
import { PyDict, PyError, PyTuple, type Runtime, type Value } from '../values.ts'
import { codePointLength, quoteText, splitLines } from './code-points.ts'
import { MAX_VALUE_DEPTH, repr, typeName } from './repr.ts'

const WIDTH = 80

/** Returns pprint.pformat(value). */
export function pretty(value: Value, runtime: Runtime): string {
  return laidOut(value, 0, 0, 0, runtime)
}

/** Lays out a value. `indent` is its column, `allowance` the number of characters that must fit after it. */
function laidOut(value: Value, indent: number, allowance: number, level: number, runtime: Runtime): string {
  if (level > MAX_VALUE_DEPTH) {
    throw new PyError('RecursionError', 'maximum recursion depth exceeded while getting the repr of an object')
  }
  const flat = oneLine(value, level, runtime)
  if (codePointLength(flat) <= WIDTH - indent - allowance) return flat
  if (typeof value === 'string') return value === '' ? flat : text(value, indent, allowance, level + 1)
  if (value instanceof PyDict) return `{${dictItems(value, indent, allowance + 1, level + 1, runtime)}}`
  if (Array.isArray(value)) return `[${listItems(value, indent, allowance + 1, level + 1, runtime)}]`
  if (value instanceof PyTuple && value.typeName === 'tuple') {
    const end = value.items.length === 1 ? ',)' : ')'
    return `(${listItems(value.items, indent, allowance + end.length, level + 1, runtime)}${end}`
  }
  return flat
}

/** Returns the repr with sorted dicts. */
function oneLine(value: Value, level: number, runtime: Runtime): string {
  if (level > MAX_VALUE_DEPTH) {
    throw new PyError('RecursionError', 'maximum recursion depth exceeded while getting the repr of an object')
  }
  runtime.step()
  const inner = (item: Value): string => oneLine(item, level + 1, runtime)
  const joined = (parts: readonly string[]): string => {
    const line = parts.join(', ')
    runtime.allocate(line.length)
    return line
  }
  if (value instanceof PyDict)
    return `{${joined(sortedEntries(value, runtime).map(([key, item]) => `${inner(key)}: ${inner(item)}`))}}`
  if (Array.isArray(value)) return `[${joined(value.map(inner))}]`
  if (value instanceof PyTuple && value.typeName === 'tuple') {
    return value.items.length === 1 ? `(${joined(value.items.map(inner))},)` : `(${joined(value.items.map(inner))})`
  }
  return repr(value, runtime)
}

/** Returns the entries in the order of their keys; keys that cannot be compared are ordered by the names of their types. */
function sortedEntries(dict: PyDict, runtime: Runtime): (readonly [Value, Value])[] {
  const before = (a: Value, b: Value): boolean => {
    try {
      return compareValues('<', a, b, runtime)
    } catch (error) {
      if (error instanceof PyError && error.className === 'TypeError') return typeName(a) < typeName(b)
      throw error
    }
  }
  return [...dict.entries()].sort(([a], [b]) => (before(a, b) ? -1 : before(b, a) ? 1 : 0))
}

function dictItems(dict: PyDict, indent: number, allowance: number, level: number, runtime: Runtime): string {
  const entries = sortedEntries(dict, runtime)
  return entries
    .map(([key, item], index) => {
      const keyText = oneLine(key, level, runtime)
      const last = index === entries.length - 1
      const column = indent + 1 + codePointLength(keyText) + 2
      return `${keyText}: ${laidOut(item, column, last ? allowance : 1, level, runtime)}`
    })
    .join(`,\n${' '.repeat(indent + 1)}`)
}

function listItems(
  items: readonly Value[],
  indent: number,
  allowance: number,
  level: number,
  runtime: Runtime,
): string {
  return items
    .map((item, index) => laidOut(item, indent + 1, index === items.length - 1 ? allowance : 1, level, runtime))
    .join(`,\n${' '.repeat(indent + 1)}`)
}

/** Cuts a long text after spaces into pieces, one below the other; in parentheses at the top level. */
function text(value: string, column: number, behind: number, level: number): string {
  const outer = level === 1
  const indent = outer ? column + 1 : column
  const allowance = outer ? behind + 1 : behind
  const width = WIDTH - indent
  const lines = splitLines(value, true)
  const chunks = lines.flatMap((line, index) => {
    const last = index === lines.length - 1
    const whole = quoteText(line)
    return codePointLength(whole) <= (last ? width - allowance : width)
      ? [whole]
      : cutAtSpaces(line, width, last ? allowance : 0)
  })
  if (chunks.length === 1) return quoteText(lines.at(-1) ?? '')
  const joined = chunks.join(`\n${' '.repeat(indent)}`)
  return outer ? `(${joined})` : joined
}

function cutAtSpaces(line: string, width: number, allowance: number): string[] {
  const parts = line.match(/\S+\s*|\s+/gu) ?? []
  const chunks: string[] = []
  let current = ''
  for (const [index, part] of parts.entries()) {
    const most = index === parts.length - 1 ? width - allowance : width
    if (codePointLength(quoteText(current + part)) > most) {
      if (current !== '') chunks.push(quoteText(current))
      current = part
    } else {
      current += part
    }
  }
  return current === '' ? chunks : [...chunks, quoteText(current)]
}
