/**
 * The syntax tree of a template. Lines count from 1 and equal those of the same nodes in jinja2, because the line of an error follows from
 * them.
 */
import { PyError, type Value } from '../python/values.ts'

/** An error of a template with its line. */
export class LocatedError extends PyError {
  /** Line from 1; undefined if Python's traceback contains no line of the template. */
  readonly line: number | undefined
  constructor(className: string, message: string, line: number | undefined, options?: ErrorOptions) {
    super(className, message)
    this.line = line
    if (options?.cause !== undefined) this.cause = options.cause
  }
}

/** A statement of a template. */
export type Statement =
  | Output
  | For
  | If
  | With
  | MacroNode
  | CallBlock
  | FilterBlock
  | Assign
  | AssignBlock
  | BlockNode
  | Autoescape
  | Extends
  | Include
  | Import
  | FromImport
  | { readonly kind: 'break' | 'continue'; readonly line: number }

/** Adjacent literal text and output expressions, or `{% print %}`. */
export interface Output {
  readonly kind: 'output'
  readonly parts: readonly (Data | Expression)[]
  readonly line: number
}

/** Literal text of the template. */
export interface Data {
  readonly kind: 'data'
  readonly text: string
  readonly line: number
}

/** `{% for %}`; `otherwise` is the body of its `else`. */
export interface For {
  readonly kind: 'for'
  readonly target: AssignmentTarget
  readonly iterable: Expression
  readonly body: readonly Statement[]
  readonly otherwise: readonly Statement[]
  readonly test: Expression | undefined
  readonly recursive: boolean
  readonly line: number
}

/** `{% if %}`: the first branch is `if`, the others are `elif`. */
export interface If {
  readonly kind: 'if'
  readonly branches: readonly IfBranch[]
  readonly otherwise: readonly Statement[]
  readonly line: number
}

/** A condition of `{% if %}` with its body. */
export interface IfBranch {
  readonly test: Expression
  readonly body: readonly Statement[]
  readonly line: number
}

/** `{% with %}`. */
export interface With {
  readonly kind: 'with'
  readonly bindings: readonly { readonly target: AssignmentTarget; readonly value: Expression }[]
  readonly body: readonly Statement[]
  readonly line: number
}

/** Parameters and body of a macro or a call block. */
export interface Callable {
  readonly parameters: readonly Parameter[]
  readonly body: readonly Statement[]
  readonly line: number
}

/** A parameter of a macro; `fallback` is its default, undefined if it has none. */
export interface Parameter {
  readonly name: string
  readonly fallback: Expression | undefined
}

/** `{% macro %}`. */
export interface MacroNode extends Callable {
  readonly kind: 'macro'
  readonly name: string
}

/** `{% call %}`, or `{% generation %}`, which transformers turns into a call of its tracker. */
export interface CallBlock extends Callable {
  readonly kind: 'call-block'
  readonly call: Call | 'generation'
}

/** `{% filter %}`. */
export interface FilterBlock {
  readonly kind: 'filter-block'
  readonly filter: FilterNode
  readonly body: readonly Statement[]
  readonly line: number
}

/** `{% set target = value %}`. */
export interface Assign {
  readonly kind: 'assign'
  readonly target: AssignmentTarget
  readonly value: Expression
  readonly line: number
}

/** `{% set target %}…{% endset %}`. */
export interface AssignBlock {
  readonly kind: 'assign-block'
  readonly target: AssignmentTarget
  readonly filter: FilterNode | undefined
  readonly body: readonly Statement[]
  readonly line: number
}

/** `{% block %}`. */
export interface BlockNode {
  readonly kind: 'block'
  readonly name: string
  readonly body: readonly Statement[]
  readonly scoped: boolean
  readonly required: boolean
  readonly line: number
}

/** `{% autoescape %}`. */
export interface Autoescape {
  readonly kind: 'autoescape'
  readonly enabled: Expression
  readonly body: readonly Statement[]
  readonly line: number
}

/** `{% extends %}`. */
export interface Extends {
  readonly kind: 'extends'
  readonly template: Expression
  readonly line: number
}

/** `{% include %}`. */
export interface Include {
  readonly kind: 'include'
  readonly template: Expression
  readonly ignoreMissing: boolean
  readonly line: number
}

/** `{% import %}`. */
export interface Import {
  readonly kind: 'import'
  readonly template: Expression
  readonly target: string
  readonly line: number
}

/** `{% from … import … %}`. */
export interface FromImport {
  readonly kind: 'from-import'
  readonly template: Expression
  /** Names that the imported variables have in this template. */
  readonly names: readonly string[]
  readonly line: number
}

/** The left side of an assignment. */
export type AssignmentTarget =
  | { readonly kind: 'name-target'; readonly name: string; readonly line: number }
  | { readonly kind: 'tuple-target'; readonly items: readonly AssignmentTarget[]; readonly line: number }
  | { readonly kind: 'namespace-target'; readonly name: string; readonly attribute: string; readonly line: number }

/** An expression of a template. */
export type Expression =
  | Name
  | Constant
  | { readonly kind: 'tuple' | 'list'; readonly items: readonly Expression[]; readonly line: number }
  | { readonly kind: 'dict'; readonly items: readonly Pair[]; readonly line: number }
  | Conditional
  | FilterNode
  | TestNode
  | Call
  | Attribute
  | ItemNode
  | Slice
  | { readonly kind: 'concat'; readonly parts: readonly Expression[]; readonly line: number }
  | Compare
  | Binary
  | { readonly kind: 'not' | 'neg' | 'pos'; readonly operand: Expression; readonly line: number }

interface Name {
  readonly kind: 'name'
  readonly name: string
  readonly line: number
}

interface Constant {
  readonly kind: 'const'
  readonly value: Value
  readonly line: number
}

interface Pair {
  readonly key: Expression
  readonly value: Expression
}

/** `then if test else otherwise`. */
export interface Conditional {
  readonly kind: 'condexpr'
  readonly test: Expression
  readonly then: Expression
  readonly otherwise: Expression | undefined
  readonly line: number
}

/** Arguments of a call, a filter or a test. */
export interface CallArguments {
  readonly positional: readonly Expression[]
  readonly named: readonly { readonly name: string; readonly value: Expression }[]
  readonly starred: Expression | undefined
  readonly doubleStarred: Expression | undefined
}

/** A filter. `input` is undefined at the head of a filter block or a filtered set: the filter then applies to the text of the block. */
export interface FilterNode {
  readonly kind: 'filter'
  readonly input: Expression | undefined
  readonly name: string
  readonly call: CallArguments
  readonly line: number
}

/** `input is name(…)`. */
export interface TestNode {
  readonly kind: 'test'
  readonly input: Expression
  readonly name: string
  readonly call: CallArguments
  readonly line: number
}

/** `callee(…)`. */
export interface Call {
  readonly kind: 'call'
  readonly callee: Expression
  readonly call: CallArguments
  readonly line: number
}

/** `object.name`. */
export interface Attribute {
  readonly kind: 'getattr'
  readonly object: Expression
  readonly name: string
  readonly line: number
}

/** `object[key]`. */
export interface ItemNode {
  readonly kind: 'getitem'
  readonly object: Expression
  readonly key: Expression
  readonly line: number
}

/** A slice. It occurs only as the key of an item, alone or in a tuple. */
export interface Slice {
  readonly kind: 'slice'
  readonly start: Expression | undefined
  readonly stop: Expression | undefined
  readonly step: Expression | undefined
  readonly line: number
}

/** Comparison operators, under jinja2's names. */
export type ComparisonOperator = 'eq' | 'ne' | 'lt' | 'lteq' | 'gt' | 'gteq' | 'in' | 'notin'

/** A chain of comparisons, such as `a < b < c`. */
export interface Compare {
  readonly kind: 'compare'
  readonly first: Expression
  readonly rest: readonly { readonly operator: ComparisonOperator; readonly operand: Expression }[]
  readonly line: number
}

/** Operators with two operands, under jinja2's names. */
export type BinaryOperator = 'add' | 'sub' | 'mul' | 'div' | 'floordiv' | 'mod' | 'pow' | 'and' | 'or'

/** An operation on two operands. */
export interface Binary {
  readonly kind: BinaryOperator
  readonly left: Expression
  readonly right: Expression
  readonly line: number
}

/** Any node of the tree. */
export type Node = Statement | Data | AssignmentTarget | Expression | IfBranch | ParameterName

/** A macro's parameter as a node of its own, so that a walk over the tree finds its name. */
interface ParameterName {
  readonly kind: 'parameter'
  readonly name: string
  readonly line: number
}

/** Returns the nodes directly below a node, in the order of jinja2, because the resolution of names depends on it. */
export function children(node: Node): readonly Node[] {
  if (!('kind' in node)) return [node.test, ...node.body]
  switch (node.kind) {
    case 'output':
      return node.parts
    case 'for':
      return [node.target, node.iterable, ...node.body, ...node.otherwise, ...present(node.test)]
    case 'if':
      return [...node.branches.slice(0, 1).flatMap(children), ...node.branches.slice(1), ...node.otherwise]
    case 'with':
      return [...node.bindings.map(({ target }) => target), ...node.bindings.map(({ value }) => value), ...node.body]
    case 'macro':
      return [...parameterNodes(node), ...node.body]
    case 'call-block':
      return [...(node.call === 'generation' ? [] : [node.call]), ...parameterNodes(node), ...node.body]
    case 'filter-block':
      return [...node.body, node.filter]
    case 'assign':
      return [node.target, node.value]
    case 'assign-block':
      return [node.target, ...present(node.filter), ...node.body]
    case 'block':
      return node.body
    case 'autoescape':
      return [node.enabled, ...node.body]
    case 'extends':
    case 'include':
    case 'import':
    case 'from-import':
      return [node.template]
    case 'tuple-target':
    case 'tuple':
    case 'list':
      return node.items
    case 'dict':
      return node.items.flatMap(({ key, value }) => [key, value])
    case 'condexpr':
      return [node.test, node.then, ...present(node.otherwise)]
    case 'filter':
      return [...present(node.input), ...argumentsOf(node.call)]
    case 'test':
      return [node.input, ...argumentsOf(node.call)]
    case 'call':
      return [node.callee, ...argumentsOf(node.call)]
    case 'getattr':
      return [node.object]
    case 'getitem':
      return [node.object, node.key]
    case 'slice':
      return [...present(node.start), ...present(node.stop), ...present(node.step)]
    case 'concat':
      return node.parts
    case 'compare':
      return [node.first, ...node.rest.map(({ operand }) => operand)]
    case 'add':
    case 'sub':
    case 'mul':
    case 'div':
    case 'floordiv':
    case 'mod':
    case 'pow':
    case 'and':
    case 'or':
      return [node.left, node.right]
    case 'not':
    case 'neg':
    case 'pos':
      return [node.operand]
    case 'break':
    case 'continue':
    case 'data':
    case 'name':
    case 'const':
    case 'name-target':
    case 'namespace-target':
    case 'parameter':
      return []
  }
}

/** Returns the names of the parameters as nodes, followed by their defaults. */
export const parameterNodes = ({ parameters, line }: Callable): Node[] => [
  ...parameters.map(({ name }): ParameterName => ({ kind: 'parameter', name, line })),
  ...parameters.flatMap(({ fallback }) => present(fallback)),
]

const argumentsOf = ({ positional, named, starred, doubleStarred }: CallArguments): readonly Expression[] =>
  named.length === 0 && !starred && !doubleStarred
    ? positional
    : [...positional, ...named.map(({ value }) => value), ...present(starred), ...present(doubleStarred)]

const present = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value])

/** Returns whether the condition is true of the node or of any node below it. */
export const hasBelow = (node: Node, is: (node: Node) => boolean): boolean =>
  is(node) || children(node).some((child) => hasBelow(child, is))

/** Returns whether a node is of the kind. */
export const isKind = <Kind extends string>(node: Node, kind: Kind): node is Extract<Node, { readonly kind: Kind }> =>
  'kind' in node && node.kind === kind
