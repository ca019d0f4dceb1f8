/**
 * Compiles a syntax tree to functions that run it. Statements are visited in the order in which jinja2 writes Python from them: the line of
 * an error is that of the last statement or output before it in that order, which is where Python's traceback points.
 */

import { escapedHtml, Markup } from '../python/markup.ts'
import { str, truth } from '../python/operators.ts'
import type { Value } from '../python/values.ts'
import { type Context, type Render, VariableFrame, withoutPieces } from '../render.ts'
import { NONE } from '../source-map.ts'
import { collect, functionScope, Symbols } from '../syntax/scope.ts'
import type { Survey } from '../syntax/survey.ts'
import type { Autoescape, Data, Expression, If, Output, Statement } from '../syntax/syntax.ts'
import { assignment, blockAssignment, withBlock } from './assignment.ts'
import { callBlock, filterBlock, macro } from './callables.ts'
import {
  BREAK,
  CONTINUE,
  type Compilation,
  compileCountingNodes,
  compileScopeEntry,
  compileScopeExit,
  type Execute,
  innerScope,
  NEXT,
  outerScope,
  type Signal,
  type StatementScope,
  undeclaredIn,
} from './compilation.ts'
import { compileExpression, recordSyntaxError, textEvaluation } from './expressions.ts'
import { blockCall, compiledBlock, extension, importation, inclusion, TemplateReference } from './inheritance.ts'
import { loop } from './looping.ts'

/** A compiled template, which writes its text into a render. */
export type Program = (render: Render, variables: ReadonlyMap<string, Value>) => void

/**
 * Compiles a template; `isTraced` selects the variant that records pieces. Throws LocatedError: TemplateAssertionError, or the error that
 * jinja2's compiler or Python raises.
 */
export function compile(template: readonly Statement[], survey: Survey, isTraced: boolean): Program {
  const compilation: Compilation = {
    survey,
    isTraced,
    state: { nodes: 0, refused: undefined },
    blocks: new Map(),
    line: 1,
    extendsAtRoot: false,
    sequence: (nodes, scope) => sequence(compilation, nodes, scope),
  }
  const compiled = program(compilation, template)
  if (compilation.state.refused) throw compilation.state.refused
  return compiled
}

function program(compilation: Compilation, template: readonly Statement[]): Program {
  const within = functionScope(undefined)
  const symbols = new Symbols(within, undefined)
  const self = undeclaredIn(compilation, template, ['self']).has('self') ? symbols.declareParameter('self') : undefined
  collect(template, symbols)
  const scope = outerScope(compilation, symbols, true)
  const enter = compileScopeEntry(symbols)
  const [body, weight] = compileCountingNodes(compilation, () => compilation.sequence(template, scope))
  for (const [name, block] of compilation.survey.blocks) compilation.blocks.set(name, compiledBlock(compilation, block))
  return (render, variables) => {
    const context: Context = { variables, exported: new Map() }
    const frame = new VariableFrame(within.variables.size, undefined, render, context)
    if (self) frame.slots[self.slot] = new TemplateReference(compilation.blocks, context)
    render.step(weight)
    enter(frame)
    body(frame)
  }
}

function sequence(compilation: Compilation, nodes: readonly Statement[], scope: StatementScope): Execute {
  const runs = nodes.map((node) => statement(compilation, node, scope))
  const [first = () => NEXT, second] = runs
  if (runs.length <= 1) return first
  if (second && runs.length === 2) return (frame) => first(frame) || second(frame)
  return (frame) => {
    for (const run of runs) {
      const signal = run(frame)
      if (signal !== NEXT) return signal
    }
    return NEXT
  }
}

function statement(compilation: Compilation, node: Statement, scope: StatementScope): Execute {
  compilation.state.nodes += 1
  switch (node.kind) {
    case 'output':
      return output(compilation, node, scope)
    case 'if':
      return condition(compilation, node, scope)
    case 'for':
      return loop(compilation, node, scope)
    case 'assign':
      return assignment(compilation, node, scope)
    case 'assign-block':
      return blockAssignment(compilation, node, scope)
    case 'macro':
      return macro(compilation, node, scope)
    case 'call-block':
      return callBlock(compilation, node, scope)
    case 'filter-block':
      return filterBlock(compilation, node, scope)
    case 'with':
      return withBlock(compilation, node, scope)
    case 'autoescape':
      return autoescape(compilation, node, scope)
    case 'block':
      return blockCall(compilation, node, scope)
    case 'extends':
      return extension(compilation, node, scope)
    case 'include':
      return inclusion(compilation, node, scope)
    case 'import':
    case 'from-import':
      return importation(compilation, node, scope)
    case 'break':
      return loopControl(compilation, node.line, scope, BREAK, "'break' outside loop")
    case 'continue':
      return loopControl(compilation, node.line, scope, CONTINUE, "'continue' not properly in loop")
  }
}

function output(compilation: Compilation, { parts }: Output, scope: StatementScope): Execute {
  if (compilation.extendsAtRoot && scope.isTop) return () => NEXT
  const writes = parts.map((part) =>
    part.kind === 'data' ? data(compilation, part) : expression(compilation, part, scope),
  )
  const [first, second] = writes
  if (first && writes.length === 1)
    return (frame) => {
      first(frame)
      return NEXT
    }
  if (first && second && writes.length === 2)
    return (frame) => {
      first(frame)
      second(frame)
      return NEXT
    }
  return (frame) => {
    for (const write of writes) write(frame)
    return NEXT
  }
}

function data(compilation: Compilation, { text, line }: Data): (frame: VariableFrame) => void {
  if (!compilation.isTraced)
    return ({ render }) => {
      render.append(text)
    }
  const lines = text.split(/(?<=\n)/).map((part, index) => ({ length: part.length, line: line + index }))
  return ({ render }) => {
    render.append(text)
    for (const part of lines) render.trace?.literal(part.length, part.line)
  }
}

function expression(compilation: Compilation, node: Expression, scope: StatementScope): (frame: VariableFrame) => void {
  if (!isFolded(node)) compilation.line = node.line
  const { line } = node
  const evaluate = textEvaluation(node, scope)
  if (compilation.isTraced)
    return (frame) => {
      const { render } = frame
      render.line = line
      if (render.trace) render.trace.read = NONE
      const value = evaluate(frame)
      render.write(render.autoescape ? escapeOutput(withoutPieces(value), render) : value)
    }
  return (frame) => {
    const { render } = frame
    render.line = line
    const value = evaluate(frame)
    if (typeof value === 'string' && !render.autoescape) {
      render.append(value)
    } else render.write(render.autoescape ? escapeOutput(withoutPieces(value), render) : value)
  }
}

/** Whether jinja2 writes the expression into the text around it while compiling, so that Python has no line for it. */
function isFolded(node: Expression): boolean {
  switch (node.kind) {
    case 'const':
      return true
    case 'tuple':
    case 'list':
      return node.items.every(isFolded)
    case 'concat':
      return node.parts.every(isFolded)
    case 'not':
      return isFolded(node.operand)
    default:
      return false
  }
}

const escapeOutput = (value: Value, render: Render): string =>
  value instanceof Markup ? value.html : escapedHtml(str(value, render))

function condition(compilation: Compilation, { branches, otherwise }: If, outer: StatementScope): Execute {
  const scope: StatementScope = { ...outer, isSoft: true, isRoot: false }
  const compiled = branches.map(({ test, body, line }) => {
    compilation.line = line
    return { line, test: compileExpression(test, scope), body: compilation.sequence(body, scope) }
  })
  const last = compilation.sequence(otherwise, scope)
  const [only] = compiled
  if (only && compiled.length === 1) {
    const { line, test, body } = only
    return (frame) => {
      frame.render.line = line
      return truth(test(frame)) ? body(frame) : last(frame)
    }
  }
  return (frame) => {
    for (const { line, test, body } of compiled) {
      frame.render.line = line
      if (truth(test(frame))) return body(frame)
    }
    return last(frame)
  }
}

function loopControl(
  compilation: Compilation,
  line: number,
  { isInLoop }: StatementScope,
  signal: Signal,
  elsewhere: string,
): Execute {
  compilation.line = line
  if (!isInLoop) recordSyntaxError(compilation.state, elsewhere, line)
  return () => signal
}

function autoescape(compilation: Compilation, { enabled, body }: Autoescape, scope: StatementScope): Execute {
  const inner = innerScope(scope)
  collect([enabled, ...body], inner.symbols)
  const enter = compileScopeEntry(inner.symbols)
  const { line } = compilation
  const evaluate = compileExpression(enabled, inner)
  const run = compilation.sequence(body, inner)
  const leave = compileScopeExit(inner.symbols)
  return (frame) => {
    const { render } = frame
    const before = render.autoescape
    enter(frame)
    render.line = line
    render.autoescape = truth(evaluate(frame))
    const signal = run(frame)
    render.autoescape = before
    leave(frame)
    return signal
  }
}
