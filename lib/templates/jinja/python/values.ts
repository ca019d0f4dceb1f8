/**
 * Values as Python has them. A list is a JavaScript array (templates may not change it: the sandbox is immutable), a str
 * a JavaScript string counted by code points, an int a number while it is safe and a bigint beyond.
 */

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | PyFloat
  | readonly Value[]
  | PyTuple
  | PyDict
  | Undefined
  | PyObject

/** A float, so that 1.0 stays 1.0. Ints are plain numbers. */
export class PyFloat {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class PyTuple {
  /** A named tuple has its own. */
  readonly typeName: string = 'tuple'
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    this.items = items
  }
  /** Of a named tuple. */
  attribute?(name: string): Value | undefined
}

/** What a name or a key stands for that is not there; most uses of it raise with `message`. */
export class Undefined {
  /** As jinja2 words it: `'x' is undefined`, `'dict object' has no attribute 'x'`. */
  readonly message: string
  /** What using it raises: SecurityError for what the sandbox keeps closed. */
  readonly className: string
  constructor(message: string, className = 'UndefinedError') {
    this.message = message
    this.className = className
  }
}

/** Everything else that templates meet: functions, macros, namespaces, the loop, generators, types. */
export abstract class PyObject {
  /** As type(x).__name__ in Python. */
  abstract readonly typeName: string
  /** Its type's module as messages about missing attributes name it; undefined: builtins. */
  readonly module?: string
  abstract repr(runtime: Runtime): string
  /** str(), where it is not the repr. */
  text?(runtime: Runtime): string
  /** undefined: there is no such attribute. */
  attribute?(name: string, runtime: Runtime): Value | undefined
  /** x[key]. undefined: there is no such item. */
  item?(key: Value, runtime: Runtime): Value | undefined
  call?(call: Arguments, runtime: Runtime): Value
  /** For loops and filters that take any iterable. */
  iterate?(runtime: Runtime): Iterator<Value>
  reversed?(runtime: Runtime): Iterator<Value>
  /** len(). An object without truth() is true unless its length is 0. */
  length?(): number
  truth?(): boolean
  /** Where it is not equal to itself alone. */
  equals?(other: Value, runtime: Runtime): boolean
  contains?(needle: Value, runtime: Runtime): boolean
  /** What stands for it as a key of a dict; without it, the object itself. Throws PyError where it cannot be hashed. */
  hash?(): Value
}

/** Arguments of a call, a filter or a test, without the value that a filter or test stands behind. */
export interface Arguments {
  readonly positional: readonly Value[]
  readonly named: ReadonlyMap<string, Value>
}

/** What evaluating needs of the render that it belongs to. */
export interface Runtime {
  /** Charges work. Throws BudgetError when the render's steps or its time are used up. */
  step(count?: number): void
  /** Charges a string or list about to be made, in UTF-16 units or entries. Throws BudgetError. */
  allocate(size: number): void
  /** Whether `{% autoescape true %}` stands around what is evaluated. */
  readonly autoescape: boolean
  /** What strftime_now tells. */
  readonly clock: () => Date
  call(callee: Value, call: Arguments): Value
  /** A filter or a test by its name, for map, select and the like. */
  filter(name: string, value: Value, call: Arguments): Value
  test(name: string, value: Value, call: Arguments): boolean
}

/** An exception as Python raises it: `UndefinedError: 'x' is undefined`. The line is added where a template runs. */
export class PyError extends Error {
  override readonly name = 'PyError'
  /** Without its module: UndefinedError, TemplateSyntaxError, TypeError, ZeroDivisionError, TemplateError… */
  readonly className: string
  constructor(className: string, message: string) {
    super(message)
    this.className = className
  }
}

/** A dict: in order of insertion, integer-like keys too; 1, 1.0 and True are one key, as in Python. */
export class PyDict {
  private readonly cells = new Map<unknown, Value>()
  /** Of keys that are not what they are found by: texts and ints, nearly all keys, are. */
  private otherKeys: Map<unknown, Value> | undefined

  static of(entries: Iterable<readonly [Value, Value]>): PyDict {
    const dict = new PyDict()
    for (const [key, value] of entries) dict.set(key, value)
    return dict
  }

  get size(): number {
    return this.cells.size
  }

  /** undefined where the key is missing. Throws PyError for a key that cannot be hashed. */
  get(key: Value): Value | undefined {
    return this.cells.get(hashed(key))
  }

  has(key: Value): boolean {
    return this.cells.has(hashed(key))
  }

  /** Only while the dict is made: templates cannot change one. The first of equal keys stays, as in Python. */
  set(key: Value, value: Value): void {
    const hash = hashed(key)
    if (hash !== key && !this.cells.has(hash)) {
      this.otherKeys ??= new Map()
      this.otherKeys.set(hash, key)
    }
    this.cells.set(hash, value)
  }

  entries(): IterableIterator<readonly [Value, Value]> {
    const { otherKeys, cells } = this
    return otherKeys ? renamed(cells, otherKeys) : (cells as Map<Value, Value>).entries()
  }
}

function* renamed(cells: Map<unknown, Value>, keys: Map<unknown, Value>): Generator<readonly [Value, Value]> {
  for (const [hash, value] of cells) {
    const key = keys.get(hash)
    yield [key === undefined ? (hash as Value) : key, value]
  }
}

/** Equal for keys that Python holds for equal. What is no plain str begins with a NUL, so that no str equals it. */
function hashed(key: Value): unknown {
  if (typeof key === 'string') return key.charCodeAt(0) === 0 ? `\0s${key}` : key
  if (typeof key === 'number' || typeof key === 'bigint' || key === null) return key
  if (typeof key === 'boolean') return key ? 1 : 0
  if (key instanceof PyFloat) return wholeBeyondSafe(key.value) ? BigInt(key.value) : key.value
  if (key instanceof PyTuple) return hashedTuple(key)
  if (key instanceof Undefined) return Undefined
  if (key instanceof PyDict) throw new PyError('TypeError', "unhashable type: 'dict'")
  if (Array.isArray(key)) throw new PyError('TypeError', "unhashable type: 'list'")
  const stand = key instanceof PyObject ? key.hash?.() : undefined
  return stand === undefined ? key : hashed(stand)
}

/** A whole float beyond 2^53 equals an int, which is a bigint there. */
const wholeBeyondSafe = (value: number): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)

/** Tuples that share their parts can be exponentially longer than what holds them. */
const LONGEST_TUPLE_KEY = 100_000

function hashedTuple(tuple: PyTuple): string {
  let text = `\0t${tuple.items.length}`
  for (const item of tuple.items) {
    const hash = hashed(item)
    const part = typeof hash === 'object' || typeof hash === 'function' ? identity(hash) : String(hash)
    text += `,${typeof hash}${part.length}:${part}`
    if (text.length > LONGEST_TUPLE_KEY) throw new PyError('BudgetError', 'a tuple is too long to be a key of a dict')
  }
  return text
}

const identities = new WeakMap<object, string>()
let lastIdentity = 0

function identity(object: object | null): string {
  if (object === null) return ''
  const known = identities.get(object)
  if (known !== undefined) return known
  lastIdentity += 1
  const made = String(lastIdentity)
  identities.set(object, made)
  return made
}
