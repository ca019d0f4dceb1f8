/** Compiles `set` and `with`. */

import { Namespace } from '../builtins/globals.ts'
import { iteratorOf, nextItem } from '../python/iteration.ts'
import { Markup } from '../python/markup.ts'
import { str } from '../python/operators.ts'
import { typeName } from '../python/text/repr.ts'
import { PyError, type Value } from '../python/values.ts'
import { type Render, type VariableFrame, withoutPieces } from '../render.ts'
import { NONE, type VariableValue } from '../source-map.ts'
import { collect, collectParameters } from '../syntax/scope.ts'
import type { Assign, AssignBlock, AssignmentTarget, With } from '../syntax/syntax.ts'
import {
  all,
  type Compilation,
  compileCapture,
  compileScopeEntry,
  compileScopeExit,
  type Execute,
  innerScope,
  NEXT,
  type StatementScope,
} from './compilation.ts'
import { compileRead, textEvaluation, variableOf, writer } from './expressions.ts'

/** Compiles `{% set target = value %}`. */
export function assignment(compilation: Compilation, { target, value, line }: Assign, scope: StatementScope): Execute {
  const check = namespaceCheck(compilation, target, scope)
  compilation.line = line
  const evaluate = textEvaluation(value, scope)
  const store = compileStore(compilation, target, scope)
  if (compilation.isTraced)
    return (frame) => {
      const { render } = frame
      check?.(frame)
      render.line = line
      if (render.trace) render.trace.read = NONE
      const found = evaluate(frame)
      store(frame, render.trace ? render.trace.kept(found) : found)
      render.trace?.meets(found)
      return NEXT
    }
  return (frame) => {
    check?.(frame)
    frame.render.line = line
    store(frame, evaluate(frame))
    return NEXT
  }
}

/** Compiles `{% set target %}…{% endset %}`, with or without a filter. */
export function blockAssignment(
  compilation: Compilation,
  { target, filter, body, line }: AssignBlock,
  scope: StatementScope,
): Execute {
  const inner = innerScope(scope)
  collect(body, inner.symbols)
  const enter = compileScopeEntry(inner.symbols)
  const capture = compileCapture(compilation.sequence(body, inner))
  compilation.line = line
  const evaluate = filter && textEvaluation(filter, inner)
  const store = compileStore(compilation, target, scope)
  const leave = compileScopeExit(inner.symbols)
  return (frame) => {
    const { render } = frame
    enter(frame)
    const signal = capture(frame)
    if (signal !== NEXT) return signal
    render.line = line
    const value = evaluate ? evaluate(frame) : render.captured
    store(frame, render.autoescape ? markup(withoutPieces(value), render) : value)
    leave(frame)
    return NEXT
  }
}

/** Compiles `{% with %}`. The values are evaluated in the outer scope. */
export function withBlock(compilation: Compilation, { bindings, body }: With, scope: StatementScope): Execute {
  const inner = innerScope(scope)
  for (const { target } of bindings) collectParameters(target, inner.symbols)
  collect(body, inner.symbols)
  const enter = compileScopeEntry(inner.symbols)
  const { line } = compilation
  const binds = bindings.map(({ target, value }) => ({
    evaluate: textEvaluation(value, scope),
    store: compileStore(compilation, target, inner),
  }))
  const run = compilation.sequence(body, inner)
  const leave = compileScopeExit(inner.symbols)
  return (frame) => {
    enter(frame)
    frame.render.line = line
    for (const { evaluate, store } of binds) {
      const { trace } = frame.render
      if (trace) trace.read = NONE
      const value = evaluate(frame)
      store(frame, trace ? trace.kept(value) : value)
    }
    const signal = run(frame)
    leave(frame)
    return signal
  }
}

/** Returns a function that stores a value in a target. */
export function compileStore(
  compilation: Compilation,
  target: AssignmentTarget,
  scope: StatementScope,
): (frame: VariableFrame, value: VariableValue) => void {
  const { symbols, isTop } = scope
  if (target.kind === 'name-target') {
    const { name } = target
    const write = writer(variableOf(name, symbols), symbols.function)
    if (!isTop || compilation.survey.blocks.size === 0) return write
    return (frame, value) => {
      write(frame, value)
      frame.context.exported.set(name, value)
    }
  }
  if (target.kind === 'namespace-target') {
    const read = compileRead(variableOf(target.name, symbols), symbols.function)
    const { attribute } = target
    return (frame, value) => {
      const namespace = read(frame)
      if (!(namespace instanceof Namespace)) throw noItems(withoutPieces(namespace))
      if (value === undefined) return
      namespace.set(attribute, withoutPieces(value))
      frame.render.trace?.keepAttribute(namespace, attribute, value)
    }
  }
  const stores = target.items.map((item) => compileStore(compilation, item, scope))
  return (frame, value) => {
    const values = unpackValue(withoutPieces(value) ?? null, stores.length, frame.render)
    for (const [index, store] of stores.entries()) store(frame, values[index])
  }
}

/**
 * Returns the TypeError for a set block that assigns to something other than a namespace; no check precedes it. Dicts are refused too,
 * because templates must not change them.
 */
function noItems(value: Value | undefined): PyError {
  if (Array.isArray(value)) return new PyError('TypeError', 'list indices must be integers or slices, not str')
  const type = value === undefined ? '_MissingType' : typeName(value)
  return new PyError('TypeError', `'${type}' object does not support item assignment`)
}

/**
 * Returns a check that runs before the statement, at the line before it: attributes can only be set on namespaces. Returns undefined if the
 * target sets no attribute.
 */
function namespaceCheck(
  compilation: Compilation,
  target: AssignmentTarget,
  scope: StatementScope,
): ((frame: VariableFrame) => void) | undefined {
  const names = new Set(namespacesOf(target))
  const { line } = compilation
  if (names.size === 0) return undefined
  return all(
    [...names].map((name) => {
      const read = compileRead(variableOf(name, scope.symbols), scope.symbols.function)
      return (frame) => {
        frame.render.line = line
        if (!(read(frame) instanceof Namespace))
          throw new PyError('TemplateRuntimeError', 'cannot assign attribute on non-namespace object')
      }
    }),
  )
}

const namespacesOf = (target: AssignmentTarget): readonly string[] =>
  target.kind === 'tuple-target'
    ? target.items.flatMap(namespacesOf)
    : target.kind === 'namespace-target'
      ? [target.name]
      : []

/** Returns exactly `count` items of the value. Throws the PyError of Python if it has more or fewer. */
function unpackValue(value: Value, count: number, render: Render): readonly Value[] {
  const iterator = iteratorOf(value, render)
  if (iterator === undefined) throw new PyError('TypeError', `cannot unpack non-iterable ${typeName(value)} object`)
  const values: Value[] = []
  for (let item = nextItem(iterator); item !== undefined; item = nextItem(iterator)) {
    if (values.length === count) throw new PyError('ValueError', `too many values to unpack (expected ${count})`)
    values.push(item)
  }
  if (values.length < count)
    throw new PyError('ValueError', `not enough values to unpack (expected ${count}, got ${values.length})`)
  return values
}

const markup = (value: Value, render: Render): Value => new Markup(str(value, render))
