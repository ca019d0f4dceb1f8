/** Implements str(), repr() and the names of types. */

import { floatRepr, intText } from '../numbers.ts'
import { PyDict, PyError, PyFloat, PyObject, PyTuple, type Runtime, Undefined, type Value } from '../values.ts'
import { quoteText } from './code-points.ts'

/** Returns str(value). */
export function str(value: Value, runtime: Runtime): string {
  if (typeof value === 'string') return value
  if (value instanceof Undefined) return ''
  if (value instanceof PyObject) return value.text ? value.text(runtime) : value.repr(runtime)
  return repr(value, runtime)
}

/** Returns repr(value). Throws PyError (RecursionError) beyond MAX_VALUE_DEPTH levels. */
export const repr = (value: Value, runtime: Runtime): string => nestedRepr(value, runtime, 0)

/** Deepest nesting of a value: CPython's recursion limit, less the frames of the render. */
export const MAX_VALUE_DEPTH = 960

function nestedRepr(value: Value, runtime: Runtime, depth: number): string {
  if (value === null) return 'None'
  if (typeof value === 'string') {
    runtime.allocate(value.length)
    return quoteText(value)
  }
  if (typeof value === 'number' || typeof value === 'bigint') return intText(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value instanceof PyFloat) return floatRepr(value.value)
  if (value instanceof Undefined) return 'Undefined'
  if (value instanceof PyObject) return value.repr(runtime)
  if (depth > MAX_VALUE_DEPTH) {
    throw new PyError('RecursionError', 'maximum recursion depth exceeded while getting the repr of an object')
  }
  const inner = (item: Value): string => nestedRepr(item, runtime, depth + 1)
  if (value instanceof PyDict) {
    runtime.step(value.size)
    return `{${joinReprs(
      Array.from(value.entries(), ([key, item]) => `${inner(key)}: ${inner(item)}`),
      runtime,
    )}}`
  }
  if (value instanceof PyTuple) {
    runtime.step(value.items.length)
    return value.items.length === 1
      ? `(${joinReprs(value.items.map(inner), runtime)},)`
      : `(${joinReprs(value.items.map(inner), runtime)})`
  }
  runtime.step(value.length)
  return `[${joinReprs(value.map(inner), runtime)}]`
}

/** Joins parts and charges the text at every level: values that share their parts can be exponentially longer than their memory. */
function joinReprs(parts: readonly string[], runtime: Runtime): string {
  const text = parts.join(', ')
  runtime.allocate(text.length)
  return text
}

/** Returns type(value).__name__. */
export function typeName(value: Value): string {
  if (value === null) return 'NoneType'
  if (typeof value === 'string') return 'str'
  if (typeof value === 'number' || typeof value === 'bigint') return 'int'
  if (typeof value === 'boolean') return 'bool'
  if (value instanceof PyFloat) return 'float'
  if (value instanceof PyDict) return 'dict'
  if (value instanceof PyTuple) return value.typeName
  if (value instanceof Undefined) return 'Undefined'
  return value instanceof PyObject ? value.typeName : 'list'
}

/** Returns jinja2's object_type_repr, which names the object that lacks an attribute. */
export function objectTypeRepr(value: Value): string {
  if (value === null) return 'None'
  if (value instanceof PyTuple && value.typeName !== 'tuple') return `jinja2.filters.${value.typeName} object`
  const module = value instanceof PyObject && value.module !== undefined ? `${value.module}.` : ''
  return `${module}${typeName(value)} object`
}
