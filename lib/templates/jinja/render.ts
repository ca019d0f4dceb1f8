/** One render: its variables, its output, its budget and its current line. */

import { Meter } from './budget.ts'
import { filters } from './builtins/filters.ts'
import { globals } from './builtins/globals.ts'
import { tests } from './builtins/tests.ts'
import { Markup } from './python/markup.ts'
import { str } from './python/operators.ts'
import { codePointLength } from './python/text/code-points.ts'
import { typeName } from './python/text/repr.ts'
import { type Arguments, PyError, PyObject, type Runtime, Undefined, type Value } from './python/values.ts'
import type { RenderLimits } from './rendering.ts'
import { NONE, Pieces, Traced, type VariableValue, valueText } from './source-map.ts'
import { LocatedError } from './syntax/syntax.ts'
import type { Trace } from './trace.ts'

/** The variables of one call of a function of the template. */
export class VariableFrame {
  readonly slots: VariableValue[]
  readonly outer: VariableFrame | undefined
  readonly render: Render
  readonly context: Context
  constructor(size: number, outer: VariableFrame | undefined, render: Render, context: Context) {
    this.slots = new Array(size)
    this.outer = outer
    this.render = render
    this.context = context
  }
}

/** Values of the names that no scope of the template stores: the caller's variables and those set at the top level. */
export interface Context {
  readonly variables: ReadonlyMap<string, Value>
  /** Variables set at the top level, which blocks see. */
  readonly exported: Map<string, VariableValue>
}

/** Returns the value of a name; undefined if neither the template, the caller nor jinja2 knows it. */
export function resolve({ exported, variables }: Context, name: string): VariableValue {
  const own = exported.get(name)
  if (own !== undefined) return own
  const value = variables.get(name)
  return value === undefined ? globals.get(name) : value
}

/** Clocks and budget of one render. */
export interface RenderSettings {
  /** Time that strftime_now formats. */
  readonly clock: () => Date
  /** Milliseconds of a clock that does not go back. */
  readonly now: () => number
  readonly budget: RenderLimits
}

/** Most nested calls of macros and recursive loops; Python gives up at the same depth. */
const MOST_CALLS = 197
/** Most nodes of the tree that are evaluated within each other: more than a third of what the stack of V8 has room for. */
const MOST_NODES = 2000
/** Nodes that a call costs in addition to its body. */
const NODES_OF_CALL = 6

/** State of one render, which the compiled template and the built-in functions read and change. */
export class Render implements Runtime {
  readonly clock: () => Date
  /** Line of the statement or output expression that runs. */
  line = 1
  /** Text that the running function of the template has written. */
  text = ''
  /** Text of the block to which a filter without an input of its own applies. */
  captured: string | Traced = ''
  /** Whether autoescape is on; only `{% autoescape %}` turns it on. */
  autoescape = false
  readonly trace: Trace | undefined
  /** Generation blocks as measured while they ran: start in UTF-16 units of the text, length in code points. */
  readonly generation: { readonly start: number; readonly codePoints: number }[] = []
  private readonly meter: Meter
  private calls = 0
  private nodes = 0
  private captures = 0
  /** Length of the text that the template itself has written, while a block is captured. */
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

  /** Charges the sum of texts, which costs less than other allocations. */
  join(size: number): void {
    this.meter.join(size)
  }

  /** Appends a text; the caller records its pieces, if any. */
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

  /**
   * Runs a function of the template and returns what it writes. `height` is the height of its tree. Throws PyError (RecursionError) if
   * calls are nested too deeply.
   */
  run(height: number, body: () => void): string | Traced {
    const { line, nodes } = this
    this.calls += 1
    this.nodes += height + NODES_OF_CALL
    if (this.calls > MOST_CALLS || this.nodes > MOST_NODES)
      throw new PyError('RecursionError', 'maximum recursion depth exceeded')
    const result = this.capture(body)
    // A body that fails keeps its line, which becomes the line of the error.
    this.line = line
    this.nodes = nodes
    this.calls -= 1
    return result
  }

  /** Runs `body` and returns what it writes instead of writing it. */
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

  /** Writes `str(value)`, or a traced text with its pieces. */
  write(value: Value | Traced): void {
    const text = typeof value === 'string' ? value : value instanceof Traced ? value.text : str(value, this)
    this.append(text)
    if (this.trace) this.trace.write(value instanceof Traced ? value : valueText(text, NONE), this.line)
  }

  /**
   * Writes the result of a filter or a call block. jinja2 joins it with the other texts without converting it, so that anything but text
   * throws LocatedError (TypeError).
   */
  writeResult(value: Value | Traced): void {
    if (typeof value === 'string' || value instanceof Traced || value instanceof Markup) this.write(value)
    else
      throw new LocatedError(
        'TypeError',
        `sequence item 0: expected str instance, ${typeName(value)} found`,
        this.captures > 0 ? this.line : undefined,
      )
  }

  /**
   * Records a generation block as transformers' tracker does: it starts after what the template itself has written so far, wherever the
   * block is.
   */
  generated(text: string): void {
    this.generation.push({
      start: this.captures === 0 ? this.text.length : this.written,
      codePoints: codePointLength(text),
    })
  }
}

/** Returns a value without its pieces. */
export const withoutPieces = <T extends VariableValue>(slot: T): Exclude<T, Traced> =>
  (slot instanceof Traced ? slot.text : slot) as Exclude<T, Traced>
