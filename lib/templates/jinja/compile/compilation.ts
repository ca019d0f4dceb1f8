/** What compiling statements shares: the scopes that they stand in, and how functions of the template are run. */

import { type Context, type Frame, type Render, resolve } from '../render.ts'
import { type FunctionScope, Symbols, undeclared } from '../syntax/scope.ts'
import type { Survey } from '../syntax/survey.ts'
import { children, type Node, type Statement } from '../syntax/syntax.ts'
import { type ExpressionContext, reader, type Work } from './expressions.ts'

/** Runs in a frame; tells whether the loop around it goes on. */
export type Execute = (frame: Frame) => Signal
export type Signal = typeof NEXT | typeof BREAK | typeof CONTINUE
export const NEXT = 0
export const BREAK = 1
export const CONTINUE = 2

/** Where a statement stands. */
export interface Scope extends ExpressionContext {
  /** Of the template itself, branches included: what is set here is seen by blocks. */
  readonly isTop: boolean
  /** As isTop, branches left out. */
  readonly isRoot: boolean
  /** Of the same function. */
  readonly isInLoop: boolean
}

/** One compilation of a template. */
export interface Compilation {
  readonly survey: Survey
  readonly isTraced: boolean
  readonly work: Work
  readonly blocks: Map<string, CompiledBlock>
  /** Of the last statement or output that jinja2 would have written. */
  line: number
  /** An `extends` was compiled at the root: nothing outside of blocks is written behind it. */
  extendsAtRoot: boolean
  readonly sequence: (nodes: readonly Statement[], scope: Scope) => Execute
}

export interface CompiledBlock {
  readonly run: (render: Render, context: Context) => void
  /** Of its tree. */
  readonly height: number
}

/** The outermost scope of a function that sees no other. */
export const outerScope = ({ isTraced, work }: Compilation, symbols: Symbols, isTop: boolean): Scope => ({
  symbols,
  isSoft: false,
  isTraced,
  work,
  isTop,
  isRoot: isTop,
  isInLoop: false,
})

export const innerScope = (
  { symbols, isTraced, work, isInLoop }: Scope,
  within: FunctionScope = symbols.function,
): Scope => ({
  symbols: new Symbols(within, symbols),
  isSoft: false,
  isTraced,
  work,
  isTop: false,
  isRoot: false,
  isInLoop: isInLoop && within === symbols.function,
})

/** What a scope's variables are when it is entered. */
export function entering(symbols: Symbols): (frame: Frame) => void {
  const steps: ((frame: Frame) => void)[] = []
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
      const read = reader(load.of, symbols.function)
      steps.push((frame) => {
        frame.slots[slot] = read(frame)
      })
    }
  }
  return all(steps)
}

/** Behind a scope its variables are gone, for macros too that were made in it. */
export function leaving(symbols: Symbols): (frame: Frame) => void {
  const slots = [...symbols.loads.keys()].map(({ slot }) => slot)
  return (frame) => {
    for (const slot of slots) frame.slots[slot] = undefined
  }
}

/** Which of some names a body reads before it stores them. */
export const undeclaredIn = (
  { survey }: Compilation,
  body: readonly Statement[],
  names: readonly string[],
): ReadonlySet<string> => (names.some((name) => survey.names.has(name)) ? undeclared(body, names) : NOTHING)

const NOTHING: ReadonlySet<string> = new Set()

/** Compiles a body that runs by itself; with it, the nodes that one pass evaluates, all branches counted. */
export function weighed<T>({ work }: Compilation, compileBody: () => T): readonly [T, number] {
  const before = work.nodes
  const body = compileBody()
  const weight = work.nodes - before
  work.nodes = before
  return [body, 1 + weight]
}

/** Nodes that are within each other. */
export const heightOf = (nodes: readonly Node[]): number =>
  nodes.reduce((height, node) => Math.max(height, 1 + heightOf(children(node))), 0)

/** Runs a body and holds what it writes in `captured`. */
export const capturing =
  (run: Execute): Execute =>
  (frame) => {
    const { render } = frame
    let signal: Signal = NEXT
    render.captured = render.capture(() => {
      signal = run(frame)
    })
    return signal
  }

export function all(steps: readonly ((frame: Frame) => void)[]): (frame: Frame) => void {
  const [first = () => {}] = steps
  if (steps.length <= 1) return first
  return (frame) => {
    for (const step of steps) step(frame)
  }
}
