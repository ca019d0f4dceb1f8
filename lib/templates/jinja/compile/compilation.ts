/** What the compilers of all statements share: their scopes, and how functions of the template run. */

import { type Context, type Render, resolve, type VariableFrame } from '../render.ts'
import { type FunctionScope, Symbols, undeclaredNames } from '../syntax/scope.ts'
import type { Survey } from '../syntax/survey.ts'
import { children, type Node, type Statement } from '../syntax/syntax.ts'
import { type CompilationState, compileRead, type ExpressionContext } from './expressions.ts'

/** Runs a statement in a frame and returns what the loop around it does next. */
export type Execute = (frame: VariableFrame) => Signal
/** What the loop around a statement does next. */
export type Signal = typeof NEXT | typeof BREAK | typeof CONTINUE
/** The next statement runs. The value is 0, so that `first(frame) || second(frame)` runs both. */
export const NEXT = 0
/** The loop ends. */
export const BREAK = 1
/** The loop continues with its next item. */
export const CONTINUE = 2

/** The position of a statement in the template. */
export interface StatementScope extends ExpressionContext {
  /** Whether the statement is at the top level of the template, branches included. Blocks see the variables that are set there. */
  readonly isTop: boolean
  /** Whether the statement is at the top level and not in a branch. */
  readonly isRoot: boolean
  /** Whether a loop of the same function is around the statement. */
  readonly isInLoop: boolean
}

/** State of one compilation of a template. */
export interface Compilation {
  readonly survey: Survey
  readonly isTraced: boolean
  readonly state: CompilationState
  readonly blocks: Map<string, CompiledBlock>
  /** Line of the last statement or output that jinja2 would have written so far. */
  line: number
  /** Whether an `extends` was compiled at the root: nothing outside of blocks is written after it. */
  extendsAtRoot: boolean
  readonly sequence: (nodes: readonly Statement[], scope: StatementScope) => Execute
}

/** A compiled block, which is a function of its own. */
export interface CompiledBlock {
  readonly run: (render: Render, context: Context) => void
  /** Height of the block's tree, in nodes. */
  readonly height: number
}

/** Returns the outermost scope of a function that sees no other function. */
export const outerScope = ({ isTraced, state }: Compilation, symbols: Symbols, isTop: boolean): StatementScope => ({
  symbols,
  isSoft: false,
  isTraced,
  state,
  isTop,
  isRoot: isTop,
  isInLoop: false,
})

/** Returns a scope within another; `within` is its function, by default the same one. */
export const innerScope = (
  { symbols, isTraced, state, isInLoop }: StatementScope,
  within: FunctionScope = symbols.function,
): StatementScope => ({
  symbols: new Symbols(within, symbols),
  isSoft: false,
  isTraced,
  state,
  isTop: false,
  isRoot: false,
  isInLoop: isInLoop && within === symbols.function,
})

/** Returns a function that gives the variables of a scope their initial values. */
export function compileScopeEntry(symbols: Symbols): (frame: VariableFrame) => void {
  const steps: ((frame: VariableFrame) => void)[] = []
  for (const [{ slot }, load] of symbols.loads) {
    if (load.kind === 'undefined')
      steps.push((frame) => {
        frame.slots[slot] = undefined
      })
    else if (load.kind === 'resolve') {
      const { name } = load
      steps.push((frame) => {
        frame.slots[slot] = resolve(frame.context, name)
      })
    } else if (load.kind === 'alias') {
      const read = compileRead(load.of, symbols.function)
      steps.push((frame) => {
        frame.slots[slot] = read(frame)
      })
    }
  }
  return all(steps)
}

/** Returns a function that clears the variables of a scope, also for macros that were defined in it. */
export function compileScopeExit(symbols: Symbols): (frame: VariableFrame) => void {
  const slots = [...symbols.loads.keys()].map(({ slot }) => slot)
  return (frame) => {
    for (const slot of slots) frame.slots[slot] = undefined
  }
}

/** Returns which of the names a body reads before it stores them. */
export const undeclaredIn = (
  { survey }: Compilation,
  body: readonly Statement[],
  names: readonly string[],
): ReadonlySet<string> => (names.some((name) => survey.names.has(name)) ? undeclaredNames(body, names) : NOTHING)

const NOTHING: ReadonlySet<string> = new Set()

/** Compiles a body that runs by itself. Returns it with the number of nodes that one pass evaluates, all branches counted. */
export function compileCountingNodes<T>({ state }: Compilation, compileBody: () => T): readonly [T, number] {
  const before = state.nodes
  const body = compileBody()
  const weight = state.nodes - before
  state.nodes = before
  return [body, 1 + weight]
}

/** Returns the largest number of nodes that are within each other. */
export const heightOf = (nodes: readonly Node[]): number =>
  nodes.reduce((height, node) => Math.max(height, 1 + heightOf(children(node))), 0)

/** Returns a statement that runs a body and stores the text that it writes in `captured`. */
export const compileCapture =
  (run: Execute): Execute =>
  (frame) => {
    const { render } = frame
    let signal: Signal = NEXT
    render.captured = render.capture(() => {
      signal = run(frame)
    })
    return signal
  }

/** Returns a function that runs all steps in order. */
export function all(steps: readonly ((frame: VariableFrame) => void)[]): (frame: VariableFrame) => void {
  const [first = () => {}] = steps
  if (steps.length <= 1) return first
  return (frame) => {
    for (const step of steps) step(frame)
  }
}
