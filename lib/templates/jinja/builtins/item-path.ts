/** Attribute paths of filters, such as `address.city` and `items.0`. */
import { getItem } from '../python/attributes.ts'
import { stringOf } from '../python/markup.ts'
import { readInt } from '../python/numbers.ts'
import { isDecimal } from '../python/text/code-points.ts'
import { type Runtime, Undefined, type Value } from '../python/values.ts'

/** Returns a function that reads the attribute of an item (jinja2's make_attrgetter). None means the item itself. */
export function itemPath(attribute: Value, runtime: Runtime, fallback: Value = null): (item: Value) => Value {
  const steps = pathOf(attribute, runtime)
  return (item) => {
    let value = item
    for (const step of steps) {
      runtime.step()
      value = getItem(value, step, runtime)
      if (fallback !== null && value instanceof Undefined) value = fallback
    }
    return value
  }
}

/** Returns a function that reads several attributes, whose names are separated by commas (jinja2's make_multi_attrgetter). */
export function itemPaths(attribute: Value, runtime: Runtime): (item: Value) => readonly Value[] {
  const text = stringOf(attribute)
  const paths = (text === undefined ? [attribute] : text.split(',')).map((path) => itemPath(path, runtime))
  return (item) => paths.map((path) => path(item))
}

function pathOf(attribute: Value, runtime: Runtime): readonly Value[] {
  if (attribute === null) return []
  const text = stringOf(attribute)
  if (text === undefined) return [attribute]
  runtime.allocate(text.length)
  return text.split('.').map((part) => (part !== '' && [...part].every(isDecimal) ? (readInt(part, 10) ?? part) : part))
}

/** Returns text in lower case, and other keys unchanged. */
export const withoutCase = (value: Value): Value => stringOf(value)?.toLowerCase() ?? value
