/** Implements `==`, `<`, `<=`, `>`, `>=`, `in` and truth as in Python. */

import { iterate } from './iteration.ts'
import { stringOf } from './markup.ts'
import { numeric, order } from './numbers.ts'
import { MAX_VALUE_DEPTH, typeName } from './text/repr.ts'
import { PyDict, PyError, PyFloat, PyObject, PyTuple, type Runtime, Undefined, type Value } from './values.ts'

/** Signs of the comparisons by order. */
export type OrderSign = '<' | '<=' | '>' | '>='

/** Returns `a == b`; `!=` is its negation. */
export const equals = (a: Value, b: Value, runtime: Runtime): boolean => deepEquals(a, b, runtime, 0)

function deepEquals(a: Value, b: Value, runtime: Runtime, depth: number): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b
  if (a === null || b === null) return a === b
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return order(x, y) === 0
  const [left, right] = [stringOf(a), stringOf(b)]
  if (left !== undefined && right !== undefined) return left === right
  if (a instanceof Undefined || b instanceof Undefined) return a instanceof Undefined && b instanceof Undefined
  if (depth > MAX_VALUE_DEPTH) throw new PyError('RecursionError', 'maximum recursion depth exceeded in comparison')
  const sameItem = (item: Value, other: Value): boolean => same(item, other, runtime, depth + 1)
  if (isList(a) && isList(b)) return a.length === b.length && sameItems(a, b, sameItem, runtime)
  if (a instanceof PyTuple && b instanceof PyTuple) {
    return a.items.length === b.items.length && sameItems(a.items, b.items, sameItem, runtime)
  }
  if (a instanceof PyDict && b instanceof PyDict) return sameEntries(a, b, sameItem, runtime)
  if (a instanceof PyObject && a.equals) return a.equals(b, runtime)
  if (b instanceof PyObject && b.equals) return b.equals(a, runtime)
  return a === b
}

/** Whether containers treat two items as the same: an item is the same as itself, even NaN. */
const same = (a: Value, b: Value, runtime: Runtime, depth: number): boolean =>
  a === b || deepEquals(a, b, runtime, depth)

function sameItems(
  a: readonly Value[],
  b: readonly Value[],
  sameItem: (item: Value, other: Value) => boolean,
  runtime: Runtime,
): boolean {
  runtime.step(a.length)
  return a.every((item, index) => sameItem(item, b[index] ?? null))
}

function sameEntries(
  a: PyDict,
  b: PyDict,
  sameItem: (item: Value, other: Value) => boolean,
  runtime: Runtime,
): boolean {
  if (a.size !== b.size) return false
  runtime.step(a.size)
  for (const [key, value] of a.entries()) {
    const other = b.get(key)
    if (other === undefined || !sameItem(value, other)) return false
  }
  return true
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value)

/** Returns `a < b`, or the comparison of another sign. Throws TypeError if the values have no order. */
export const compareValues = (sign: OrderSign, a: Value, b: Value, runtime: Runtime): boolean =>
  deepCompare(sign, a, b, runtime, 0)

function deepCompare(sign: OrderSign, a: Value, b: Value, runtime: Runtime, depth: number): boolean {
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return holds(sign, order(x, y))
  const [left, right] = [stringOf(a), stringOf(b)]
  if (left !== undefined && right !== undefined) return holds(sign, textOrder(left, right))
  for (const side of [a, b]) if (side instanceof Undefined) throw new PyError(side.className, side.message)
  if (depth > MAX_VALUE_DEPTH) throw new PyError('RecursionError', 'maximum recursion depth exceeded in comparison')
  if (isList(a) && isList(b)) return compareItems(sign, a, b, runtime, depth)
  if (a instanceof PyTuple && b instanceof PyTuple) return compareItems(sign, a.items, b.items, runtime, depth)
  throw new PyError('TypeError', `'${sign}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`)
}

/** Compares two sequences: the first items that differ decide, else the lengths. */
function compareItems(
  sign: OrderSign,
  a: readonly Value[],
  b: readonly Value[],
  runtime: Runtime,
  depth: number,
): boolean {
  const shared = Math.min(a.length, b.length)
  runtime.step(shared)
  for (let index = 0; index < shared; index += 1) {
    const [x = null, y = null] = [a[index], b[index]]
    if (!same(x, y, runtime, depth + 1)) return deepCompare(sign, x, y, runtime, depth + 1)
  }
  return holds(sign, a.length - b.length)
}

/** Whether an order fits a sign; NaN fits none. */
function holds(sign: OrderSign, order: number): boolean {
  if (sign === '<') return order < 0
  if (sign === '<=') return order <= 0
  return sign === '>' ? order > 0 : order >= 0
}

/** Compares texts by code points: UTF-16 puts surrogates before U+E000 and beyond. */
function textOrder(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  let at = 0
  while (at < shared && a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  if (at === shared) return a.length - b.length
  const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
  const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
  return isSurrogate(x) === isSurrogate(y)
    ? x - y
    : isSurrogate(x)
      ? y >= 0xe000
        ? 1
        : x - y
      : x >= 0xe000
        ? -1
        : x - y
}

/** Returns `needle in container`. */
export function contains(needle: Value, container: Value, runtime: Runtime): boolean {
  const text = stringOf(container)
  if (text !== undefined) {
    const part = stringOf(needle)
    if (part === undefined) {
      throw new PyError('TypeError', `'in <string>' requires string as left operand, not ${typeName(needle)}`)
    }
    runtime.step(1 + text.length / 1000)
    return text.includes(part)
  }
  if (container instanceof PyDict) return container.has(needle)
  const items = container instanceof PyTuple ? container.items : container
  if (isList(items)) {
    runtime.step(items.length)
    return items.some((item) => same(item, needle, runtime, 0))
  }
  if (container instanceof Undefined) return false
  if (container instanceof PyObject) {
    if (container.contains) return container.contains(needle, runtime)
    if (container.iterate) {
      for (const item of { [Symbol.iterator]: () => iterate(container, runtime) }) {
        runtime.step()
        if (same(item, needle, runtime, 0)) return true
      }
      return false
    }
  }
  throw new PyError('TypeError', `argument of type '${typeName(container)}' is not iterable`)
}

/** Returns `bool(value)`. */
export function truth(value: Value): boolean {
  if (typeof value === 'boolean') return value
  if (value === null || value instanceof Undefined) return false
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return Boolean(value)
  if (value instanceof PyFloat) return value.value !== 0
  if (value instanceof PyDict) return value.size > 0
  if (value instanceof PyTuple) return value.items.length > 0
  if (value instanceof PyObject) return value.truth ? value.truth() : value.length?.() !== 0
  return value.length > 0
}
