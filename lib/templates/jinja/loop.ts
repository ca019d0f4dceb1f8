/** The special name `loop` (LoopContext of jinja2). */
import { bindArguments, parseSignature } from './python/arguments.ts'
import { equals, iterate, length } from './python/operators.ts'
import { type Arguments, PyError, PyObject, PyTuple, Undefined, type Value } from './python/values.ts'
import { type Render, withoutPieces } from './render.ts'
import type { Traced } from './source-map.ts'

/** Renders the body of a recursive loop for other items; `depth0` is the depth of that loop, from 0. */
export type Recurse = (items: Value, depth0: number) => string | Traced

/** The value of `loop` in the body of a for loop. */
export class Loop extends PyObject {
  readonly typeName = 'LoopContext'
  override readonly module = 'jinja2.runtime'
  /** Index of the current item, from 0; -1 before the first. */
  index0 = -1
  private readonly runtime: Render
  private readonly items: Value | undefined
  private iterator: Iterator<Value>
  private readonly recurse: Recurse | undefined
  private readonly depth0: number
  private known: number | undefined
  private before: Value | undefined
  private current: Value | undefined
  /** The next item, if it was read ahead. */
  private after: Value | undefined
  private lastValues: Value | undefined

  /** `items` is undefined if their number is unknown before all of them have been taken. */
  constructor(
    items: Value | undefined,
    iterator: Iterator<Value>,
    runtime: Render,
    recurse: Recurse | undefined,
    depth0: number,
  ) {
    super()
    this.items = items !== undefined && hasLength(items) ? items : undefined
    this.iterator = iterator
    this.runtime = runtime
    this.recurse = recurse
    this.depth0 = depth0
  }

  /** Returns the next item; undefined at the end. */
  next(): Value | undefined {
    const item = this.peek()
    this.after = undefined
    if (item === undefined) return undefined
    this.index0 += 1
    this.before = this.current
    this.current = item
    return item
  }

  repr(): string {
    return `<LoopContext ${this.index0 + 1}/${this.length()}>`
  }

  override length(): number {
    this.known ??= this.items === undefined ? this.countRest() : length(this.items)
    return this.known
  }

  override *iterate(): Iterator<Value> {
    for (let item = this.next(); item !== undefined; item = this.next()) yield new PyTuple([item, this])
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'index':
        return this.index0 + 1
      case 'index0':
        return this.index0
      case 'first':
        return this.index0 === 0
      case 'last':
        return this.peek() === undefined
      case 'length':
        return this.length()
      case 'revindex':
        return this.length() - this.index0
      case 'revindex0':
        return this.length() - this.index0 - 1
      case 'depth':
        return this.depth0 + 1
      case 'depth0':
        return this.depth0
      case 'previtem':
        return orElse(this.before, 'there is no previous item')
      case 'nextitem':
        return orElse(this.peek(), 'there is no next item')
      case 'cycle':
        return new LoopMethod(this, name, ({ positional }) => this.cycle(positional))
      case 'changed':
        return new LoopMethod(this, name, ({ positional }) => this.changed(positional))
      default:
        return undefined
    }
  }

  override call(call: Arguments): Value {
    return withoutPieces(this.invoke(call))
  }

  /** Calls the loop like `call`, but keeps the pieces of the text. */
  invoke(call: Arguments): string | Traced {
    const [items] = bindArguments(CALL, call)
    if (!this.recurse)
      throw new PyError('TypeError', "The loop must have the 'recursive' marker to be called recursively.")
    return this.recurse(items ?? null, this.depth0 + 1)
  }

  private peek(): Value | undefined {
    if (this.after === undefined) {
      const { done, value } = this.iterator.next()
      if (!done) this.after = value
    }
    return this.after
  }

  /** Takes the remaining items to count them; the loop continues with the copy. */
  private countRest(): number {
    const ahead = this.after === undefined ? 0 : 1
    const rest: Value[] = []
    for (let next = this.iterator.next(); !next.done; next = this.iterator.next()) {
      this.runtime.allocate(1)
      rest.push(next.value)
    }
    this.iterator = iterate(rest, this.runtime)
    return rest.length + this.index0 + 1 + ahead
  }

  private cycle(values: readonly Value[]): Value {
    const value = values[this.index0 % values.length]
    if (value === undefined) throw new PyError('TypeError', 'no items for cycling given')
    return value
  }

  private changed(values: readonly Value[]): boolean {
    const now = new PyTuple(values)
    if (this.lastValues !== undefined && equals(this.lastValues, now, this.runtime)) return false
    this.lastValues = now
    return true
  }
}

const CALL = parseSignature('LoopContext.__call__([self], iterable)')

class LoopMethod extends PyObject {
  readonly typeName = 'method'
  private readonly loop: Loop
  private readonly name: string
  private readonly run: (call: Arguments) => Value
  constructor(loop: Loop, name: string, run: (call: Arguments) => Value) {
    super()
    this.loop = loop
    this.name = name
    this.run = run
  }
  repr(): string {
    return `<bound method LoopContext.${this.name} of ${this.loop.repr()}>`
  }
  override call(call: Arguments): Value {
    const [named] = call.named.keys()
    if (named !== undefined)
      throw new PyError('TypeError', `LoopContext.${this.name}() got an unexpected keyword argument '${named}'`)
    return this.run(call)
  }
}

const orElse = (item: Value | undefined, message: string): Value => (item === undefined ? new Undefined(message) : item)

const hasLength = (items: Value): boolean => !(items instanceof PyObject) || items.length !== undefined
