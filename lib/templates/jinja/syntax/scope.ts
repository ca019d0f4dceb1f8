/**
 * Scopes and variables of names. Compiled Jinja keeps each name of each scope in a variable of the Python function that the scope belongs
 * to (the template, a block, a macro, a recursive loop). It decides at compile time whether a scope's variable begins with the value from
 * the context, with an outer scope's variable, or undefined. This module makes the same decisions, so that a name means the same; variables
 * are slots of frames.
 */
import { type Callable, children, type For, type IfBranch, type Node, parameterNodes } from './syntax.ts'

/** One function of the compiled template: its variables are the slots of one frame. */
export interface FunctionScope {
  readonly outer: FunctionScope | undefined
  readonly variables: Map<string, Variable>
}

/** A variable of a template: a slot in each frame of its function. */
export interface Variable {
  readonly scope: FunctionScope
  readonly slot: number
}

/** Returns a function scope that has no variables yet. */
export const functionScope = (outer: FunctionScope | undefined): FunctionScope => ({ outer, variables: new Map() })

/** Initial value of a variable when its scope is entered. */
export type Load =
  | { readonly kind: 'parameter' | 'undefined' }
  | { readonly kind: 'resolve'; readonly name: string }
  | { readonly kind: 'alias'; readonly of: Variable }

/** The names of one scope and the variables that they mean. */
export class Symbols {
  readonly function: FunctionScope
  /** The scope around this one. */
  private readonly parent: Symbols | undefined
  /** The scope that this one is a branch of; its names apply unless the branch has its own. */
  private readonly base: Symbols | undefined
  private readonly level: number
  private readonly variables = new Map<string, Variable>()
  readonly loads = new Map<Variable, Load>()
  private readonly stores = new Set<string>()

  constructor(within: FunctionScope, parent: Symbols | undefined, base?: Symbols) {
    this.function = within
    this.parent = parent
    this.base = base
    this.level = parent ? parent.level + 1 : 0
  }

  find(name: string): Variable | undefined {
    return this.own(name) ?? this.parent?.find(name)
  }

  /** Returns the names that are stored here or further out, with their current variables. */
  stored(): ReadonlyMap<string, Variable> {
    const found = new Map(this.parent?.stored())
    for (const name of this.stores) {
      const variable = this.find(name)
      if (variable) found.set(name, variable)
    }
    return found
  }

  declareParameter(name: string): Variable {
    this.stores.add(name)
    return this.define(name, { kind: 'parameter' })
  }

  loaded(name: string): void {
    if (!this.find(name)) this.define(name, { kind: 'resolve', name })
  }

  store(name: string): void {
    this.stores.add(name)
    if (this.own(name)) return
    const outer = this.parent?.find(name)
    this.define(name, outer ? { kind: 'alias', of: outer } : { kind: 'undefined' })
  }

  branch(): Symbols {
    return new Symbols(this.function, this.parent, this)
  }

  /** Takes over the names of branches. A name that only some branches store has its outer value in the others. */
  merge(branches: readonly Symbols[]): void {
    const stored = new Set<string>()
    for (const branch of branches) for (const name of branch.stores) if (!this.hasStored(name)) stored.add(name)
    for (const branch of branches) {
      for (const [name, variable] of branch.variables) this.variables.set(name, variable)
      for (const [variable, load] of branch.loads) this.loads.set(variable, load)
      for (const name of branch.stores) this.stores.add(name)
    }
    for (const name of stored) {
      const variable = this.own(name)
      const outer = this.parent?.find(name)
      if (variable) this.loads.set(variable, outer ? { kind: 'alias', of: outer } : { kind: 'resolve', name })
    }
  }

  private own(name: string): Variable | undefined {
    return this.variables.get(name) ?? this.base?.own(name)
  }

  private hasStored(name: string): boolean {
    return this.stores.has(name) || (this.base?.hasStored(name) ?? false)
  }

  private define(name: string, load: Load): Variable {
    const variable = variableOf(this.function, `${this.level}:${name}`)
    this.variables.set(name, variable)
    this.loads.set(variable, load)
    return variable
  }
}

/** Returns the variable of a key. Scopes of the same level in one function share their variables, as in compiled Jinja. */
function variableOf(scope: FunctionScope, key: string): Variable {
  const known = scope.variables.get(key)
  if (known) return known
  const variable: Variable = { scope, slot: scope.variables.size }
  scope.variables.set(key, variable)
  return variable
}

/** Adds the names of the nodes of this scope. Scopes within it are left out. */
export function collect(nodes: Iterable<Node>, symbols: Symbols): void {
  for (const node of nodes) collectNode(node, symbols)
}

function collectNode(node: Node, symbols: Symbols): void {
  if (!('kind' in node)) {
    collect(children(node), symbols)
    return
  }
  switch (node.kind) {
    case 'name':
      symbols.loaded(node.name)
      return
    case 'name-target':
      symbols.store(node.name)
      return
    case 'namespace-target':
      symbols.loaded(node.name)
      return
    case 'parameter':
      symbols.declareParameter(node.name)
      return
    case 'if': {
      const [first, ...others] = node.branches
      if (!first) return
      collectNode(first.test, symbols)
      const bodies = [first.body, others.map(asIf), node.otherwise].filter((body) => body.length > 0)
      symbols.merge(
        bodies.map((body) => {
          const branch = symbols.branch()
          collect(body, branch)
          return branch
        }),
      )
      return
    }
    case 'macro':
      symbols.store(node.name)
      return
    case 'import':
      collectNode(node.template, symbols)
      symbols.store(node.target)
      return
    case 'from-import':
      collectNode(node.template, symbols)
      for (const name of node.names) symbols.store(name)
      return
    case 'assign':
      collectNode(node.value, symbols)
      collectNode(node.target, symbols)
      return
    case 'for':
      collectNode(node.iterable, symbols)
      return
    case 'call-block':
      if (node.call !== 'generation') collectNode(node.call, symbols)
      return
    case 'filter-block':
      collectNode(node.filter, symbols)
      return
    case 'with':
      collect(
        node.bindings.map(({ value }) => value),
        symbols,
      )
      return
    case 'assign-block':
      collectNode(node.target, symbols)
      return
    case 'block':
    case 'autoescape':
      return
    default:
      collect(children(node), symbols)
  }
}

/** Returns an `elif` as an `if` of its own: jinja2 keeps all `elif` conditions in one branch. */
const asIf = (branch: IfBranch): Node => ({ kind: 'if', branches: [branch], otherwise: [], line: branch.line })

/** Adds the parameters and the body of a macro to its scope. */
export const collectCallable = (node: Callable, symbols: Symbols): void => {
  collect([...parameterNodes(node), ...node.body], symbols)
}

/** Adds the names of a target as variables of this scope, whatever they are outside. */
export function collectParameters(target: For['target'], symbols: Symbols): void {
  if (target.kind === 'tuple-target') for (const item of target.items) collectParameters(item, symbols)
  else if (target.kind === 'name-target') symbols.declareParameter(target.name)
  else symbols.loaded(target.name)
}

/** Returns which of the names are read before they are stored. Blocks are left out. */
export function undeclaredNames(nodes: readonly Node[], names: readonly string[]): ReadonlySet<string> {
  const open = new Set(names)
  const found = new Set<string>()
  const visit = (node: Node): void => {
    if ('kind' in node) {
      if (node.kind === 'block') return
      if (node.kind === 'name' && open.has(node.name)) found.add(node.name)
      if (node.kind === 'name-target' || node.kind === 'parameter') open.delete(node.name)
    }
    for (const child of children(node)) visit(child)
  }
  for (const node of nodes) visit(node)
  return found
}
