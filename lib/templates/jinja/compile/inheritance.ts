/**
 * Compiles blocks and the tags that need another template. There is no other template here, so that these tags fail as in Python without a
 * loader.
 */
import { bindArguments, parseSignature } from '../python/arguments.ts'
import { truth } from '../python/operators.ts'
import { type Arguments, PyError, PyObject, type Runtime, Undefined, type Value } from '../python/values.ts'
import { type Context, type Render, VariableFrame, withoutPieces } from '../render.ts'
import { collect, functionScope, Symbols } from '../syntax/scope.ts'
import {
  type BlockNode,
  type Extends,
  type FromImport,
  type Import,
  type Include,
  LocatedError,
} from '../syntax/syntax.ts'
import {
  type Compilation,
  type CompiledBlock,
  compileCountingNodes,
  compileScopeEntry,
  type Execute,
  heightOf,
  NEXT,
  outerScope,
  type StatementScope,
  undeclaredIn,
} from './compilation.ts'
import { compileExpression, compileRead, type Evaluate } from './expressions.ts'

/** Compiles a block. Its body is a function of its own, which sees what was set at the top level of the template. */
export function compiledBlock(compilation: Compilation, node: BlockNode): CompiledBlock {
  compilation.line = node.line
  const within = functionScope(undefined)
  const symbols = new Symbols(within, undefined)
  const special = undeclaredIn(compilation, node.body, ['self', 'super'])
  const self = special.has('self') ? symbols.declareParameter('self') : undefined
  const parent = special.has('super') ? symbols.declareParameter('super') : undefined
  collect(node.body, symbols)
  const enter = compileScopeEntry(symbols)
  const scope = outerScope(compilation, symbols, false)
  const [body, weight] = compileCountingNodes(compilation, () => compilation.sequence(node.body, scope))
  const noParent = new Undefined(`there is no parent block called '${node.name}'.`)
  const run = (render: Render, context: Context): void => {
    const frame = new VariableFrame(within.variables.size, undefined, render, context)
    if (self) frame.slots[self.slot] = new TemplateReference(compilation.blocks, context)
    if (parent) frame.slots[parent.slot] = noParent
    render.step(weight)
    enter(frame)
    body(frame)
  }
  return { run, height: heightOf(node.body) }
}

/** Compiles the position of a block in the template, where its body runs. */
export function blockCall(compilation: Compilation, node: BlockNode, scope: StatementScope): Execute {
  if (compilation.extendsAtRoot && scope.isTop) return () => NEXT
  compilation.line = node.line
  const { line, name } = node
  const locals = node.scoped ? [...scope.symbols.stored()] : []
  const readers = locals.map(([local, variable]) => [local, compileRead(variable, scope.symbols.function)] as const)
  return (frame) => {
    const { render, context } = frame
    render.line = line
    if (node.required) throw new PyError('TemplateRuntimeError', `Required block '${name}' not found`)
    const derived = readers.length === 0 ? context : { ...context, exported: new Map(context.exported) }
    for (const [local, read] of readers) {
      const value = read(frame)
      if (value !== undefined) derived.exported.set(local, value)
    }
    compilation.blocks.get(name)?.run(render, derived)
    return NEXT
  }
}

/** Compiles `{% extends %}`, which fails when it runs. Throws LocatedError outside of the top level. */
export function extension(compilation: Compilation, node: Extends, scope: StatementScope): Execute {
  if (!scope.isTop)
    throw new LocatedError('TemplateAssertionError', 'cannot use extend from a non top-level scope', node.line)
  compilation.line = node.line
  const evaluate = compileExpression(node.template, scope)
  if (scope.isRoot) compilation.extendsAtRoot = true
  return withoutLoader(node.line, evaluate)
}

/** Compiles `{% include %}`, which fails when it runs, except for an empty list with `ignore missing`. */
export function inclusion(compilation: Compilation, node: Include, scope: StatementScope): Execute {
  compilation.line = node.line
  const { template, ignoreMissing, line } = node
  const evaluate = compileExpression(template, scope)
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

/** Compiles `{% import %}` and `{% from %}`, which fail when they run. */
export function importation(compilation: Compilation, node: Import | FromImport, scope: StatementScope): Execute {
  compilation.line = node.line
  return withoutLoader(node.line, compileExpression(node.template, scope))
}

function withoutLoader(line: number, evaluate: Evaluate): Execute {
  return (frame) => {
    frame.render.line = line
    evaluate(frame)
    return noLoader()
  }
}

function noLoader(): never {
  throw new PyError('TypeError', 'no loader for this environment specified')
}

/** The special name `self`: the blocks of the template. */
export class TemplateReference extends PyObject {
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
  /** Throws a KeyError, because Python reads the item 0. */
  override iterate(): Iterator<Value> {
    throw new PyError('KeyError', '0')
  }
}

const CALL = parseSignature('BlockReference.__call__([self])')

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
  override call(call: Arguments, runtime: Runtime): Value {
    bindArguments(CALL, call)
    const render = runtime as Render
    return withoutPieces(render.run(this.block.height, () => this.block.run(render, this.context)))
  }
}
