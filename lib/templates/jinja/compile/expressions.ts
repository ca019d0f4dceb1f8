/**
 * Compiles expressions to functions that evaluate them in a frame. Names, filters and constants are resolved here, once. While a template
 * is traced, expressions that compose texts evaluate to texts with their pieces (Traced); all others evaluate to plain values in either
 * case.
 */

import { filters } from '../builtins/filters.ts'
import { tests } from '../builtins/tests.ts'
import { Loop } from '../loop.ts'
import { Macro } from '../macro.ts'
import { getAttribute, getItem, slice } from '../python/attributes.ts'
import {
  add,
  compareValues,
  contains,
  divide,
  equals,
  floorDivide,
  iterate,
  modulo,
  multiply,
  negate,
  positive,
  power,
  str,
  subtract,
  truth,
} from '../python/operators.ts'
import { quoteText } from '../python/text/code-points.ts'
import { typeName } from '../python/text/repr.ts'
import {
  type Arguments,
  PyDict,
  PyError,
  PyObject,
  PyTuple,
  type Runtime,
  Undefined,
  type Value,
} from '../python/values.ts'
import { type VariableFrame, withoutPieces } from '../render.ts'
import { concatTraced, literalTraced, NONE, sliceTraced, Traced, type VariableValue, valueText } from '../source-map.ts'
import type { FunctionScope, Symbols, Variable } from '../syntax/scope.ts'
import {
  type Attribute,
  type Binary,
  type BinaryOperator,
  type Call,
  type CallArguments,
  type Compare,
  type ComparisonOperator,
  type Conditional,
  type Expression,
  type FilterNode,
  type ItemNode,
  LocatedError,
  type TestNode,
} from '../syntax/syntax.ts'
import type { Trace } from '../trace.ts'

/** Evaluates an expression to a plain value. Throws PyError. */
export type Evaluate = (frame: VariableFrame) => Value
/** Evaluates an expression whose text may know its pieces. Throws PyError. */
export type EvaluateText = (frame: VariableFrame) => Value | Traced

/** The position of an expression in the template. */
export interface ExpressionContext {
  readonly symbols: Symbols
  /** Whether the expression is in a branch that may not run, where an unknown filter is an error only when it is called. */
  readonly isSoft: boolean
  readonly isTraced: boolean
  readonly state: CompilationState
}

/** Counts and errors that a compilation collects. */
export interface CompilationState {
  /** Number of nodes that were compiled. */
  nodes: number
  /** The first error that Python finds in the code that jinja2 writes, once all of it is written. */
  refused: LocatedError | undefined
}

/** Records a SyntaxError, unless an earlier one is recorded. */
export function recordSyntaxError(state: CompilationState, message: string, line: number): void {
  state.refused ??= new LocatedError('SyntaxError', message, line)
}

/** Compiles an expression to a plain value. Throws LocatedError for an unknown filter or test outside of branches. */
export function compileExpression(node: Expression, place: ExpressionContext): Evaluate {
  place.state.nodes += 1
  switch (node.kind) {
    case 'const': {
      const { value } = node
      return () => value
    }
    case 'name':
      return nameEvaluation(node.name, place)
    case 'getattr':
      return attributeEvaluation(node, place)
    case 'getitem':
      return itemEvaluation(node, place)
    case 'call':
      return callEvaluation(node, place)
    case 'filter':
      return filterEvaluation(node, place)
    case 'test':
      return testEvaluation(node, place)
    case 'condexpr':
      return conditionalEvaluation(node, place, compileExpression)
    case 'compare':
      return comparisonEvaluation(node, place)
    case 'not': {
      const operand = compileExpression(node.operand, place)
      return (frame) => !truth(operand(frame))
    }
    case 'neg': {
      const operand = compileExpression(node.operand, place)
      return (frame) => negate(operand(frame))
    }
    case 'pos': {
      const operand = compileExpression(node.operand, place)
      return (frame) => positive(operand(frame))
    }
    case 'concat': {
      const parts = node.parts.map((item) => compileExpression(item, place))
      return (frame) => {
        let text = ''
        for (const item of parts) text += str(item(frame), frame.render)
        frame.render.join(text.length)
        return text
      }
    }
    case 'list': {
      const items = node.items.map((item) => compileExpression(item, place))
      return (frame) => items.map((item) => item(frame))
    }
    case 'tuple': {
      const items = node.items.map((item) => compileExpression(item, place))
      return (frame) => new PyTuple(items.map((item) => item(frame)))
    }
    case 'dict': {
      const items = node.items.map(
        ({ key, value }) => [compileExpression(key, place), compileExpression(value, place)] as const,
      )
      return (frame) => PyDict.of(items.map(([key, value]) => [key(frame), value(frame)] as const))
    }
    case 'slice':
      // Only x[1:2, 3] reaches this case: jinja2 writes Python for it that Python cannot parse.
      throw new LocatedError('SyntaxError', 'invalid syntax', node.line)
    default:
      return binaryEvaluation(node, place)
  }
}

/** Compiles an expression like `compileExpression`. While a template is traced, composed texts know their pieces. */
export function textEvaluation(node: Expression, place: ExpressionContext): EvaluateText {
  if (!place.isTraced) return compileExpression(node, place)
  switch (node.kind) {
    case 'const': {
      if (typeof node.value !== 'string') return compileExpression(node, place)
      const text = literalTraced(node.value, node.line)
      return () => text
    }
    case 'name':
      return slotEvaluation(node.name, place)
    case 'condexpr':
      return conditionalEvaluation(node, place, textEvaluation)
    case 'and':
    case 'or': {
      const left = textEvaluation(node.left, place)
      const right = textEvaluation(node.right, place)
      const isAnd = node.kind === 'and'
      return (frame) => {
        const value = left(frame)
        return truth(withoutPieces(value)) === isAnd ? right(frame) : value
      }
    }
    case 'add': {
      const left = textEvaluation(node.left, place)
      const right = textEvaluation(node.right, place)
      return (frame) => {
        const { render } = frame
        const { trace } = render
        if (!trace) return add(withoutPieces(left(frame)), withoutPieces(right(frame)), render)
        const [a, first] = operand(left, frame, trace)
        const [b, second] = operand(right, frame, trace)
        if (!first || !second) return add(withoutPieces(a), withoutPieces(b), render)
        render.join(first.text.length + second.text.length)
        return concatTraced(first, second)
      }
    }
    case 'concat': {
      const parts = node.parts.map((item) => textEvaluation(item, place))
      return (frame) => {
        const { render } = frame
        const { trace } = render
        let text: Traced | undefined
        for (const item of parts) {
          if (!trace) continue
          const [value, known] = operand(item, frame, trace)
          const next = known ?? valueText(str(withoutPieces(value), render), NONE)
          render.join((text?.text.length ?? 0) + next.text.length)
          text = text ? concatTraced(text, next) : next
        }
        return text ?? ''
      }
    }
    case 'call':
      return tracedCall(node, place)
    case 'filter':
      return filterTextEvaluation(node, place)
    case 'getattr': {
      const object = compileExpression(node.object, place)
      const { name } = node
      const read = tracedAttribute(name)
      return (frame) => {
        const value = object(frame)
        const found = read(value, frame)
        return frame.render.trace?.attribute(value, name, found) ?? found
      }
    }
    default:
      return compileExpression(node, place)
  }
}

/** Returns the value of an operand, and the value as a text with the message that was read for it (undefined if it is not text). */
function operand(
  evaluate: EvaluateText,
  frame: VariableFrame,
  trace: Trace,
): readonly [Value | Traced, Traced | undefined] {
  const before = trace.read
  trace.read = NONE
  const value = evaluate(frame)
  const text = trace.operand(value)
  trace.readAlso(before)
  return [value, text]
}

// The functions below compile names.

/** Returns a function that reads a variable from a frame of the function `from`. */
export const compileRead = (variable: Variable, from: FunctionScope): ((frame: VariableFrame) => VariableValue) => {
  const { slot } = variable
  const hops = hopsTo(variable, from)
  if (hops === 0) return (frame) => frame.slots[slot]
  if (hops === 1) return (frame) => frame.outer?.slots[slot]
  return (frame) => outwards(frame, hops).slots[slot]
}

/** Returns a function that writes a variable from a frame of the function `from`. */
export const writer = (
  variable: Variable,
  from: FunctionScope,
): ((frame: VariableFrame, value: VariableValue) => void) => {
  const { slot } = variable
  const hops = hopsTo(variable, from)
  if (hops === 0)
    return (frame, value) => {
      frame.slots[slot] = value
    }
  return (frame, value) => {
    outwards(frame, hops).slots[slot] = value
  }
}

function hopsTo({ scope }: Variable, from: FunctionScope): number {
  let hops = 0
  for (let at: FunctionScope | undefined = from; at && at !== scope; at = at.outer) hops++
  return hops
}

function outwards(frame: VariableFrame, hops: number): VariableFrame {
  let at = frame
  for (let hop = 0; hop < hops; hop++) at = at.outer ?? at
  return at
}

/** Returns the variable of a name. Throws LocatedError (AssertionError) for a name that jinja2 itself fails to find. */
export function variableOf(name: string, symbols: Symbols): Variable {
  const variable = symbols.find(name)
  if (variable) return variable
  const message = `Tried to resolve a name to a reference that was unknown to the frame ('${name}')`
  throw new LocatedError('AssertionError', message, undefined)
}

function slotEvaluation(name: string, { symbols }: ExpressionContext): EvaluateText {
  const read = compileRead(variableOf(name, symbols), symbols.function)
  const missing = new Undefined(`'${name}' is undefined`)
  return (frame) => {
    const value = read(frame)
    return value === undefined ? missing : value
  }
}

function nameEvaluation(name: string, place: ExpressionContext): Evaluate {
  const { symbols, isTraced } = place
  const variable = variableOf(name, symbols)
  const missing = new Undefined(`'${name}' is undefined`)
  const read = compileRead(variable, symbols.function)
  if (isTraced)
    return (frame) => {
      const value = read(frame)
      return value === undefined ? missing : withoutPieces(value)
    }
  if (variable.scope === symbols.function) {
    const { slot } = variable
    return (frame) => {
      const value = frame.slots[slot]
      return value === undefined ? missing : (value as Value)
    }
  }
  return (frame) => {
    const value = read(frame)
    return value === undefined ? missing : (value as Value)
  }
}

// The functions below compile attributes and items.

function attributeEvaluation({ object, name }: Attribute, place: ExpressionContext): Evaluate {
  const of = compileExpression(object, place)
  const read = place.isTraced ? tracedAttribute(name) : attributeReader(name)
  return (frame) => read(of(frame), frame)
}

type Reader = (value: Value, frame: VariableFrame) => Value

const tracedAttribute = (name: string): Reader => {
  const read = attributeReader(name)
  return (value, frame) => read(noteVariable(value, frame), frame)
}

function attributeReader(name: string): Reader {
  const read = keyReader(name)
  return (value, frame) => (read && value instanceof PyDict ? read(value) : getAttribute(value, name, frame.render))
}

/**
 * Returns a reader of a dict's key. Returns undefined for the name of a method, which `.name` finds first and `['name']` last, and for
 * names that begin with an underscore.
 */
function keyReader(name: string): ((dict: PyDict) => Value) | undefined {
  if (name.startsWith('_') || DICT_ATTRIBUTES.has(name)) return undefined
  const missing = new Undefined(`'dict object' has no attribute ${quoteText(name)}`)
  return (dict) => {
    const found = dict.get(name)
    return found === undefined ? missing : found
  }
}

const DICT_ATTRIBUTES: ReadonlySet<string> = new Set([
  'clear',
  'copy',
  'fromkeys',
  'get',
  'items',
  'keys',
  'pop',
  'popitem',
  'setdefault',
  'update',
  'values',
])

function itemEvaluation({ object, key }: ItemNode, place: ExpressionContext): Evaluate {
  const of = compileExpression(object, place)
  if (key.kind === 'slice') {
    const start = key.start && compileExpression(key.start, place)
    const stop = key.stop && compileExpression(key.stop, place)
    const step = key.step && compileExpression(key.step, place)
    return (frame) =>
      slice(of(frame), start ? start(frame) : null, stop ? stop(frame) : null, step ? step(frame) : null, frame.render)
  }
  if (key.kind === 'const') {
    const read = itemReader(key.value)
    return place.isTraced ? (frame) => read(noteVariable(of(frame), frame), frame) : (frame) => read(of(frame), frame)
  }
  const at = compileExpression(key, place)
  return place.isTraced
    ? (frame) => itemOf(noteVariable(of(frame), frame), at(frame), frame)
    : (frame) => itemOf(of(frame), at(frame), frame)
}

function itemReader(key: Value): Reader {
  const read = typeof key === 'string' ? keyReader(key) : undefined
  return (value, frame) => (read && value instanceof PyDict ? read(value) : itemOf(value, key, frame))
}

function itemOf(value: Value, key: Value, frame: VariableFrame): Value {
  if (typeof key === 'string') {
    const found = value instanceof PyDict ? value.get(key) : undefined
    if (found !== undefined) return found
  } else if (typeof key === 'number' && Array.isArray(value)) {
    const found = value[key < 0 ? key + value.length : key]
    if (found !== undefined) return found
  }
  return getItem(value, key, frame.render)
}

/** Returns the value and records its message, if any, as read. */
function noteVariable(value: Value, frame: VariableFrame): Value {
  frame.render.trace?.reads(value)
  return value
}

// The functions below compile calls.

/** Name, in messages of Python, of the function through which a template calls others. */
export const CALL = 'jinja2.sandbox.SandboxedEnvironment.call()'

function callEvaluation(node: Call, place: ExpressionContext): Evaluate {
  const called = compileExpression(node.callee, place)
  const evaluateArguments = argumentsEvaluation(node, place, CALL)
  return (frame) => {
    const target = called(frame)
    return frame.render.call(target, evaluateArguments(frame))
  }
}

/** Compiles a call so that the text of a macro or a recursive loop keeps its pieces. */
function tracedCall(node: Call, place: ExpressionContext): EvaluateText {
  const called = compileExpression(node.callee, place)
  const evaluateArguments = argumentsEvaluation(node, place, CALL)
  return (frame) => {
    const target = called(frame)
    const { render } = frame
    if (target instanceof Macro && !render.autoescape) return target.invoke(evaluateArguments(frame), render)
    if (target instanceof Loop) return target.invoke(evaluateArguments(frame))
    return render.call(target, evaluateArguments(frame))
  }
}

/** Evaluates the arguments of a call. */
export type EvaluateArguments = (frame: VariableFrame) => Arguments

const NO_NAMES: ReadonlyMap<string, Value> = new Map()
/** Arguments of a call that passes none. */
export const NO_ARGUMENTS: Arguments = { positional: [], named: NO_NAMES }

/** Compiles the arguments of a call. `of` is the name of the called function in Python's messages about them. */
export function argumentsEvaluation(
  { call, line }: { readonly call: CallArguments; readonly line: number },
  place: ExpressionContext,
  of: string,
): EvaluateArguments {
  const repeated = firstRepeated(call.named.map(({ name }) => name))
  if (repeated !== undefined) recordSyntaxError(place.state, `keyword argument repeated: ${repeated}`, line)
  const positional = call.positional.map((item) => compileExpression(item, place))
  const named = call.named.map(({ name, value }) => [name, compileExpression(value, place)] as const)
  const starred = call.starred && compileExpression(call.starred, place)
  const doubleStarred = call.doubleStarred && compileExpression(call.doubleStarred, place)
  const values: EvaluateArguments =
    positional.length === 0 && !starred
      ? () => NO_ARGUMENTS
      : (frame) => ({
          positional: [
            ...positional.map((item) => item(frame)),
            ...(starred ? spread(starred(frame), frame.render) : []),
          ],
          named: NO_NAMES,
        })
  const [only] = positional
  if (only && positional.length === 1 && !starred && named.length === 0 && !doubleStarred)
    return (frame) => ({ positional: [only(frame)], named: NO_NAMES })
  if (named.length === 0 && !doubleStarred) return values
  return (frame) => {
    const ownVariables = values(frame)
    const all = new Map<string, Value>()
    for (const [name, value] of named) all.set(name, value(frame))
    if (doubleStarred) addNamed(all, doubleStarred(frame), of)
    return { positional: ownVariables.positional, named: all }
  }
}

/** Returns the first name that an earlier one equals, in one pass: a template may have tens of thousands in one list. */
export function firstRepeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

function spread(value: Value, runtime: Runtime): Value[] {
  const isIterable = !(value === null || typeof value === 'boolean' || typeof value === 'number')
  if (!isIterable || (value instanceof PyObject && !value.iterate && !('html' in value)))
    throw new PyError('TypeError', `Value after * must be an iterable, not ${typeName(value)}`)
  const items: Value[] = []
  const iterator = iterate(value, runtime)
  for (let next = iterator.next(); !next.done; next = iterator.next()) {
    runtime.allocate(1)
    items.push(next.value)
  }
  return items
}

function addNamed(all: Map<string, Value>, value: Value, of: string): void {
  if (value instanceof Undefined) throw new PyError(value.className, value.message)
  if (!(value instanceof PyDict))
    throw new PyError('TypeError', `${of} argument after ** must be a mapping, not ${typeName(value)}`)
  for (const [name, item] of value.entries()) {
    if (typeof name !== 'string') throw new PyError('TypeError', 'keywords must be strings')
    if (all.has(name)) throw new PyError('TypeError', `${of} got multiple values for keyword argument '${name}'`)
    all.set(name, item)
  }
}

// The functions below compile filters and tests.

function filterEvaluation(node: FilterNode, place: ExpressionContext): Evaluate {
  const input = inputEvaluation(node, place, compileExpression)
  const apply = filterApplication(node, place)
  return (frame) => apply(withoutPieces(input(frame)), frame)
}

/** Compiles a filter. A text that the filter does not change keeps its pieces, and a trimmed text keeps those that remain. */
function filterTextEvaluation(node: FilterNode, place: ExpressionContext): EvaluateText {
  const input = inputEvaluation(node, place, textEvaluation)
  const apply = filterApplication(node, place)
  const isTrim = node.name === 'trim'
  return (frame) => {
    const value = input(frame)
    const result = apply(withoutPieces(value), frame)
    if (!(value instanceof Traced) || typeof result !== 'string') return result
    if (result === value.text) return value
    if (!isTrim || result === '') return result
    const start = value.text.indexOf(result)
    return sliceTraced(value, start, start + result.length)
  }
}

const inputEvaluation = (
  { input }: FilterNode,
  place: ExpressionContext,
  evaluate: (node: Expression, place: ExpressionContext) => EvaluateText,
): EvaluateText => (input ? evaluate(input, place) : (frame) => frame.render.captured)

function filterApplication(node: FilterNode, place: ExpressionContext): Reader {
  const { name, line } = node
  const filter = filters.get(name)
  if (!filter && !place.isSoft) throw new LocatedError('TemplateAssertionError', `No filter named '${name}'.`, line)
  const evaluateArguments = argumentsEvaluation(node, place, `${name}()`)
  if (!filter)
    return () => {
      throw new PyError('TemplateRuntimeError', `No filter named '${name}' found.`)
    }
  return (value, frame) => {
    frame.render.step()
    return filter(value, evaluateArguments(frame), frame.render)
  }
}

function testEvaluation(node: TestNode, place: ExpressionContext): Evaluate {
  const { input, name, line } = node
  const test = tests.get(name)
  if (!test && !place.isSoft) throw new LocatedError('TemplateAssertionError', `No test named '${name}'.`, line)
  const value = compileExpression(input, place)
  const evaluateArguments = argumentsEvaluation(node, place, `${name}()`)
  if (!test)
    return () => {
      throw new PyError('TemplateRuntimeError', `No test named '${name}' found.`)
    }
  return (frame) => test(value(frame), evaluateArguments(frame), frame.render)
}

// The functions below compile conditions and operators.

function conditionalEvaluation<T extends Value | Traced>(
  { test, then, otherwise, line }: Conditional,
  outer: ExpressionContext,
  evaluate: (node: Expression, place: ExpressionContext) => (frame: VariableFrame) => T | Value,
): (frame: VariableFrame) => T | Value {
  const place = { ...outer, isSoft: true }
  const condition = compileExpression(test, place)
  const whenTrue = evaluate(then, place)
  const missing = new Undefined(
    `the inline if-expression on line ${line} evaluated to false and no else section was defined.`,
  )
  const whenFalse = otherwise ? evaluate(otherwise, place) : () => missing
  return (frame) => (truth(condition(frame)) ? whenTrue(frame) : whenFalse(frame))
}

function comparisonEvaluation({ first, rest }: Compare, place: ExpressionContext): Evaluate {
  const left = compileExpression(first, place)
  const steps = rest.map(({ operator, operand }) => ({
    holds: COMPARISONS[operator],
    operand: compileExpression(operand, place),
  }))
  const [only] = steps
  if (only && steps.length === 1) {
    const { holds, operand: right } = only
    return (frame) => holds(left(frame), right(frame), frame.render)
  }
  return (frame) => {
    let before = left(frame)
    for (const { holds, operand: right } of steps) {
      const value = right(frame)
      if (!holds(before, value, frame.render)) return false
      before = value
    }
    return true
  }
}

function same(a: Value, b: Value, runtime: Runtime): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return equals(a, b, runtime)
  if (a.length === b.length) chargeLength(a, runtime)
  return a === b
}

function has(container: Value, needle: Value, runtime: Runtime): boolean {
  if (typeof container === 'string') chargeLength(container, runtime)
  return contains(needle, container, runtime)
}

/** Charges a long text as many steps, because the operation reads all of it. */
const chargeLength = ({ length }: string, runtime: Runtime): void => {
  if (length > LONG) runtime.step(length / LONG)
}

const LONG = 1024

const COMPARISONS: Readonly<Record<ComparisonOperator, (a: Value, b: Value, runtime: Runtime) => boolean>> = {
  eq: same,
  ne: (a, b, runtime) => !same(a, b, runtime),
  lt: (a, b, runtime) => compareValues('<', a, b, runtime),
  lteq: (a, b, runtime) => compareValues('<=', a, b, runtime),
  gt: (a, b, runtime) => compareValues('>', a, b, runtime),
  gteq: (a, b, runtime) => compareValues('>=', a, b, runtime),
  in: (a, b, runtime) => has(b, a, runtime),
  notin: (a, b, runtime) => !has(b, a, runtime),
}

function binaryEvaluation(node: Binary, place: ExpressionContext): Evaluate {
  const left = compileExpression(node.left, place)
  const right = compileExpression(node.right, place)
  if (node.kind === 'and')
    return (frame) => {
      const value = left(frame)
      return truth(value) ? right(frame) : value
    }
  if (node.kind === 'or')
    return (frame) => {
      const value = left(frame)
      return truth(value) ? value : right(frame)
    }
  if (node.kind === 'add')
    return (frame) => {
      const a = left(frame)
      const b = right(frame)
      if (typeof a !== 'string' || typeof b !== 'string') return add(a, b, frame.render)
      // JavaScript keeps the two texts as parts of the sum, which costs less than a copy.
      frame.render.join(a.length + b.length)
      return a + b
    }
  const operate = OPERATIONS[node.kind]
  return (frame) => operate(left(frame), right(frame), frame.render)
}

const OPERATIONS: Readonly<
  Record<Exclude<BinaryOperator, 'and' | 'or' | 'add'>, (a: Value, b: Value, runtime: Runtime) => Value>
> = { sub: subtract, mul: multiply, div: divide, floordiv: floorDivide, mod: modulo, pow: power }
