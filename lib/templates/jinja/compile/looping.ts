/** Compiles `for`. */

import { Loop, type Recurse } from '../loop.ts'
import { nextItem } from '../python/iteration.ts'
import { iterate, truth } from '../python/operators.ts'
import { PyTuple, type Value } from '../python/values.ts'
import { VariableFrame, withoutPieces } from '../render.ts'
import { NONE } from '../source-map.ts'
import { collect, collectParameters, type FunctionScope, functionScope } from '../syntax/scope.ts'
import {
  type AssignmentTarget,
  children,
  type Expression,
  type For,
  hasBelow,
  isKind,
  LocatedError,
  type Node,
} from '../syntax/syntax.ts'
import { compileStore } from './assignment.ts'
import {
  BREAK,
  type Compilation,
  compileCountingNodes,
  compileScopeEntry,
  compileScopeExit,
  type Execute,
  heightOf,
  innerScope,
  NEXT,
  type Signal,
  type StatementScope,
  undeclaredIn,
} from './compilation.ts'
import { compileExpression, compileRead, type Evaluate, variableOf } from './expressions.ts'

/** Compiles a for loop, plain or recursive. */
export function loop(compilation: Compilation, node: For, scope: StatementScope): Execute {
  return node.recursive ? recursiveLoop(compilation, node, scope) : plainLoop(compilation, node, scope)
}

function plainLoop(compilation: Compilation, node: For, scope: StatementScope): Execute {
  const compileBody = loopHead(compilation, node, scope, scope.symbols.function)
  const iterable = compileExpression(node.iterable, scope)
  const run = compileBody()
  const { line } = node
  return (frame) => {
    frame.render.line = line
    return run(frame, iterable(frame), undefined, 0)
  }
}

/** Compiles a recursive loop to a function that `loop(items)` calls again. */
function recursiveLoop(compilation: Compilation, node: For, scope: StatementScope): Execute {
  const within = functionScope(scope.symbols.function)
  const run = loopHead(compilation, node, scope, within)()
  const { line } = node
  compilation.line = line
  const iterable = compileExpression(node.iterable, scope)
  const height = heightOf(node.body)
  return (outer) => {
    const { render } = outer
    const recurse: Recurse = (items, depth0) =>
      render.run(height, () => {
        const frame = new VariableFrame(within.variables.size, outer, render, outer.context)
        render.line = line
        run(frame, items, recurse, depth0)
      })
    render.line = line
    if (render.trace) render.trace.read = NONE
    render.write(recurse(iterable(outer), 0))
    return NEXT
  }
}

/**
 * Prepares the scopes of a loop and returns a function that compiles its body. The iterable is compiled before the body, unless the loop is
 * recursive.
 */
function loopHead(compilation: Compilation, node: For, scope: StatementScope, within: FunctionScope): () => RunLoop {
  const inner = innerScope(scope, within)
  const other = innerScope(scope, within)
  const { symbols } = inner
  const isExtended =
    node.recursive ||
    undeclaredIn(compilation, node.body, ['loop']).has('loop') ||
    (compilation.survey.blocks.size > 0 && hasBelow(node, (child) => isKind(child, 'block') && child.scoped))
  const special = isExtended ? symbols.declareParameter('loop') : undefined
  collectParameters(node.target, symbols)
  collect(node.body, symbols)
  collect(node.otherwise, other.symbols)
  const filtered = node.test ? loopTest(compilation, node, node.test, scope, within) : undefined
  if (compilation.survey.storesLoop) refuseLoopTarget(node)
  compilation.line = node.line
  return () => loopBody(compilation, node, { inner, other, special: special?.slot, filtered })
}

type RunLoop = (frame: VariableFrame, items: Value, recurse: Recurse | undefined, depth0: number) => Signal

interface LoopParts {
  readonly inner: StatementScope
  /** Scope of `else`. */
  readonly other: StatementScope
  /** Slot of the special name `loop`; undefined if the body does not use it. */
  readonly special: number | undefined
  readonly filtered: FilterItems | undefined
}

function loopBody(
  compilation: Compilation,
  { target, body, otherwise, line, recursive }: For,
  { inner, other, special, filtered }: LoopParts,
): RunLoop {
  const store = compileStore(compilation, target, inner)
  const enter = compileScopeEntry(inner.symbols)
  const [run, weight] = compileCountingNodes(compilation, () =>
    compilation.sequence(body, { ...inner, isInLoop: true }),
  )
  const leave = recursive && otherwise.length === 0 ? () => {} : compileScopeExit(inner.symbols)
  const enterOther = compileScopeEntry(other.symbols)
  const runOther = compilation.sequence(otherwise, other)
  const leaveOther = compileScopeExit(other.symbols)
  return (frame, items, recurse, depth0) => {
    const { render } = frame
    const { trace } = render
    const around = trace?.beginLoop()
    const iterator = filtered ? filtered(frame, iterate(items, render)) : iterate(items, render)
    const loop =
      special === undefined ? undefined : new Loop(filtered ? undefined : items, iterator, render, recurse, depth0)
    let isElse = true
    for (;;) {
      render.line = line
      const item = loop ? loop.next() : nextItem(iterator)
      if (item === undefined) break
      render.step(weight)
      if (trace && around !== undefined) trace.turn(item, around)
      store(frame, item)
      if (loop && special !== undefined) frame.slots[special] = loop
      enter(frame)
      const signal = run(frame)
      if (signal === BREAK) break
      // As in jinja2, an iteration that `continue` ends does not prevent `else`.
      if (signal === NEXT) isElse = false
    }
    if (trace && around !== undefined) trace.endLoop(around)
    leave(frame)
    if (!isElse || otherwise.length === 0) return NEXT
    enterOther(frame)
    const signal = runOther(frame)
    leaveOther(frame)
    return signal
  }
}

/** Compiles the test of `for … if …` to a generator, so that it sees what earlier iterations have changed. */
function loopTest(
  compilation: Compilation,
  node: For,
  test: Expression,
  scope: StatementScope,
  outer: FunctionScope,
): FilterItems {
  const within = functionScope(outer)
  const inner = innerScope(scope, within)
  collectParameters(node.target, inner.symbols)
  collect([test], inner.symbols)
  compilation.line = test.line
  const { line } = test
  const enter = compileScopeEntry(inner.symbols)
  const store = compileStore(compilation, node.target, inner)
  const condition = compileExpression(test, inner)
  const back = rebuilt(node.target, inner)
  return (outerFrame, iterator) => {
    const { render } = outerFrame
    const frame = new VariableFrame(within.variables.size, outerFrame, render, outerFrame.context)
    enter(frame)
    const next = (): IteratorResult<Value> => {
      // `loop.last` reads the next item in the middle of an expression, whose line is restored afterwards.
      const asking = render.line
      for (;;) {
        render.line = line
        const item = nextItem(iterator)
        if (item !== undefined) {
          render.step()
          store(frame, item)
          if (!truth(condition(frame))) continue
        }
        render.line = asking
        return item === undefined ? { done: true, value: undefined } : { done: false, value: back(frame) }
      }
    }
    return { next }
  }
}

/** Returns a function that builds the item again from the variables of the target. */
function rebuilt(target: AssignmentTarget, scope: StatementScope): Evaluate {
  if (target.kind === 'tuple-target') {
    const items = target.items.map((item) => rebuilt(item, scope))
    return (frame) => new PyTuple(items.map((item) => item(frame)))
  }
  const read = compileRead(variableOf(target.name, scope.symbols), scope.symbols.function)
  return (frame) => withoutPieces(read(frame)) ?? null
}

type FilterItems = (frame: VariableFrame, items: Iterator<Value>) => Iterator<Value>

function refuseLoopTarget(node: Node): void {
  if (isKind(node, 'name-target') && node.name === 'loop')
    throw new LocatedError(
      'TemplateAssertionError',
      "Can't assign to special loop variable in for-loop target",
      node.line,
    )
  for (const child of children(node)) refuseLoopTarget(child)
}
