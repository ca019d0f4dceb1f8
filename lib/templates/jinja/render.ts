/** One render: its variables, what it has written, what it may still use, and the line that it is at. */

import { Meter } from './budget.ts'
import { filters } from './builtins/filters.ts'
import { globals } from './builtins/globals.ts'
import { tests } from './builtins/tests.ts'
import { Markup } from './python/markup.ts'
import { str } from './python/operators.ts'
import { codePointLength } from './python/text/code-points.ts'
import { typeName } from './python/text/repr.ts'
import { type Arguments, PyError, PyObject, type Runtime, Undefined, type Value } from './python/values.ts'
import type { Budget } from './rendering.ts'
import { NONE, Pieces, Traced, valueText } from './source-map.ts'
import { LocatedError } from './syntax/syntax.ts'
import type { Trace } from './trace.ts'

/** What a variable holds; undefined: nothing yet. Traced texts are only there while a template is traced. */
export type Slot = Value | Traced | undefined

/** The variables of one call of a function of the template. */
export class Frame {
  readonly slots: Slot[]
  readonly outer: Frame | undefined
  readonly render: Render
  readonly context: Context
  constructor(size: number, outer: Frame | undefined, render: Render, context: Context) {
    this.slots = new Array(size)
    this.outer = outer
    this.render = render
    this.context = context
  }
}

/** What names mean that no scope of the template stores: the caller's variables, and what the top level has set. */
export interface Context {
  readonly variables: ReadonlyMap<string, Value>
  /** Set at the top level: blocks see it. */
  readonly exported: Map<string, Slot>
}

/** Undefined where neither the template, the caller nor jinja2 knows the name. */
export function resolve({ exported, variables }: Context, name: string): Slot {
  const own = exported.get(name)
  if (own !== undefined) return own
  const given = variables.get(name)
  return given === undefined ? globals.get(name) : given
}

export interface RenderSettings {
  /** What strftime_now tells. */
  readonly clock: () => Date
  /** Milliseconds of a clock that does not go back. */
  readonly now: () => number
  readonly budget: Budget
}

/** Calls within calls: macros and recursive loops. Python gives up at 197. */
const MOST_CALLS = 197
/** Nodes of the tree that are at work within each other: more than a third of what V8 has room for. */
const MOST_NODES = 2000
/** What calling takes besides, in nodes. */
const NODES_OF_CALL = 6

export class Render implements Runtime {
  readonly clock: () => Date
  /** Of the statement or output expression that runs. */
  line = 1
  /** What the running function of the template has written. */
  text = ''
  /** What the block wrote that a filter without an input stands behind. */
  captured: string | Traced = ''
  /** Set by `{% autoescape %}`; off otherwise. */
  autoescape = false
  readonly trace: Trace | undefined
  /** In characters of the text. Those that stand elsewhere than where they were measured are moved at the end. */
  readonly generation: { readonly start: number; readonly codePoints: number }[] = []
  private readonly meter: Meter
  private calls = 0
  private nodes = 0
  private captures = 0
  /** Length of what the template itself has written while something else is captured. */
  private written = 0

  constructor({ clock, now, budget }: RenderSettings, trace: Trace | undefined) {
    this.clock = clock
    this.trace = trace
    this.meter = new Meter(budget, now)
  }

  step(count = 1): void {
    this.meter.step(count)
  }

  allocate(size: number): void {
    this.meter.allocate(size)
  }

  /** As allocate, for the sum of texts. */
  join(size: number): void {
    this.meter.join(size)
  }

  /** Writes a text whose pieces, if any, are told elsewhere. */
  append(text: string): void {
    this.text += text
    this.meter.within(this.text.length)
  }

  call(callee: Value, call: Arguments): Value {
    this.step()
    if (callee instanceof PyObject && callee.call) return callee.call(call, this)
    if (callee instanceof Undefined) throw new PyError(callee.className, callee.message)
    throw new PyError('TypeError', `'${typeName(callee)}' object is not callable`)
  }

  filter(name: string, value: Value, call: Arguments): Value {
    const filter = filters.get(name)
    if (!filter) throw new PyError('TemplateRuntimeError', `No filter named '${name}'.`)
    this.step()
    return filter(value, call, this)
  }

  test(name: string, value: Value, call: Arguments): boolean {
    const test = tests.get(name)
    if (!test) throw new PyError('TemplateRuntimeError', `No test named '${name}'.`)
    this.step()
    return test(value, call, this)
  }

  /** Runs a function of the template: what it writes is its result. `height`: of its tree. */
  run(height: number, body: () => void): string | Traced {
    const { line, nodes } = this
    this.calls += 1
    this.nodes += height + NODES_OF_CALL
    if (this.calls > MOST_CALLS || this.nodes > MOST_NODES)
      throw new PyError('RecursionError', 'maximum recursion depth exceeded')
    const result = this.capture(body)
    // Not where the body fails: the error has the line in it.
    this.line = line
    this.nodes = nodes
    this.calls -= 1
    return result
  }

  /** What the body writes, in its stead. */
  capture(body: () => void): string | Traced {
    const { text, trace } = this
    const pieces = trace?.pieces
    const read = trace?.read
    if (this.captures === 0) this.written = text.length
    this.captures += 1
    this.text = ''
    if (trace) trace.pieces = new Pieces()
    body()
    const written = this.text
    const result = trace ? trace.pieces.text(written) : written
    this.captures -= 1
    this.text = text
    if (trace && pieces && read !== undefined) {
      trace.pieces = pieces
      trace.read = read
    }
    return result
  }

  /** Writes a value. */
  write(value: Value | Traced): void {
    const text = typeof value === 'string' ? value : value instanceof Traced ? value.text : str(value, this)
    this.append(text)
    if (this.trace) this.trace.write(value instanceof Traced ? value : valueText(text, NONE), this.line)
  }

  /** What a filter or a call block gives: jinja2 does not make a text of it before it joins all texts. */
  writeResult(value: Value | Traced): void {
    if (typeof value === 'string' || value instanceof Traced || value instanceof Markup) this.write(value)
    else
      throw new LocatedError(
        'TypeError',
        `sequence item 0: expected str instance, ${typeName(value)} found`,
        this.captures > 0 ? this.line : undefined,
      )
  }

  /** transformers' tracker: measures what the template itself has written so far, wherever the block stands. */
  generated(text: string): void {
    this.generation.push({
      start: this.captures === 0 ? this.text.length : this.written,
      codePoints: codePointLength(text),
    })
  }
}

/** A value without its pieces. */
export const plain = <T extends Slot>(slot: T): Exclude<T, Traced> =>
  (slot instanceof Traced ? slot.text : slot) as Exclude<T, Traced>
