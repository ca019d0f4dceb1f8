/** Filters of lists, dicts and other iterables. */
import { sizeArgument } from '../python/arguments.ts'
import { attributeOf, getAttribute, noAttribute } from '../python/attributes.ts'
import { compareValues, equals, truth } from '../python/comparison.ts'
import { items, iterate, length, reversedOf, toList } from '../python/iteration.ts'
import { stringOf } from '../python/markup.ts'
import { clampInt, integer } from '../python/numbers.ts'
import { PyGenerator } from '../python/objects.ts'
import { add, floorDivide, modulo, subtract } from '../python/operators.ts'
import { sortBy } from '../python/sorting.ts'
import { slice } from '../python/subscript.ts'
import { objectTypeRepr, repr, typeName } from '../python/text/repr.ts'
import { type Arguments, PyDict, PyError, PyTuple, type Runtime, Undefined, type Value } from '../python/values.ts'
import { type Filter, filter, type NamedFilter, oneValueFilter } from './filter.ts'
import { itemPath, itemPaths, withoutCase } from './item-path.ts'

const lengthFilter = oneValueFilter('len', length)

const defaultFilter = filter(
  'do_default(value, default_value=, boolean=)',
  ([value = null, other = '', boolean = false]) =>
    value instanceof Undefined || (truth(boolean) && !truth(value)) ? other : value,
)

function attribute(value: Value, name: Value, runtime: Runtime): Value {
  const text = stringOf(name)
  if (text === undefined) {
    throw new PyError('TypeError', `attribute name must be string, not '${typeName(name)}'`)
  }
  if (attributeOf(value, text, runtime) !== undefined) return getAttribute(value, text, runtime)
  return new Undefined(`${repr(objectTypeRepr(value), runtime)} has no attribute ${repr(text, runtime)}`)
}

function* batches(value: Value, count: Value, fill: Value, runtime: Runtime): Generator<Value> {
  let batch: Value[] = []
  for (const item of items(value, runtime)) {
    if (equals(batch.length, count, runtime)) {
      yield batch
      batch = []
    }
    batch.push(item)
  }
  if (batch.length === 0) return
  if (fill !== null && compareValues('<', batch.length, count, runtime)) {
    const missing = clampInt(integer(subtract(count, batch.length, runtime)) ?? 0)
    runtime.allocate(missing)
    for (let turn = 0; turn < missing; turn += 1) batch.push(fill)
  }
  yield batch
}

function* slices(value: Value, count: Value, fill: Value, runtime: Runtime): Generator<Value> {
  const all = toList(value, runtime)
  const each = clampInt(integer(floorDivide(all.length, count, runtime)) ?? 0)
  const longer = clampInt(integer(modulo(all.length, count, runtime)) ?? 0)
  const total = sizeArgument(count)
  let offset = 0
  for (let number = 0; number < total; number += 1) {
    runtime.step()
    const start = offset + number * each
    if (number < longer) offset += 1
    const part = all.slice(start, offset + (number + 1) * each)
    yield fill !== null && number >= longer ? [...part, fill] : part
  }
}

function dictSorted(value: Value, caseSensitive: Value, by: Value, reverse: Value, runtime: Runtime): Value {
  const part = stringOf(by)
  if (part !== 'key' && part !== 'value') {
    throw new PyError('FilterArgumentError', 'You can only sort by either "key" or "value"')
  }
  if (!(value instanceof PyDict)) throw noAttribute(value, 'items')
  const key = (item: PyTuple): Value => {
    const compared = item.items[part === 'key' ? 0 : 1] ?? null
    return truth(caseSensitive) ? compared : withoutCase(compared)
  }
  const entries = Array.from(value.entries(), (entry) => new PyTuple(entry))
  return sortBy(entries, key, truth(reverse), runtime)
}

function firstOf(value: Value, runtime: Runtime): Value {
  const { done, value: first } = iterate(value, runtime).next()
  return done ? new Undefined('No first item, sequence was empty.') : first
}

function lastOf(value: Value, runtime: Runtime): Value {
  const { done, value: last } = reversedOf(value, runtime).next()
  return done ? new Undefined('No last item, sequence was empty.') : last
}

/** Implements the filter random: always returns the first item, so that renders can be repeated. */
function chosenOf(value: Value, runtime: Runtime): Value {
  if (length(value) === 0) return new Undefined('No random item, sequence was empty.')
  return firstOf(value, runtime)
}

/** A tuple whose parts also have the names grouper and list. */
class Group extends PyTuple {
  override readonly typeName = '_GroupTuple'
  override attribute(name: string): Value | undefined {
    if (name === 'grouper') return this.items[0]
    return name === 'list' ? this.items[1] : undefined
  }
}

function groupItems(value: Value, path: Value, fallback: Value, caseSensitive: boolean, runtime: Runtime): Value {
  const real = itemPath(path, runtime, fallback)
  const key = caseSensitive ? real : (item: Value): Value => withoutCase(real(item))
  const groups: { readonly key: Value; readonly items: Value[] }[] = []
  for (const item of sortBy(toList(value, runtime), key, false, runtime)) {
    const itemKey = key(item)
    const last = groups.at(-1)
    if (last && (last.key === itemKey || equals(last.key, itemKey, runtime))) last.items.push(item)
    else groups.push({ key: itemKey, items: [item] })
  }
  return groups.map((group) => new Group([real(group.items[0] ?? null), group.items]))
}

/** Implements min and max; of several extreme items the first is returned. */
function extreme(sign: '<' | '>', value: Value, caseSensitive: Value, path: Value, runtime: Runtime): Value {
  const real = itemPath(path, runtime)
  const key = truth(caseSensitive) ? real : (item: Value): Value => withoutCase(real(item))
  let best: { readonly item: Value; readonly key: Value } | undefined
  for (const item of items(value, runtime)) {
    const itemKey = key(item)
    if (!best || compareValues(sign, itemKey, best.key, runtime)) best = { item, key: itemKey }
  }
  return best ? best.item : new Undefined('No aggregated item, sequence was empty.')
}

function sumItems(value: Value, path: Value, start: Value, runtime: Runtime): Value {
  const take = path === null ? undefined : itemPath(path, runtime)
  const all = iterable(value, runtime)
  if (stringOf(start) !== undefined) {
    throw new PyError('TypeError', "sum() can't sum strings [use ''.join(seq) instead]")
  }
  let total = start
  for (const item of all) total = add(total, take ? take(item) : item, runtime)
  return total
}

/** Returns an iterable of the items; throws PyError at once if the value is not iterable. */
function iterable(value: Value, runtime: Runtime): Iterable<Value> {
  iterate(value, runtime)
  return items(value, runtime)
}

function* uniqueItems(value: Value, caseSensitive: Value, path: Value, runtime: Runtime): Generator<Value> {
  const real = itemPath(path, runtime)
  const seen = new PyDict()
  for (const item of items(value, runtime)) {
    const key = truth(caseSensitive) ? real(item) : withoutCase(real(item))
    if (seen.has(key)) continue
    seen.set(key, null)
    yield item
  }
}

function* pairs(value: Value): Generator<Value> {
  if (value instanceof Undefined) return
  if (!(value instanceof PyDict)) throw new PyError('TypeError', 'Can only get item pairs from a mapping.')
  for (const entry of value.entries()) yield new PyTuple(entry)
}

function* mapItems(value: Value, call: Arguments, runtime: Runtime): Generator<Value> {
  if (!truth(value)) return
  const change = changeOf(call, runtime)
  for (const item of items(value, runtime)) yield change(item)
}

/** Returns the function that `map(attribute='name', default=…)` or `map('filter', …)` applies to each item. */
function changeOf(call: Arguments, runtime: Runtime): (item: Value) => Value {
  const path = call.named.get('attribute')
  const [name, ...positional] = call.positional
  if (name === undefined && path !== undefined) {
    const other = [...call.named.keys()].find((key) => key !== 'attribute' && key !== 'default')
    if (other !== undefined) {
      throw new PyError('FilterArgumentError', `Unexpected keyword argument ${repr(other, runtime)}`)
    }
    return itemPath(path, runtime, call.named.get('default') ?? null)
  }
  if (name === undefined) throw new PyError('FilterArgumentError', 'map requires a filter argument')
  return (item) => runtime.filter(nameOf(name, runtime), item, { positional, named: call.named })
}

const nameOf = (name: Value, runtime: Runtime): string => stringOf(name) ?? repr(name, runtime)

function* selectItems(
  value: Value,
  call: Arguments,
  { wanted, byAttribute }: { readonly wanted: boolean; readonly byAttribute: boolean },
  runtime: Runtime,
): Generator<Value> {
  if (!truth(value)) return
  const [path, ...afterPath] = call.positional
  if (byAttribute && path === undefined) {
    throw new PyError('FilterArgumentError', 'Missing parameter for attribute name')
  }
  const take = byAttribute ? itemPath(path ?? null, runtime) : undefined
  const [name, ...positional] = byAttribute ? afterPath : call.positional
  for (const item of items(value, runtime)) {
    const tested = take ? take(item) : item
    const passes =
      name === undefined
        ? truth(tested)
        : runtime.test(nameOf(name, runtime), tested, { positional, named: call.named })
    if (passes === wanted) yield item
  }
}

const choosing =
  (wanted: boolean, byAttribute: boolean): Filter =>
  (value, call, runtime) =>
    new PyGenerator('select_or_reject', selectItems(value, call, { wanted, byAttribute }, runtime))

/** Returns an iterator if Python's reversed() accepts the value, otherwise a list from the end. */
function reversedValue(value: Value, runtime: Runtime): Value {
  if (stringOf(value) !== undefined) return slice(value, null, null, -1, runtime)
  try {
    const name = Array.isArray(value)
      ? 'list_reverseiterator'
      : value instanceof PyDict
        ? 'dict_reversekeyiterator'
        : 'reversed'
    return new PyGenerator(name, reversedOf(value, runtime), name)
  } catch (error) {
    if (!(error instanceof PyError) || error.className !== 'TypeError') throw error
  }
  try {
    return [...toList(value, runtime)].reverse()
  } catch (error) {
    if (error instanceof PyError && error.className === 'TypeError') {
      throw new PyError('FilterArgumentError', 'argument must be iterable')
    }
    throw error
  }
}

function listCopy(value: Value, runtime: Runtime): Value {
  const list = toList(value, runtime)
  runtime.allocate(list.length)
  return [...list]
}

/** Filters of sequences by name, such as `map`, `groupby` and `sort`. */
export const sequenceFilters: readonly NamedFilter[] = [
  [
    'attr',
    filter('do_attr([environment], obj, name)', ([value = null, name = null], runtime) =>
      attribute(value, name, runtime),
    ),
  ],
  [
    'batch',
    filter(
      'do_batch(value, linecount, fill_with=)',
      ([value = null, count = null, fill = null], runtime) =>
        new PyGenerator('do_batch', batches(value, count, fill, runtime)),
    ),
  ],
  ['count', lengthFilter],
  ['length', lengthFilter],
  ['d', defaultFilter],
  ['default', defaultFilter],
  [
    'dictsort',
    filter(
      'do_dictsort(value, case_sensitive=, by=, reverse=)',
      ([value = null, caseSensitive = false, by = 'key', reverse = false], runtime) =>
        dictSorted(value, caseSensitive, by, reverse, runtime),
    ),
  ],
  ['first', filter('sync_do_first([environment], seq)', ([value = null], runtime) => firstOf(value, runtime))],
  [
    'groupby',
    filter(
      'sync_do_groupby([environment], value, attribute, default=, case_sensitive=)',
      ([value = null, path = null, fallback = null, caseSensitive = false], runtime) =>
        groupItems(value, path, fallback, truth(caseSensitive), runtime),
    ),
  ],
  ['items', filter('do_items(value)', ([value = null]) => new PyGenerator('do_items', pairs(value)))],
  ['last', filter('do_last([environment], seq)', ([value = null], runtime) => lastOf(value, runtime))],
  ['list', filter('sync_do_list(value)', ([value = null], runtime) => listCopy(value, runtime))],
  ['map', (value, call, runtime) => new PyGenerator('sync_do_map', mapItems(value, call, runtime))],
  ...(['min', 'max'] as const).map(
    (name): NamedFilter => [
      name,
      filter(
        `do_${name}([environment], value, case_sensitive=, attribute=)`,
        ([value = null, caseSensitive = false, path = null], runtime) =>
          extreme(name === 'min' ? '<' : '>', value, caseSensitive, path, runtime),
      ),
    ],
  ),
  ['random', filter('do_random([context], seq)', ([value = null], runtime) => chosenOf(value, runtime))],
  ['reject', choosing(false, false)],
  ['rejectattr', choosing(false, true)],
  ['reverse', filter('do_reverse(value)', ([value = null], runtime) => reversedValue(value, runtime))],
  ['select', choosing(true, false)],
  ['selectattr', choosing(true, true)],
  [
    'slice',
    filter(
      'sync_do_slice(value, slices, fill_with=)',
      ([value = null, count = null, fill = null], runtime) =>
        new PyGenerator('sync_do_slice', slices(value, count, fill, runtime)),
    ),
  ],
  [
    'sort',
    filter(
      'do_sort([environment], value, reverse=, case_sensitive=, attribute=)',
      ([value = null, reverse = false, caseSensitive = false, path = null], runtime) => {
        const take = itemPaths(path, runtime)
        const key = (item: Value): Value => (truth(caseSensitive) ? take(item) : take(item).map(withoutCase))
        return sortBy(toList(value, runtime), key, truth(reverse), runtime)
      },
    ),
  ],
  [
    'sum',
    filter(
      'sync_do_sum([environment], iterable, attribute=, start=)',
      ([value = null, path = null, start = 0], runtime) => sumItems(value, path, start, runtime),
    ),
  ],
  [
    'unique',
    filter(
      'sync_do_unique([environment], value, case_sensitive=, attribute=)',
      ([value = null, caseSensitive = false, path = null], runtime) =>
        new PyGenerator('sync_do_unique', uniqueItems(value, caseSensitive, path, runtime)),
    ),
  ],
]
