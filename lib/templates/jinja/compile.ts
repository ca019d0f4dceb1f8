/**
 * Syntax tree → functions that run it. Statements are visited in the order in which jinja2 writes Python from them: the
 * line of an error is that of the last statement or output before it in that order, which is where Python's traceback
 * points.
 */

import {
  argumentsEvaluation,
  CALL,
  type Evaluate,
  evaluation,
  NO_ARGUMENTS,
  type Place,
  reader,
  textEvaluation,
  variableOf,
  writer,
} from './expressions.ts'
import { Namespace } from './globals.ts'
import { iteratorOf } from './iteration.ts'
import { Loop } from './loop.ts'
import { Macro, type MacroDefinition } from './macro.ts'
import { escapedHtml, Markup } from './markup.ts'
import { iterate, str, truth } from './operators.ts'
import { type Context, Frame, plain, type Render, resolve, type Slot } from './render.ts'
import { typeName } from './repr.ts'
import {
  collect,
  collectCallable,
  collectParameters,
  type FunctionScope,
  functionScope,
  Symbols,
  undeclared,
} from './scope.ts'
import { NONE, type Traced } from './source-map.ts'
import type { Survey } from './survey.ts'
import {
  type Assign,
  type AssignBlock,
  type Autoescape,
  type Block,
  type Callable,
  type CallBlock,
  children,
  type Data,
  type Expression,
  type Extends,
  type FilterBlock,
  type For,
  type FromImport,
  hasBelow,
  type If,
  type Import,
  type Include,
  LocatedError,
  type Macro as MacroNode,
  type Node,
  type Output,
  type Statement,
  type Target,
  type With,
} from './syntax.ts'
import { type Arguments, PyError, PyObject, PyTuple, type Runtime, Undefined, type Value } from './values.ts'

/** Runs in a frame; tells whether the loop around it goes on. */
type Run = (frame: Frame) => Signal
type Signal = typeof NEXT | typeof BREAK | typeof CONTINUE
const NEXT = 0
const BREAK = 1
const CONTINUE = 2

/** A compiled template: runs it in a render. */
export type Program = (render: Render, variables: ReadonlyMap<string, Value>) => void

/** Throws LocatedError: TemplateAssertionError and what jinja2's compiler stumbles over. */
export function compile(template: readonly Statement[], survey: Survey, isTraced: boolean): Program {
  return new Compiler(survey, isTraced).program(template)
}

/** Where a statement stands. */
interface Scope extends Place {
  /** Of the template itself, branches included: what is set here is seen by blocks. */
  readonly isTop: boolean
  /** As isTop, branches left out. */
  readonly isRoot: boolean
  /** Of the same function. */
  readonly isInLoop: boolean
}

interface CompiledBlock {
  readonly run: (render: Render, context: Context) => void
  readonly height: number
}

class Compiler {
  private readonly isTraced: boolean
  private readonly survey: Survey
  private readonly work = { nodes: 0 }
  private readonly runBlocks = new Map<string, CompiledBlock>()
  /** Of the last statement or output that jinja2 would have written. */
  private line = 1
  /** An `extends` was compiled at the root: nothing outside of blocks is written behind it. */
  private extendsAtRoot = false

  constructor(survey: Survey, isTraced: boolean) {
    this.isTraced = isTraced
    this.survey = survey
  }

  program(template: readonly Statement[]): Program {
    try {
      return this.root(template)
    } catch (error) {
      if (error instanceof PyError && !(error instanceof LocatedError))
        throw new LocatedError(error.className, error.message, this.line, { cause: error })
      throw error
    }
  }

  private root(template: readonly Statement[]): Program {
    const within = functionScope(undefined)
    const symbols = new Symbols(within, undefined)
    const self = this.undeclared(template, ['self']).has('self') ? symbols.declareParameter('self') : undefined
    collect(template, symbols)
    const scope: Scope = {
      symbols,
      isSoft: false,
      isTraced: this.isTraced,
      work: this.work,
      isTop: true,
      isRoot: true,
      isInLoop: false,
    }
    const enter = this.enter(symbols)
    const [body, weight] = this.weighed(() => this.sequence(template, scope))
    for (const [name, block] of this.survey.blocks) this.runBlocks.set(name, this.block(block))
    return (render, variables) => {
      const context: Context = { variables, exported: new Map() }
      const frame = new Frame(within.variables.size, undefined, render, context)
      if (self) frame.slots[self.slot] = new TemplateReference(this.runBlocks, context)
      render.step(weight)
      enter(frame)
      body(frame)
    }
  }

  /** A block's body is a function of its own: of the template it sees what was set at its top. */
  private block(node: Block): CompiledBlock {
    this.line = node.line
    const within = functionScope(undefined)
    const symbols = new Symbols(within, undefined)
    const special = this.undeclared(node.body, ['self', 'super'])
    const self = special.has('self') ? symbols.declareParameter('self') : undefined
    const parent = special.has('super') ? symbols.declareParameter('super') : undefined
    collect(node.body, symbols)
    const enter = this.enter(symbols)
    const scope = {
      symbols,
      isSoft: false,
      isTraced: this.isTraced,
      work: this.work,
      isTop: false,
      isRoot: false,
      isInLoop: false,
    }
    const [body, weight] = this.weighed(() => this.sequence(node.body, scope))
    const noParent = new Undefined(`there is no parent block called '${node.name}'.`)
    const run = (render: Render, context: Context): void => {
      const frame = new Frame(within.variables.size, undefined, render, context)
      if (self) frame.slots[self.slot] = new TemplateReference(this.runBlocks, context)
      if (parent) frame.slots[parent.slot] = noParent
      render.step(weight)
      enter(frame)
      body(frame)
    }
    return { run, height: heightOf(node.body) }
  }

  // Scopes

  private undeclared(body: readonly Statement[], names: readonly string[]): ReadonlySet<string> {
    return names.some((name) => this.survey.names.has(name)) ? undeclared(body, names) : NOTHING
  }

  /** Compiles a body that runs by itself; with it, the nodes that one pass evaluates, all branches counted. */
  private weighed<T>(compileBody: () => T): readonly [T, number] {
    const before = this.work.nodes
    const body = compileBody()
    const weight = this.work.nodes - before
    this.work.nodes = before
    return [body, 1 + weight]
  }

  private inner(scope: Scope, within: FunctionScope = scope.symbols.function): Scope {
    const symbols = new Symbols(within, scope.symbols)
    const isInLoop = scope.isInLoop && within === scope.symbols.function
    return { symbols, isSoft: false, isTraced: this.isTraced, work: this.work, isTop: false, isRoot: false, isInLoop }
  }

  /** What a scope's variables are when it is entered. */
  private enter(symbols: Symbols): (frame: Frame) => void {
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
  private leave(symbols: Symbols): (frame: Frame) => void {
    const slots = [...symbols.loads.keys()].map(({ slot }) => slot)
    return (frame) => {
      for (const slot of slots) frame.slots[slot] = undefined
    }
  }

  // Statements

  private sequence(nodes: readonly Statement[], scope: Scope): Run {
    const runs = nodes.map((node) => this.statement(node, scope))
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

  private statement(node: Statement, scope: Scope): Run {
    this.work.nodes += 1
    switch (node.kind) {
      case 'output':
        return this.output(node, scope)
      case 'if':
        return this.if(node, scope)
      case 'for':
        return this.for(node, scope)
      case 'assign':
        return this.assign(node, scope)
      case 'assign-block':
        return this.assignBlock(node, scope)
      case 'macro':
        return this.macro(node, scope)
      case 'call-block':
        return this.callBlock(node, scope)
      case 'filter-block':
        return this.filterBlock(node, scope)
      case 'with':
        return this.with(node, scope)
      case 'autoescape':
        return this.autoescape(node, scope)
      case 'block':
        return this.blockCall(node, scope)
      case 'extends':
        return this.extends(node, scope)
      case 'include':
        return this.include(node, scope)
      case 'import':
      case 'from-import':
        return this.import(node, scope)
      case 'break':
        return this.loopControl(node.line, scope, BREAK, "'break' outside loop")
      case 'continue':
        return this.loopControl(node.line, scope, CONTINUE, "'continue' not properly in loop")
    }
  }

  private loopControl(line: number, { isInLoop }: Scope, signal: Signal, elsewhere: string): Run {
    this.line = line
    if (!isInLoop) throw new LocatedError('SyntaxError', elsewhere, line)
    return () => signal
  }

  private output({ parts }: Output, scope: Scope): Run {
    if (this.extendsAtRoot && scope.isTop) return () => NEXT
    const writes = parts.map((part) => (part.kind === 'data' ? this.data(part) : this.expression(part, scope)))
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

  private data({ text, line }: Data): (frame: Frame) => void {
    if (!this.isTraced)
      return ({ render }) => {
        render.append(text)
      }
    const lines = text.split(/(?<=\n)/).map((part, index) => ({ length: part.length, line: line + index }))
    return ({ render }) => {
      render.append(text)
      for (const part of lines) render.trace?.literal(part.length, part.line)
    }
  }

  private expression(node: Expression, scope: Scope): (frame: Frame) => void {
    this.line = node.line
    const { line } = node
    const evaluate = textEvaluation(node, scope)
    if (this.isTraced)
      return (frame) => {
        const { render } = frame
        render.line = line
        if (render.trace) render.trace.read = NONE
        const value = evaluate(frame)
        render.write(render.autoescape ? escaped(plain(value), render) : value)
      }
    return (frame) => {
      const { render } = frame
      render.line = line
      const value = evaluate(frame)
      if (typeof value === 'string' && !render.autoescape) {
        render.append(value)
      } else render.write(render.autoescape ? escaped(plain(value), render) : value)
    }
  }

  private if({ branches, otherwise }: If, outer: Scope): Run {
    const scope: Scope = { ...outer, isSoft: true, isRoot: false }
    const compiled = branches.map(({ test, body, line }) => {
      this.line = line
      return { line, test: evaluation(test, scope), body: this.sequence(body, scope) }
    })
    const last = this.sequence(otherwise, scope)
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

  private assign({ target, value, line }: Assign, scope: Scope): Run {
    const check = this.namespaceCheck(target, scope)
    this.line = line
    const evaluate = textEvaluation(value, scope)
    const store = this.store(target, scope)
    if (this.isTraced)
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

  /** Attributes can only be set on namespaces; that is looked at before the statement, at the line before it. */
  private namespaceCheck(target: Target, scope: Scope): ((frame: Frame) => void) | undefined {
    const names = new Set(namespacesOf(target))
    const { line } = this
    if (names.size === 0) return undefined
    return all(
      [...names].map((name) => {
        const read = reader(variableOf(name, scope.symbols), scope.symbols.function)
        return (frame) => {
          frame.render.line = line
          if (!(read(frame) instanceof Namespace))
            throw new PyError('TemplateRuntimeError', 'cannot assign attribute on non-namespace object')
        }
      }),
    )
  }

  private store(target: Target, scope: Scope): (frame: Frame, value: Slot) => void {
    const { symbols, isTop } = scope
    if (target.kind === 'name-target') {
      const { name } = target
      const write = writer(variableOf(name, symbols), symbols.function)
      if (!isTop || this.survey.blocks.size === 0) return write
      return (frame, value) => {
        write(frame, value)
        frame.context.exported.set(name, value)
      }
    }
    if (target.kind === 'namespace-target') {
      const read = reader(variableOf(target.name, symbols), symbols.function)
      const { attribute } = target
      return (frame, value) => {
        const namespace = read(frame)
        if (!(namespace instanceof Namespace) || value === undefined) return
        namespace.set(attribute, plain(value))
        frame.render.trace?.keepAttribute(namespace, attribute, value)
      }
    }
    const stores = target.items.map((item) => this.store(item, scope))
    return (frame, value) => {
      const values = unpacked(plain(value) ?? null, stores.length, frame.render)
      for (const [index, store] of stores.entries()) store(frame, values[index])
    }
  }

  private assignBlock({ target, filter, body, line }: AssignBlock, scope: Scope): Run {
    const inner = this.inner(scope)
    collect(body, inner.symbols)
    const enter = this.enter(inner.symbols)
    const run = this.sequence(body, inner)
    this.line = line
    const evaluate = filter && textEvaluation(filter, inner)
    const store = this.store(target, scope)
    const leave = this.leave(inner.symbols)
    return (frame) => {
      const { render } = frame
      enter(frame)
      let signal: Signal = NEXT
      render.captured = render.capture(() => {
        signal = run(frame)
      })
      if (signal !== NEXT) return signal
      render.line = line
      const value = evaluate ? evaluate(frame) : render.captured
      store(frame, render.autoescape ? markup(plain(value), render) : value)
      leave(frame)
      return NEXT
    }
  }

  private filterBlock({ filter, body, line }: FilterBlock, scope: Scope): Run {
    const inner = this.inner(scope)
    collect([...body, filter], inner.symbols)
    const enter = this.enter(inner.symbols)
    const run = this.sequence(body, inner)
    this.line = line
    const evaluate = textEvaluation(filter, inner)
    const leave = this.leave(inner.symbols)
    return (frame) => {
      const { render } = frame
      enter(frame)
      let signal: Signal = NEXT
      render.captured = render.capture(() => {
        signal = run(frame)
      })
      if (signal !== NEXT) return signal
      render.line = line
      if (render.trace) render.trace.read = NONE
      render.writeResult(evaluate(frame))
      leave(frame)
      return NEXT
    }
  }

  private with({ bindings, body }: With, scope: Scope): Run {
    const inner = this.inner(scope)
    for (const { target } of bindings) collectParameters(target, inner.symbols)
    collect(body, inner.symbols)
    const enter = this.enter(inner.symbols)
    const { line } = this
    const binds = bindings.map(({ target, value }) => ({
      evaluate: textEvaluation(value, scope),
      store: this.store(target, inner),
    }))
    const run = this.sequence(body, inner)
    const leave = this.leave(inner.symbols)
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

  private autoescape({ enabled, body }: Autoescape, scope: Scope): Run {
    const inner = this.inner(scope)
    collect([enabled, ...body], inner.symbols)
    const enter = this.enter(inner.symbols)
    const { line } = this
    const evaluate = evaluation(enabled, inner)
    const run = this.sequence(body, inner)
    const leave = this.leave(inner.symbols)
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

  // Macros

  private macro(node: MacroNode, scope: Scope): Run {
    const definition = this.callable(node, node.name, scope)
    const store = this.store({ kind: 'name-target', name: node.name, line: node.line }, scope)
    return (frame) => {
      store(frame, new Macro(definition, frame))
      return NEXT
    }
  }

  private callBlock(node: CallBlock, scope: Scope): Run {
    const definition = this.callable(node, undefined, scope)
    const { line, call } = node
    this.line = line
    if (call === 'generation')
      return (frame) => {
        const { render } = frame
        render.line = line
        const text = new Macro(definition, frame).invoke(NO_ARGUMENTS, render)
        render.generated(plain(text))
        if (render.trace) render.trace.read = NONE
        render.write(text)
        return NEXT
      }
    const callee = evaluation(call.callee, scope)
    const given = argumentsEvaluation(call.call, scope, CALL)
    return (frame) => {
      const { render } = frame
      render.line = line
      const caller = new Macro(definition, frame)
      if (render.trace) render.trace.read = NONE
      const called = callee(frame)
      const { positional, named } = given(frame)
      const full: Arguments = { positional, named: new Map([...named, ['caller', caller]]) }
      render.writeResult(
        called instanceof Macro && !render.autoescape ? called.invoke(full, render) : render.call(called, full),
      )
      return NEXT
    }
  }

  private callable(node: Callable, name: string | undefined, scope: Scope): MacroDefinition {
    const within = functionScope(scope.symbols.function)
    const inner = this.inner(scope, within)
    const { symbols } = inner
    collectCallable(node, symbols)
    const parameters = node.parameters.map((parameter) => parameter.name)
    const twice = parameters.find((parameter, index) => parameters.indexOf(parameter) < index)
    if (twice !== undefined)
      throw new LocatedError('SyntaxError', `duplicate argument '${twice}' in function definition`, node.line)
    const special = this.undeclared(node.body, ['caller', 'kwargs', 'varargs'])
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
    this.line = node.line
    const { line } = node
    const enter = this.enter(symbols)
    const defaults = node.parameters.map(({ name: parameter, fallback }): Evaluate => {
      const missing = new Undefined(`parameter '${parameter}' was not provided`)
      return fallback ? evaluation(fallback, inner) : () => missing
    })
    const [body, weight] = this.weighed(() => this.sequence(node.body, inner))
    return {
      name,
      parameters,
      usesCaller,
      usesKwargs,
      usesVarargs,
      height: heightOf(node.body),
      run: (outer, values) => {
        const { render } = outer
        const frame = new Frame(within.variables.size, outer, render, outer.context)
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

  // Loops

  private for(node: For, scope: Scope): Run {
    return node.recursive ? this.recursiveFor(node, scope) : this.plainFor(node, scope)
  }

  private plainFor(node: For, scope: Scope): Run {
    const loop = this.loop(node, scope, scope.symbols.function)
    const iterable = evaluation(node.iterable, scope)
    const run = loop.finish()
    const { line } = node
    return (frame) => {
      frame.render.line = line
      return run(frame, iterable(frame), undefined, 0)
    }
  }

  /** The loop is a function that `loop(items)` calls again. */
  private recursiveFor(node: For, scope: Scope): Run {
    const within = functionScope(scope.symbols.function)
    const loop = this.loop(node, scope, within)
    const run = loop.finish()
    const { line } = node
    this.line = line
    const iterable = evaluation(node.iterable, scope)
    const height = heightOf(node.body)
    return (outer) => {
      const { render } = outer
      const recurse = (items: Value, depth0: number): string | Traced =>
        render.run(height, () => {
          const frame = new Frame(within.variables.size, outer, render, outer.context)
          render.line = line
          run(frame, items, recurse, depth0)
        })
      render.line = line
      if (render.trace) render.trace.read = NONE
      render.write(recurse(iterable(outer), 0))
      return NEXT
    }
  }

  /** In two parts, since the iterable of a loop is compiled between them unless it is recursive. */
  private loop(node: For, scope: Scope, within: FunctionScope) {
    const inner = this.inner(scope, within)
    const other = this.inner(scope, within)
    const { symbols } = inner
    const isExtended =
      node.recursive ||
      this.undeclared(node.body, ['loop']).has('loop') ||
      (this.survey.blocks.size > 0 && hasBelow(node, (child) => isKind(child, 'block') && child.scoped))
    const special = isExtended ? symbols.declareParameter('loop') : undefined
    collectParameters(node.target, symbols)
    collect(node.body, symbols)
    collect(node.otherwise, other.symbols)
    const filtered = node.test ? this.loopTest(node, node.test, scope, within) : undefined
    if (this.survey.storesLoop) refuseLoopTarget(node)
    this.line = node.line
    const finish = () => this.loopBody(node, inner, other, special?.slot, filtered)
    return { finish }
  }

  private loopBody(
    { target, body, otherwise, line, recursive }: For,
    inner: Scope,
    other: Scope,
    special: number | undefined,
    filtered: FilterItems | undefined,
  ): (
    frame: Frame,
    items: Value,
    recurse: ((items: Value, depth0: number) => string | Traced) | undefined,
    depth0: number,
  ) => Signal {
    const store = this.store(target, inner)
    const enter = this.enter(inner.symbols)
    const [run, weight] = this.weighed(() => this.sequence(body, { ...inner, isInLoop: true }))
    const leave = recursive && otherwise.length === 0 ? () => {} : this.leave(inner.symbols)
    const enterOther = this.enter(other.symbols)
    const runOther = this.sequence(otherwise, other)
    const leaveOther = this.leave(other.symbols)
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
        const item = loop ? loop.next() : taken(iterator)
        if (item === undefined) break
        render.step(weight)
        if (trace && around !== undefined) trace.turn(item, around)
        store(frame, item)
        if (loop && special !== undefined) frame.slots[special] = loop
        enter(frame)
        const signal = run(frame)
        if (signal === BREAK) break
        // As in jinja2, a turn that was cut short does not keep `else` from running.
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

  /** `for … if …`: a generator of its own, so that the test sees what the turns before it have changed. */
  private loopTest(node: For, test: Expression, scope: Scope, outer: FunctionScope): FilterItems {
    const within = functionScope(outer)
    const inner = this.inner(scope, within)
    collectParameters(node.target, inner.symbols)
    collect([test], inner.symbols)
    this.line = test.line
    const { line } = test
    const enter = this.enter(inner.symbols)
    const store = this.store(node.target, inner)
    const condition = evaluation(test, inner)
    const back = this.rebuilt(node.target, inner)
    return (outerFrame, iterator) => {
      const { render } = outerFrame
      const frame = new Frame(within.variables.size, outerFrame, render, outerFrame.context)
      enter(frame)
      const next = (): IteratorResult<Value> => {
        for (;;) {
          render.line = line
          const item = taken(iterator)
          if (item === undefined) return { done: true, value: undefined }
          render.step()
          store(frame, item)
          if (truth(condition(frame))) return { done: false, value: back(frame) }
        }
      }
      return { next }
    }
  }

  /** The item as the target's variables hold it. */
  private rebuilt(target: Target, scope: Scope): Evaluate {
    if (target.kind === 'tuple-target') {
      const items = target.items.map((item) => this.rebuilt(item, scope))
      return (frame) => new PyTuple(items.map((item) => item(frame)))
    }
    const read = reader(variableOf(target.name, scope.symbols), scope.symbols.function)
    return (frame) => plain(read(frame)) ?? null
  }

  // Inheritance and other templates, of which there are none here

  private blockCall(node: Block, scope: Scope): Run {
    if (this.extendsAtRoot && scope.isTop) return () => NEXT
    this.line = node.line
    const { line, name } = node
    const locals = node.scoped ? [...scope.symbols.stored()] : []
    const readers = locals.map(([local, variable]) => [local, reader(variable, scope.symbols.function)] as const)
    return (frame) => {
      const { render, context } = frame
      render.line = line
      if (node.required) throw new PyError('TemplateRuntimeError', `Required block '${name}' not found`)
      const derived = readers.length === 0 ? context : { ...context, exported: new Map(context.exported) }
      for (const [local, read] of readers) {
        const value = read(frame)
        if (value !== undefined) derived.exported.set(local, value)
      }
      this.runBlocks.get(name)?.run(render, derived)
      return NEXT
    }
  }

  private extends(node: Extends, scope: Scope): Run {
    if (!scope.isTop)
      throw new LocatedError('TemplateAssertionError', 'cannot use extend from a non top-level scope', node.line)
    this.line = node.line
    const evaluate = evaluation(node.template, scope)
    if (scope.isRoot) this.extendsAtRoot = true
    return this.noLoader(node.line, evaluate)
  }

  private include(node: Include, scope: Scope): Run {
    this.line = node.line
    const { template, ignoreMissing, line } = node
    const evaluate = evaluation(template, scope)
    const isList = template.kind === 'tuple' || template.kind === 'list'
    return (frame) => {
      frame.render.line = line
      const found = evaluate(frame)
      const isOne = !isList && (typeof found === 'string' || found instanceof Undefined)
      if (isOne || truth(found)) return noLoader()
      if (ignoreMissing) return NEXT
      throw new PyError('TemplatesNotFound', 'Tried to select from an empty list of templates.')
    }
  }

  private import(node: Import | FromImport, scope: Scope): Run {
    this.line = node.line
    return this.noLoader(node.line, evaluation(node.template, scope))
  }

  private noLoader(line: number, evaluate: Evaluate): Run {
    return (frame) => {
      frame.render.line = line
      evaluate(frame)
      return noLoader()
    }
  }
}

const namespacesOf = (target: Target): readonly string[] =>
  target.kind === 'tuple-target'
    ? target.items.flatMap(namespacesOf)
    : target.kind === 'namespace-target'
      ? [target.name]
      : []

/** Nodes that are within each other. */
const heightOf = (nodes: readonly Node[]): number =>
  nodes.reduce((height, node) => Math.max(height, 1 + heightOf(children(node))), 0)

const NOTHING: ReadonlySet<string> = new Set()

type FilterItems = (frame: Frame, items: Iterator<Value>) => Iterator<Value>

function all(steps: readonly ((frame: Frame) => void)[]): (frame: Frame) => void {
  const [first = () => {}] = steps
  if (steps.length <= 1) return first
  return (frame) => {
    for (const step of steps) step(frame)
  }
}

function taken(iterator: Iterator<Value>): Value | undefined {
  const { done, value } = iterator.next()
  return done ? undefined : value
}

/** As many values as there are names for. */
function unpacked(value: Value, count: number, render: Render): readonly Value[] {
  const iterator = iteratorOf(value, render)
  if (iterator === undefined) throw new PyError('TypeError', `cannot unpack non-iterable ${typeName(value)} object`)
  const values: Value[] = []
  for (let item = taken(iterator); item !== undefined; item = taken(iterator)) {
    if (values.length === count) throw new PyError('ValueError', `too many values to unpack (expected ${count})`)
    values.push(item)
  }
  if (values.length < count)
    throw new PyError('ValueError', `not enough values to unpack (expected ${count}, got ${values.length})`)
  return values
}

function refuseLoopTarget(node: Node): void {
  if (isKind(node, 'name-target') && node.name === 'loop')
    throw new LocatedError(
      'TemplateAssertionError',
      "Can't assign to special loop variable in for-loop target",
      node.line,
    )
  for (const child of children(node)) refuseLoopTarget(child)
}

const isKind = <Kind extends string>(node: Node, kind: Kind): node is Extract<Node, { readonly kind: Kind }> =>
  'kind' in node && node.kind === kind

const escaped = (value: Value, render: Render): string =>
  value instanceof Markup ? value.html : escapedHtml(str(value, render))

const markup = (value: Value, render: Render): Value => new Markup(str(value, render))

function noLoader(): never {
  throw new PyError('TypeError', 'no loader for this environment specified')
}

/** The special name `self`: the blocks of the template. */
class TemplateReference extends PyObject {
  readonly typeName = 'TemplateReference'
  override readonly module = 'jinja2.runtime'
  private readonly blocks: ReadonlyMap<string, CompiledBlock>
  private readonly context: Context
  constructor(blocks: ReadonlyMap<string, CompiledBlock>, context: Context) {
    super()
    this.blocks = blocks
    this.context = context
  }
  repr(): string {
    return '<TemplateReference None>'
  }
  override item(key: Value): Value | undefined {
    const block = typeof key === 'string' ? this.blocks.get(key) : undefined
    return block && new BlockReference(block, this.context)
  }
}

class BlockReference extends PyObject {
  readonly typeName = 'BlockReference'
  override readonly module = 'jinja2.runtime'
  private readonly block: CompiledBlock
  private readonly context: Context
  constructor(block: CompiledBlock, context: Context) {
    super()
    this.block = block
    this.context = context
  }
  repr(): string {
    return '<jinja2.runtime.BlockReference object at 0x0>'
  }
  override call(_call: Arguments, runtime: Runtime): Value {
    const render = runtime as Render
    return plain(render.run(this.block.height, () => this.block.run(render, this.context)))
  }
}
