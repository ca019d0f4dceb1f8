/** Reads `value[key]` and `value[start:stop:step]` as Python does, before jinja2's sandbox checks the result. */

import { elementAt } from '#lib/util/element-at.ts'
import { Markup, stringOf } from './markup.ts'
import { asInt, clampInt, type Int, integer } from './numbers.ts'
import { Bytes, Range } from './objects.ts'
import { codePointLength, codePointSlice, hasSurrogates } from './text/code-points.ts'
import { repr, typeName } from './text/repr.ts'
import { PyDict, PyError, PyObject, PyTuple, type Runtime, Undefined, type Value } from './values.ts'

/** Returns the item; undefined where Python raises TypeError or LookupError. */
export function itemOf(value: Value, key: Value, runtime: Runtime): Value | undefined {
  if (value instanceof PyDict) return typeof key === 'string' ? value.get(key) : hashable(() => value.get(key))
  if (value instanceof Undefined) throw new PyError(value.className, value.message)
  if (value instanceof PyObject && !(value instanceof Markup)) return value.item?.(key, runtime)
  const index = integer(key)
  if (index === undefined) return undefined
  const at = clampInt(index)
  if (Array.isArray(value)) return value.at(at)
  if (value instanceof PyTuple) return value.items.at(at)
  const text = stringOf(value)
  if (text === undefined) return undefined
  const character = characterAt(text, at, runtime)
  return character !== undefined && value instanceof Markup ? new Markup(character) : character
}

/** Returns undefined for a key that cannot be hashed, because no dict contains it. */
function hashable(look: () => Value | undefined): Value | undefined {
  try {
    return look()
  } catch (error) {
    if (error instanceof PyError && error.className === 'TypeError') return undefined
    throw error
  }
}

function characterAt(text: string, index: number, runtime: Runtime): string | undefined {
  if (!hasSurrogates(text)) return text.at(index)
  runtime.step(1 + text.length / 1000)
  const at = index < 0 ? index + codePointLength(text) : index
  return at < 0 ? undefined : codePointSlice(text, at, at + 1) || undefined
}

/** Returns the item, or throws the error that Python raises. */
export function item(value: Value, key: Value, runtime: Runtime): Value {
  if (value instanceof PyDict) {
    const found = value.get(key)
    if (found === undefined) throw new PyError('KeyError', repr(key, runtime))
    return found
  }
  const found = itemOf(value, key, runtime)
  if (found !== undefined) return found
  const name = typeName(value)
  const sequence =
    stringOf(value) !== undefined
      ? 'string'
      : Array.isArray(value)
        ? 'list'
        : value instanceof PyTuple
          ? 'tuple'
          : undefined
  if (sequence === undefined) {
    if (value instanceof PyObject && value.item) throw new PyError('IndexError', `${name} index out of range`)
    throw new PyError('TypeError', `'${name}' object is not subscriptable`)
  }
  if (integer(key) !== undefined) throw new PyError('IndexError', `${sequence} index out of range`)
  const wanted = sequence === 'string' ? `integers, not '${typeName(key)}'` : `integers or slices, not ${typeName(key)}`
  throw new PyError('TypeError', `${sequence} indices must be ${wanted}`)
}

/** Returns value[start:stop:step]; null is an omitted part. Throws PyError if the value cannot be sliced. */
export function slice(value: Value, start: Value, stop: Value, step: Value, runtime: Runtime): Value {
  const cut = (size: number): Cut => readCut(start, stop, step, size)
  if (Array.isArray(value)) return sliceItems(value, cut(value.length), runtime)
  if (value instanceof PyTuple) return new PyTuple(sliceItems(value.items, cut(value.items.length), runtime))
  const text = stringOf(value)
  if (text !== undefined) {
    const part = slicedText(text, cut, runtime)
    return value instanceof Markup ? new Markup(part) : part
  }
  if (value instanceof Range) return slicedRange(value, cut(value.length()))
  if (value instanceof Bytes)
    return new Bytes(Uint8Array.from(sliceItems([...value.bytes], cut(value.length()), runtime)))
  if (value instanceof Undefined) throw new PyError(value.className, value.message)
  if (value instanceof PyDict) throw new PyError('TypeError', "unhashable type: 'slice'")
  throw new PyError('TypeError', `'${typeName(value)}' object is not subscriptable`)
}

/** The indices `from`, `from + step`, … before `to`; `count` is their number. */
interface Cut {
  readonly from: number
  readonly to: number
  readonly step: number
  readonly count: number
}

function readCut(start: Value, stop: Value, step: Value, size: number): Cut {
  const stride = step === null ? 1 : clampInt(sliceIndex(step))
  if (stride === 0) throw new PyError('ValueError', 'slice step cannot be zero')
  const [least, most] = stride > 0 ? [0, size] : [-1, size - 1]
  const within = (value: Value, missing: number): number => {
    if (value === null) return missing
    const index = clampInt(sliceIndex(value))
    return Math.min(most, Math.max(least, index < 0 ? index + size : index))
  }
  const from = within(start, stride > 0 ? least : most)
  const to = within(stop, stride > 0 ? most : least)
  return { from, to, step: stride, count: Math.max(0, Math.ceil((to - from) / stride)) }
}

function sliceIndex(value: Value): Int {
  const index = integer(value)
  if (index !== undefined) return index
  throw new PyError('TypeError', 'slice indices must be integers or None or have an __index__ method')
}

function sliceItems<T>(items: readonly T[], { from, step, count }: Cut, runtime: Runtime): T[] {
  runtime.allocate(count)
  runtime.step(count / 16)
  if (step === 1) return items.slice(from, from + count)
  return Array.from({ length: count }, (_, index) => elementAt(items, from + index * step))
}

function slicedText(text: string, cut: (size: number) => Cut, runtime: Runtime): string {
  runtime.step(text.length / 1000)
  const plain = !hasSurrogates(text)
  const whole = cut(plain ? text.length : codePointLength(text))
  if (whole.step === 1) return codePointSlice(text, whole.from, whole.from + whole.count)
  return sliceItems(plain ? text.split('') : [...text], whole, runtime).join('')
}

function slicedRange(range: Range, { from, to, step }: Cut): Range {
  const start = BigInt(range.start) + BigInt(range.step) * BigInt(from)
  const stride = BigInt(range.step) * BigInt(step)
  const stop = BigInt(range.start) + BigInt(range.step) * BigInt(to)
  return new Range(asInt(start), asInt(stop), asInt(stride))
}
