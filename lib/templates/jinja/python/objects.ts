/** Python's built-in objects other than the plain values: bytes, ranges, dict views, generators, functions. */
import { equals } from './comparison.ts'
import { asInt, clampInt, floatRepr, type Int, integer, intText } from './numbers.ts'
import { repr } from './text/repr.ts'
import { type Arguments, PyDict, PyError, PyObject, PyTuple, type Runtime, type Value } from './values.ts'

/** The type bytes. */
export class Bytes extends PyObject {
  readonly typeName = 'bytes'
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    super()
    this.bytes = bytes
  }
  repr(runtime: Runtime): string {
    runtime.allocate(this.bytes.length)
    const quote = this.bytes.includes(0x27) && !this.bytes.includes(0x22) ? '"' : "'"
    return `b${quote}${Array.from(this.bytes, (byte) => escapeByte(byte, quote)).join('')}${quote}`
  }
  override length(): number {
    return this.bytes.length
  }
  override item(key: Value): Value | undefined {
    const index = integer(key)
    return index === undefined ? undefined : this.bytes.at(clampInt(index))
  }
  override iterate(): Iterator<Value> {
    return this.bytes.values()
  }
  override equals(other: Value): boolean {
    return other instanceof Bytes && other.latin1() === this.latin1()
  }
  override hash(): Value {
    return new PyTuple(['bytes', this.latin1()])
  }
  override contains(needle: Value): boolean {
    const byte = integer(needle)
    if (byte !== undefined) return this.bytes.includes(Number(byte))
    if (needle instanceof Bytes) return this.latin1().includes(needle.latin1())
    throw new PyError(
      'TypeError',
      `a bytes-like object is required, not '${typeof needle === 'string' ? 'str' : 'object'}'`,
    )
  }
  /** Returns one character for each byte. */
  latin1(): string {
    return Array.from(this.bytes, (byte) => String.fromCharCode(byte)).join('')
  }
}

function escapeByte(byte: number, quote: string): string {
  const character = String.fromCharCode(byte)
  if (character === quote || character === '\\') return `\\${character}`
  if (character === '\n') return '\\n'
  if (character === '\r') return '\\r'
  if (character === '\t') return '\\t'
  return byte < 0x20 || byte > 0x7e ? `\\x${byte.toString(16).padStart(2, '0')}` : character
}

/** The type range; its bounds are ints of any size. */
export class Range extends PyObject {
  readonly typeName = 'range'
  readonly start: Int
  readonly stop: Int
  readonly step: Int
  readonly size: bigint
  constructor(start: Int, stop: Int, step: Int) {
    super()
    this.start = start
    this.stop = stop
    this.step = step
    const [first, end, stride] = [BigInt(start), BigInt(stop), BigInt(step)]
    const span = stride > 0n ? end - first : first - end
    const width = stride > 0n ? stride : -stride
    this.size = span <= 0n ? 0n : (span + width - 1n) / width
  }
  /** Returns the int at an index within the range. */
  at(index: number): Int {
    return asInt(BigInt(this.start) + BigInt(this.step) * BigInt(index))
  }
  repr(): string {
    const ends = `${intText(this.start)}, ${intText(this.stop)}`
    return this.step === 1 ? `range(${ends})` : `range(${ends}, ${intText(this.step)})`
  }
  override length(): number {
    return Number(this.size)
  }
  override *iterate(): Iterator<Value> {
    for (let index = 0; index < this.length(); index += 1) yield this.at(index)
  }
  override *reversed(): Iterator<Value> {
    for (let index = this.length() - 1; index >= 0; index -= 1) yield this.at(index)
  }
  override item(key: Value): Value | undefined {
    const index = integer(key)
    if (index === undefined) return undefined
    const at = clampInt(index) + (index < 0 ? this.length() : 0)
    return at >= 0 && at < this.length() ? this.at(at) : undefined
  }
  override attribute(name: string): Value | undefined {
    if (name === 'start') return this.start
    if (name === 'stop') return this.stop
    return name === 'step' ? this.step : undefined
  }
  override contains(needle: Value, runtime: Runtime): boolean {
    const value = integer(needle)
    if (value === undefined) {
      runtime.step(this.length())
      return Array.from({ length: this.length() }, (_, index) => this.at(index)).some((item) =>
        equals(item, needle, runtime),
      )
    }
    const offset = BigInt(value) - BigInt(this.start)
    const stride = BigInt(this.step)
    return offset % stride === 0n && offset / stride >= 0n && offset / stride < this.size
  }
  override equals(other: Value): boolean {
    if (!(other instanceof Range) || other.size !== this.size) return false
    return this.size === 0n || (other.start === this.start && (this.size === 1n || other.step === this.step))
  }
  override hash(): Value {
    return new PyTuple([
      'range',
      asInt(this.size),
      this.size > 0n ? this.start : null,
      this.size > 1n ? this.step : null,
    ])
  }
}

/** The result of dict.keys(), .values() or .items(). */
export class DictView extends PyObject {
  readonly typeName: string
  readonly dict: PyDict
  readonly part: 'keys' | 'values' | 'items'
  constructor(dict: PyDict, part: 'keys' | 'values' | 'items') {
    super()
    this.dict = dict
    this.part = part
    this.typeName = `dict_${part}`
  }
  repr(runtime: Runtime): string {
    return `${this.typeName}(${repr([...this.values()], runtime)})`
  }
  override length(): number {
    return this.dict.size
  }
  override iterate(): Iterator<Value> {
    return this.values()
  }
  override reversed(): Iterator<Value> {
    return [...this.values()].reverse().values()
  }
  override attribute(name: string): Value | undefined {
    return name === 'mapping' ? this.dict : undefined
  }
  override contains(needle: Value, runtime: Runtime): boolean {
    if (this.part === 'keys') return this.dict.has(needle)
    if (this.part === 'items') {
      if (!(needle instanceof PyTuple) || needle.items.length !== 2) return false
      const [key = null, value = null] = needle.items
      const found = this.dict.get(key)
      return found !== undefined && equals(found, value, runtime)
    }
    runtime.step(this.dict.size)
    return [...this.values()].some((value) => equals(value, needle, runtime))
  }
  /** Compares keys and items as sets; values equal only themselves. */
  override equals(other: Value, runtime: Runtime): boolean {
    if (this === other) return true
    if (this.part === 'values' || !(other instanceof DictView) || other.part === 'values') return false
    return this.dict.size === other.dict.size && [...this.values()].every((value) => other.contains(value, runtime))
  }
  override hash(): Value {
    if (this.part === 'values') return new PyTuple(['dict_values', typeof this.dict])
    throw new PyError('TypeError', `unhashable type: '${this.typeName}'`)
  }
  private *values(): Generator<Value> {
    for (const [key, value] of this.dict.entries()) {
      yield this.part === 'keys' ? key : this.part === 'values' ? value : new PyTuple([key, value])
    }
  }
}

/** The remaining keys or items of a dict: `d.keys() - e.keys()`. The order here is that of insertion; Python's differs in each process. */
export class PySet extends PyObject {
  readonly typeName = 'set'
  private readonly members: PyDict
  constructor(members: Iterable<Value>) {
    super()
    this.members = PyDict.of(Array.from(members, (member) => [member, null]))
  }
  repr(runtime: Runtime): string {
    const listText = repr([...this.iterate()], runtime)
    return this.members.size === 0 ? 'set()' : `{${listText.slice(1, -1)}}`
  }
  override length(): number {
    return this.members.size
  }
  override *iterate(): Generator<Value> {
    for (const [member] of this.members.entries()) yield member
  }
  override contains(needle: Value): boolean {
    return this.members.has(needle)
  }
  override equals(other: Value): boolean {
    if (!(other instanceof PySet) || other.length() !== this.length()) return false
    return [...this.iterate()].every((member) => other.contains(member))
  }
  override hash(): Value {
    throw new PyError('TypeError', "unhashable type: 'set'")
  }
}

/** An iterator that can be read once and makes its items on demand. */
export class PyGenerator extends PyObject {
  readonly typeName: string
  private readonly name: string
  private readonly items: Iterator<Value>
  constructor(name: string, items: Iterator<Value>, typeName = 'generator') {
    super()
    this.name = name
    this.items = items
    this.typeName = typeName
  }
  /** Returns the repr with 0x0 for the address, which differs each time in Python. */
  repr(): string {
    return this.typeName === 'generator' ? `<generator object ${this.name} at 0x0>` : `<${this.typeName} object at 0x0>`
  }
  override iterate(): Iterator<Value> {
    return this.items
  }
  override attribute(name: string): Value | undefined {
    if (this.typeName !== 'generator') return undefined
    if (name === 'gi_running' || name === 'gi_suspended') return false
    if (name === 'gi_yieldfrom') return null
    return name === 'close'
      ? new Builtin('<built-in method close of generator object at 0x0>', () => this.close())
      : undefined
  }
  private close(): Value {
    this.items.return?.()
    return null
  }
}

/** The result of a negative number to the power of a fraction. Templates can only print it. */
export class Complex extends PyObject {
  readonly typeName = 'complex'
  private readonly real: number
  private readonly imaginary: number
  constructor(real: number, imaginary: number) {
    super()
    this.real = real
    this.imaginary = imaginary
  }
  repr(): string {
    const [real, imaginary] = [this.real, this.imaginary].map((part) => floatRepr(part).replace(/\.0$/, ''))
    const sign = imaginary?.startsWith('-') ? '' : '+'
    return `(${real}${sign}${imaginary}j)`
  }
}

/** A function or a bound method that is built into Python. */
export class Builtin extends PyObject {
  readonly typeName: string
  private readonly label: string
  private readonly run: (call: Arguments, runtime: Runtime) => Value
  constructor(
    label: string,
    run: (call: Arguments, runtime: Runtime) => Value,
    typeName = 'builtin_function_or_method',
  ) {
    super()
    this.label = label
    this.run = run
    this.typeName = typeName
  }
  repr(): string {
    return this.label
  }
  override call(call: Arguments, runtime: Runtime): Value {
    return this.run(call, runtime)
  }
}
