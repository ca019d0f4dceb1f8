/** Implements iter(), len() and reversed(), and makes lists of the items. */

import { Markup, stringOf } from './markup.ts'
import { codePointLength, lastCharacter } from './text/code-points.ts'
import { typeName } from './text/repr.ts'
import { PyDict, PyError, PyObject, PyTuple, type Runtime, Undefined, type Value } from './values.ts'

/** Iterates over a str by code points, a dict by keys and an undefined value not at all. Throws TypeError if the value is not iterable. */
export function iterate(value: Value, runtime: Runtime): Iterator<Value> {
  const iterator = iteratorOf(value, runtime)
  if (iterator) return iterator
  throw new PyError('TypeError', `'${typeName(value)}' object is not iterable`)
}

/** Iterates like `iterate`, but returns undefined if the value is not iterable. */
export function iteratorOf(value: Value, runtime: Runtime): Iterator<Value> | undefined {
  if (Array.isArray(value)) return value.values()
  const text = stringOf(value)
  if (text !== undefined) return text[Symbol.iterator]()
  if (value instanceof PyDict) return keys(value)
  if (value instanceof PyTuple) return value.items.values()
  if (value instanceof Undefined) return [].values()
  return value instanceof PyObject ? value.iterate?.(runtime) : undefined
}

function* keys(dict: PyDict): Generator<Value> {
  for (const [key] of dict.entries()) yield key
}

/** Iterates with `for … of` and charges a step for each item. */
export function* items(value: Value, runtime: Runtime): Generator<Value> {
  const iterator = iterate(value, runtime)
  for (let next = iterator.next(); !next.done; next = iterator.next()) {
    runtime.step()
    yield next.value
  }
}

/** Returns list(value), or the list itself if the value is one. */
export function toList(value: Value, runtime: Runtime): readonly Value[] {
  const known = value instanceof PyTuple ? value.items : value
  if (Array.isArray(known)) {
    runtime.step(known.length)
    return known
  }
  const list: Value[] = []
  for (const item of items(value, runtime)) {
    list.push(item)
    if (list.length % 1024 === 0) runtime.allocate(1024)
  }
  return list
}

/** Returns len(value). Throws TypeError if it has none. */
export function length(value: Value): number {
  if (Array.isArray(value)) return value.length
  const text = stringOf(value)
  if (text !== undefined) return codePointLength(text)
  if (value instanceof PyDict) return value.size
  if (value instanceof PyTuple) return value.items.length
  if (value instanceof Undefined) return 0
  if (value instanceof PyObject && value.length) return value.length()
  throw new PyError('TypeError', `object of type '${typeName(value)}' has no len()`)
}

/** Returns reversed(value). Throws TypeError if the value cannot be reversed. */
export function reversedOf(value: Value, runtime: Runtime): Iterator<Value> {
  const list = value instanceof PyTuple ? value.items : value
  if (Array.isArray(list)) return backwards(list)
  const text = stringOf(value)
  if (text !== undefined) return charactersBackwards(text, value instanceof Markup)
  if (value instanceof PyDict) return [...keys(value)].reverse().values()
  if (value instanceof Undefined) return [].values()
  const iterator = value instanceof PyObject ? value.reversed?.(runtime) : undefined
  if (iterator) return iterator
  throw new PyError('TypeError', `'${typeName(value)}' object is not reversible`)
}

function* charactersBackwards(text: string, isMarkup: boolean): Generator<Value> {
  for (let end = text.length; end > 0; ) {
    const character = lastCharacter(text, end)
    yield isMarkup ? new Markup(character) : character
    end -= character.length
  }
}

function* backwards(list: readonly Value[]): Generator<Value> {
  for (let index = list.length - 1; index >= 0; index -= 1) yield list[index] ?? null
}

/** Returns the next item; undefined at the end. */
export function nextItem(iterator: Iterator<Value>): Value | undefined {
  const { done, value } = iterator.next()
  return done ? undefined : value
}
