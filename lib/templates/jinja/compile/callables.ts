/** Compiles macros, the blocks `call` and `generation` that pass a body to a callable, and filters of a body. */

import { Macro, type MacroDefinition } from '../macro.ts'
import { type Arguments, Undefined } from '../python/values.ts'
import { VariableFrame, withoutPieces } from '../render.ts'
import { NONE } from '../source-map.ts'
import { collect, collectCallable, functionScope } from '../syntax/scope.ts'
import { type Callable, type CallBlock, type FilterBlock, LocatedError, type MacroNode } from '../syntax/syntax.ts'
import { compileStore } from './assignment.ts'
import {
  type Compilation,
  compileCapture,
  compileCountingNodes,
  compileScopeEntry,
  compileScopeExit,
  type Execute,
  heightOf,
  innerScope,
  NEXT,
  type StatementScope,
  undeclaredIn,
} from './compilation.ts'
import {
  argumentsEvaluation,
  CALL,
  compileExpression,
  type Evaluate,
  firstRepeated,
  NO_ARGUMENTS,
  recordSyntaxError,
  textEvaluation,
  variableOf,
} from './expressions.ts'

/** Compiles `{% macro %}`, which stores the macro in the variable of its name. */
export function macro(compilation: Compilation, node: MacroNode, scope: StatementScope): Execute {
  const definition = macroDefinition(compilation, node, node.name, scope)
  const store = compileStore(compilation, { kind: 'name-target', name: node.name, line: node.line }, scope)
  return (frame) => {
    store(frame, new Macro(definition, frame))
    return NEXT
  }
}

/** Compiles `{% call %}` and `{% generation %}`. */
export function callBlock(compilation: Compilation, node: CallBlock, scope: StatementScope): Execute {
  const definition = macroDefinition(compilation, node, undefined, scope)
  const { line, call } = node
  compilation.line = line
  if (call === 'generation')
    return (frame) => {
      const { render } = frame
      render.line = line
      const text = new Macro(definition, frame).invoke(NO_ARGUMENTS, render)
      render.generated(withoutPieces(text))
      if (render.trace) render.trace.read = NONE
      render.write(text)
      return NEXT
    }
  const callee = compileExpression(call.callee, scope)
  const evaluateArguments = argumentsEvaluation(call, scope, CALL)
  return (frame) => {
    const { render } = frame
    render.line = line
    const caller = new Macro(definition, frame)
    if (render.trace) render.trace.read = NONE
    const called = callee(frame)
    const { positional, named } = evaluateArguments(frame)
    const full: Arguments = { positional, named: new Map([...named, ['caller', caller]]) }
    render.writeResult(
      called instanceof Macro && !render.autoescape ? called.invoke(full, render) : render.call(called, full),
    )
    return NEXT
  }
}

/** Compiles `{% filter %}`. */
export function filterBlock(
  compilation: Compilation,
  { filter, body, line }: FilterBlock,
  scope: StatementScope,
): Execute {
  const inner = innerScope(scope)
  collect([...body, filter], inner.symbols)
  const enter = compileScopeEntry(inner.symbols)
  const capture = compileCapture(compilation.sequence(body, inner))
  compilation.line = line
  const evaluate = textEvaluation(filter, inner)
  const leave = compileScopeExit(inner.symbols)
  return (frame) => {
    const { render } = frame
    enter(frame)
    const signal = capture(frame)
    if (signal !== NEXT) return signal
    render.line = line
    if (render.trace) render.trace.read = NONE
    render.writeResult(evaluate(frame))
    leave(frame)
    return NEXT
  }
}

function macroDefinition(
  compilation: Compilation,
  node: Callable,
  name: string | undefined,
  scope: StatementScope,
): MacroDefinition {
  const within = functionScope(scope.symbols.function)
  const inner = innerScope(scope, within)
  const { symbols } = inner
  collectCallable(node, symbols)
  const parameters = node.parameters.map((parameter) => parameter.name)
  const twice = firstRepeated(parameters)
  if (twice !== undefined)
    recordSyntaxError(compilation.state, `duplicate argument '${twice}' in function definition`, node.line)
  const special = undeclaredIn(compilation, node.body, ['caller', 'kwargs', 'varargs'])
  const explicit = node.parameters.find((parameter) => parameter.name === 'caller')
  if (special.has('caller') && explicit && !explicit.fallback)
    throw new LocatedError(
      'TemplateAssertionError',
      'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.',
      node.line,
    )
  const usesCaller = special.has('caller')
  const usesKwargs = special.has('kwargs') && !parameters.includes('kwargs')
  const usesVarargs = special.has('varargs') && !parameters.includes('varargs')
  const variables = [
    ...parameters.map((parameter) => variableOf(parameter, symbols)),
    ...(usesCaller && !explicit ? [symbols.declareParameter('caller')] : []),
    ...(usesKwargs ? [symbols.declareParameter('kwargs')] : []),
    ...(usesVarargs ? [symbols.declareParameter('varargs')] : []),
  ]
  compilation.line = node.line
  const { line } = node
  const enter = compileScopeEntry(symbols)
  const defaults = node.parameters.map(({ name: parameter, fallback }): Evaluate => {
    const missing = new Undefined(`parameter '${parameter}' was not provided`)
    return fallback ? compileExpression(fallback, inner) : () => missing
  })
  const [body, weight] = compileCountingNodes(compilation, () => compilation.sequence(node.body, inner))
  return {
    name,
    parameters,
    usesCaller,
    usesKwargs,
    usesVarargs,
    height: heightOf(node.body),
    run: (outer, values) => {
      const { render } = outer
      const frame = new VariableFrame(within.variables.size, outer, render, outer.context)
      render.step(weight)
      render.line = line
      for (const [index, { slot }] of variables.entries()) frame.slots[slot] = values[index]
      enter(frame)
      for (const [index, fallback] of defaults.entries()) {
        const variable = variables[index]
        if (variable && frame.slots[variable.slot] === undefined) frame.slots[variable.slot] = fallback(frame)
      }
      body(frame)
    },
  }
}
