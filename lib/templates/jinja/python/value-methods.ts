/** Methods and attributes of Python's list, tuple, dict, range, bytes, int and float that templates can call. */
import { indexOf, namedArguments, noArguments, oneArgument, positionalArguments } from './arguments.ts'
import { equals } from './comparison.ts'
import { items } from './iteration.ts'
import { stringOf } from './markup.ts'
import { asInt, binary, bits, clampInt, type Int, integer } from './numbers.ts'
import { Builtin, Bytes, DictView, type Range } from './objects.ts'
import { decodeBytes } from './text/encodings.ts'
import { repr, typeName } from './text/repr.ts'
import { type Arguments, PyDict, PyError, PyFloat, PyTuple, type Runtime, type Value } from './values.ts'

/** A method of a built-in type; `self` is the value. Throws PyError. */
export type Method<T extends Value> = (self: T, call: Arguments, runtime: Runtime) => Value

const same = (a: Value, b: Value, runtime: Runtime): boolean => a === b || equals(a, b, runtime)

function countItem(list: readonly Value[], call: Arguments, name: string, runtime: Runtime): number {
  const wanted = oneArgument(name, call)
  runtime.step(list.length)
  return list.filter((item) => same(item, wanted, runtime)).length
}

function indexIn(
  list: readonly Value[],
  call: Arguments,
  name: string,
  missing: (wanted: Value) => string,
  runtime: Runtime,
): number {
  const [wanted = null, start = 0, stop = list.length] = positionalArguments(name, 1, 3, call)
  const within = (value: Value): number => {
    const index = clampInt(boundOf(value))
    return Math.max(0, index < 0 ? index + list.length : index)
  }
  runtime.step(list.length)
  const end = Math.min(list.length, within(stop))
  for (let index = within(start); index < end; index += 1) {
    if (same(list[index] ?? null, wanted, runtime)) return index
  }
  throw new PyError('ValueError', missing(wanted))
}

function boundOf(value: Value): Int {
  const index = integer(value)
  if (index !== undefined) return index
  throw new PyError('TypeError', 'slice indices must be integers or have an __index__ method')
}

/** Methods of list by name, without those that change it. */
export const listMethods: ReadonlyMap<string, Method<readonly Value[]>> = new Map<string, Method<readonly Value[]>>([
  ['count', (self, call, runtime) => countItem(self, call, 'list.count', runtime)],
  [
    'index',
    (self, call, runtime) =>
      indexIn(self, call, 'list.index', (wanted) => `${repr(wanted, runtime)} is not in list`, runtime),
  ],
  [
    'copy',
    (self, call, runtime) => {
      noArguments('list.copy', call)
      runtime.allocate(self.length)
      return [...self]
    },
  ],
])

/** Methods of tuple by name. */
export const tupleMethods: ReadonlyMap<string, Method<PyTuple>> = new Map<string, Method<PyTuple>>([
  ['count', (self, call, runtime) => countItem(self.items, call, 'tuple.count', runtime)],
  [
    'index',
    (self, call, runtime) => indexIn(self.items, call, 'tuple.index', () => 'tuple.index(x): x not in tuple', runtime),
  ],
])

const viewing =
  (part: 'keys' | 'values' | 'items'): Method<PyDict> =>
  (self, call) => {
    noArguments(`dict.${part}`, call)
    return new DictView(self, part)
  }

/** Methods of dict by name. */
export const dictMethods: ReadonlyMap<string, Method<PyDict>> = new Map<string, Method<PyDict>>([
  [
    'get',
    (self, call) => {
      const [key = null, fallback = null] = positionalArguments('dict.get', 1, 2, call)
      const found = self.get(key)
      return found === undefined ? fallback : found
    },
  ],
  ['keys', viewing('keys')],
  ['values', viewing('values')],
  ['items', viewing('items')],
  [
    'copy',
    (self, call, runtime) => {
      noArguments('dict.copy', call)
      runtime.allocate(self.size)
      return PyDict.of(self.entries())
    },
  ],
  [
    'fromkeys',
    (_self, call, runtime) => {
      const [keys = null, value = null] = positionalArguments('dict.fromkeys', 1, 2, call)
      return dictOfKeys(keys, value, runtime)
    },
  ],
  // The sandbox refuses these methods before they can be called. They are listed so that their names are not read as keys.
  ...['clear', 'pop', 'popitem', 'setdefault', 'update'].map((name): [string, Method<PyDict>] => [
    name,
    () => {
      throw new PyError('SecurityError', `access to attribute '${name}' of 'dict' object is unsafe.`)
    },
  ]),
])

/** Returns dict.fromkeys(keys, value). */
export function dictOfKeys(keys: Value, value: Value, runtime: Runtime): PyDict {
  const dict = new PyDict()
  for (const key of items(keys, runtime)) dict.set(key, value)
  runtime.allocate(dict.size)
  return dict
}

/** Methods of range by name. */
export const rangeMethods: ReadonlyMap<string, Method<Range>> = new Map<string, Method<Range>>([
  ['count', (self, call, runtime) => (self.contains(oneArgument('range.count', call), runtime) ? 1 : 0)],
  [
    'index',
    (self, call, runtime) => {
      const wanted = oneArgument('range.index', call)
      const value = integer(wanted)
      if (value === undefined || !self.contains(wanted, runtime)) {
        throw new PyError('ValueError', `${repr(wanted, runtime)} is not in range`)
      }
      return asInt((BigInt(value) - BigInt(self.start)) / BigInt(self.step))
    },
  ],
])

/** Methods of dict views by name. */
export const viewMethods: ReadonlyMap<string, Method<DictView>> = new Map<string, Method<DictView>>([
  [
    'isdisjoint',
    (self, call, runtime) => {
      for (const item of items(oneArgument('isdisjoint', call), runtime)) if (self.contains(item, runtime)) return false
      return true
    },
  ],
])

/** Methods of bytes by name. */
export const bytesMethods: ReadonlyMap<string, Method<Bytes>> = new Map<string, Method<Bytes>>([
  [
    'decode',
    (self, call, runtime) => {
      const [encoding = 'utf-8'] = namedArguments('decode', ['encoding', 'errors'], call)
      return decodeBytes(self, stringOf(encoding) ?? '', runtime)
    },
  ],
  [
    'hex',
    (self, call, runtime) => {
      noArguments('bytes.hex', call)
      runtime.allocate(self.bytes.length * 2)
      return Array.from(self.bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
    },
  ],
])

const method = (self: Value, name: string, run: (call: Arguments, runtime: Runtime) => Value): Builtin =>
  new Builtin(`<built-in method ${name} of ${typeName(self)} object at 0x0>`, run)

const withoutArguments = (self: Value, name: string, answer: () => Value): Builtin =>
  method(self, name, (call) => {
    noArguments(`${typeName(self)}.${name}`, call)
    return answer()
  })

/** Returns an attribute of an int or bool; undefined if there is none. */
export function intAttributes(self: Value, name: string): Value | undefined {
  const value = integer(self)
  if (value === undefined) return undefined
  const size = BigInt(value)
  switch (name) {
    case 'real':
    case 'numerator':
      return value
    case 'imag':
      return 0
    case 'denominator':
      return 1
    case 'conjugate':
      return withoutArguments(self, name, () => value)
    case 'bit_length':
      return withoutArguments(self, name, () => bits(size))
    case 'bit_count':
      return withoutArguments(self, name, () => (size < 0n ? -size : size).toString(2).replaceAll('0', '').length)
    case 'as_integer_ratio':
      return withoutArguments(self, name, () => new PyTuple([value, 1]))
    case 'to_bytes':
      return method(self, name, (call, runtime) => bytesOf(value, call, runtime))
    default:
      return undefined
  }
}

function bytesOf(value: Int, call: Arguments, runtime: Runtime): Bytes {
  const [length = 1, order = 'big', signed = false] = namedArguments(
    'to_bytes',
    ['length', 'byteorder', 'signed'],
    call,
  )
  const size = clampInt(indexOf(length))
  runtime.allocate(size)
  if (value < 0 && signed === false) throw new PyError('OverflowError', "can't convert negative int to unsigned")
  const width = BigInt(size * 8)
  const whole = BigInt(value)
  if (BigInt.asUintN(Number(width), whole) !== whole && !(whole < 0n))
    throw new PyError('OverflowError', 'int too big to convert')
  const hex = BigInt.asUintN(Number(width), whole)
    .toString(16)
    .padStart(size * 2, '0')
  const bytes = Uint8Array.from({ length: size }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  )
  return new Bytes(stringOf(order) === 'little' ? bytes.reverse() : bytes)
}

/** Returns an attribute of a float; undefined if there is none. */
export function floatAttributes(self: PyFloat, name: string): Value | undefined {
  const { value } = self
  switch (name) {
    case 'real':
      return self
    case 'imag':
      return new PyFloat(0)
    case 'conjugate':
      return withoutArguments(self, name, () => self)
    case 'is_integer':
      return withoutArguments(self, name, () => Number.isInteger(value))
    case 'as_integer_ratio':
      return withoutArguments(self, name, () => integerRatio(value))
    case 'hex':
      return withoutArguments(self, name, () => hexFloat(value))
    default:
      return undefined
  }
}

function integerRatio(value: number): PyTuple {
  if (!Number.isFinite(value)) {
    truncatedRefusal(value)
  }
  const { mantissa, exponent } = binary(value)
  let top = mantissa
  let power = exponent
  while (power < 0 && top !== 0n && top % 2n === 0n) {
    top /= 2n
    power += 1
  }
  if (power > 0) top <<= BigInt(power)
  const bottom = top === 0n || power >= 0 ? 1n : 1n << BigInt(-power)
  return new PyTuple([asInt(value < 0 ? -top : top), asInt(bottom)])
}

function truncatedRefusal(value: number): never {
  const what = Number.isNaN(value) ? 'NaN' : 'Infinity'
  throw new PyError(what === 'NaN' ? 'ValueError' : 'OverflowError', `cannot convert ${what} to integer ratio`)
}

/** Returns float.hex(): 13 digits of the mantissa, and the exponent of 2. */
function hexFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  if (value === 0) return `${sign}0x0.0p+0`
  const { mantissa, exponent } = binary(value)
  const normal = mantissa >= 0x10000000000000n
  const fraction = (normal ? mantissa - 0x10000000000000n : mantissa).toString(16).padStart(13, '0')
  const power = exponent + 52
  return `${sign}0x${normal ? 1 : 0}.${fraction}p${power < 0 ? '-' : '+'}${Math.abs(power)}`
}
