/**
 * Values of Python. A list is a JavaScript array (templates cannot change it: the sandbox is immutable), a str is a JavaScript string that
 * is counted by code points, an int is a number while it is safe and a bigint beyond.
 */

/** Any value of a template. */
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

/** A float, so that 1.0 remains 1.0. Ints are plain numbers. */
export class PyFloat {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** The type tuple. */
export class PyTuple {
  /** Name of the type; a named tuple has its own. */
  readonly typeName: string = 'tuple'
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    this.items = items
  }
  /** Returns an attribute of a named tuple. */
  attribute?(name: string): Value | undefined
}

/** The value of a missing name or key; most uses of it raise an error with `message`. */
export class Undefined {
  /** Message as jinja2 words it: `'x' is undefined`, `'dict object' has no attribute 'x'`. */
  readonly message: string
  /** Class of the error that its use raises: SecurityError if the sandbox refuses access. */
  readonly className: string
  constructor(message: string, className = 'UndefinedError') {
    this.message = message
    this.className = className
  }
}

/** All other objects that templates use: functions, macros, namespaces, the loop, generators, types. */
export abstract class PyObject {
  /** Value of `type(x).__name__` in Python. */
  abstract readonly typeName: string
  /** Module of its type in messages about missing attributes; undefined for builtins. */
  readonly module?: string
  abstract repr(runtime: Runtime): string
  /** Returns str(), if it differs from the repr. */
  text?(runtime: Runtime): string
  /** Returns an attribute; undefined if there is none. */
  attribute?(name: string, runtime: Runtime): Value | undefined
  /** Returns x[key]; undefined if there is no such item. */
  item?(key: Value, runtime: Runtime): Value | undefined
  call?(call: Arguments, runtime: Runtime): Value
  /** Returns an iterator, for loops and filters that take any iterable. */
  iterate?(runtime: Runtime): Iterator<Value>
  reversed?(runtime: Runtime): Iterator<Value>
  /** Returns len(). An object without truth() is true unless its length is 0. */
  length?(): number
  truth?(): boolean
  /** Returns whether it equals another value; without this method it equals only itself. */
  equals?(other: Value, runtime: Runtime): boolean
  contains?(needle: Value, runtime: Runtime): boolean
  /**
   * Returns the value that represents it as a key of a dict; without this method, the object itself does. Throws PyError if it cannot be
   * hashed.
   */
  hash?(): Value
}

/** Arguments of a call, a filter or a test, without the value to which a filter or test applies. */
export interface Arguments {
  readonly positional: readonly Value[]
  readonly named: ReadonlyMap<string, Value>
}

/** What evaluation needs of the render that it belongs to. */
export interface Runtime {
  /** Charges work. Throws PyError (BudgetError) when the render's steps or its time are used up. */
  step(count?: number): void
  /** Charges a string or list about to be made, in UTF-16 units or entries. Throws PyError (BudgetError). */
  allocate(size: number): void
  /** Whether `{% autoescape true %}` is around the evaluated expression. */
  readonly autoescape: boolean
  /** Time that strftime_now formats. */
  readonly clock: () => Date
  call(callee: Value, call: Arguments): Value
  /** Applies a filter by its name, for filters such as map. */
  filter(name: string, value: Value, call: Arguments): Value
  test(name: string, value: Value, call: Arguments): boolean
}

/** An exception of Python, such as `UndefinedError: 'x' is undefined`. The line is added where a template runs. */
export class PyError extends Error {
  override readonly name = 'PyError'
  /** Class name without its module: UndefinedError, TemplateSyntaxError, TypeError, ZeroDivisionError, TemplateError… */
  readonly className: string
  constructor(className: string, message: string) {
    super(message)
    this.className = className
  }
}

/** A dict in order of insertion, integer-like keys too; 1, 1.0 and True are one key, as in Python. */
export class PyDict {
  private readonly cells = new Map<unknown, Value>()
  /** Keys that differ from their hashes. Texts and ints, nearly all keys, equal theirs. */
  private otherKeys: Map<unknown, Value> | undefined

  static of(entries: Iterable<readonly [Value, Value]>): PyDict {
    const dict = new PyDict()
    for (const [key, value] of entries) dict.set(key, value)
    return dict
  }

  get size(): number {
    return this.cells.size
  }

  /** Returns the value of a key; undefined if the key is missing. Throws PyError for a key that cannot be hashed. */
  get(key: Value): Value | undefined {
    return this.cells.get(hashKey(key))
  }

  has(key: Value): boolean {
    return this.cells.has(hashKey(key))
  }

  /** Sets an entry while the dict is made: templates cannot change one. The first of equal keys remains, as in Python. */
  set(key: Value, value: Value): void {
    const hash = hashKey(key)
    if (hash !== key && !this.cells.has(hash)) {
      this.otherKeys ??= new Map()
      this.otherKeys.set(hash, key)
    }
    this.cells.set(hash, value)
  }

  entries(): IterableIterator<readonly [Value, Value]> {
    const { otherKeys, cells } = this
    return otherKeys ? renameKeys(cells, otherKeys) : (cells as Map<Value, Value>).entries()
  }
}

function* renameKeys(cells: Map<unknown, Value>, keys: Map<unknown, Value>): Generator<readonly [Value, Value]> {
  for (const [hash, value] of cells) {
    const key = keys.get(hash)
    yield [key === undefined ? (hash as Value) : key, value]
  }
}

/**
 * Returns the same for keys that Python treats as equal. Hashes of texts that are not plain strs begin with a NUL, so that no str equals
 * them.
 */
function hashKey(key: Value): unknown {
  if (typeof key === 'string') return key.charCodeAt(0) === 0 ? `\0s${key}` : key
  if (typeof key === 'number' || typeof key === 'bigint' || key === null) return key
  if (typeof key === 'boolean') return key ? 1 : 0
  if (key instanceof PyFloat) return wholeBeyondSafe(key.value) ? BigInt(key.value) : key.value
  if (key instanceof PyTuple) return hashedTuple(key)
  if (key instanceof Undefined) return Undefined
  if (key instanceof PyDict) throw new PyError('TypeError', "unhashable type: 'dict'")
  if (Array.isArray(key)) throw new PyError('TypeError', "unhashable type: 'list'")
  const stand = key instanceof PyObject ? key.hash?.() : undefined
  return stand === undefined ? key : hashKey(stand)
}

/** Whether a float is whole and beyond 2^53, where it equals an int that is a bigint. */
const wholeBeyondSafe = (value: number): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)

/** Longest hash of a tuple, in UTF-16 units: tuples that share their parts can be exponentially longer than their memory. */
const LONGEST_TUPLE_KEY = 100_000

function hashedTuple(tuple: PyTuple): string {
  let text = `\0t${tuple.items.length}`
  for (const item of tuple.items) {
    const hash = hashKey(item)
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
  const text = String(lastIdentity)
  identities.set(object, text)
  return text
}
