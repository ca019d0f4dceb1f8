/**
 * Parses tokens to a syntax tree: jinja2's grammar with the extensions that transformers loads (loop controls, generation), its messages
 * and its line numbers. The parser descends recursively, at most MOST_NESTING deep.
 */
import { quoteText } from '../python/text/code-points.ts'
import { describeToken, describeType, lexer, type NextToken, type TemplateToken, type TokenType } from './lexer.ts'
import {
  type AssignmentTarget,
  type BinaryOperator,
  type CallArguments,
  type ComparisonOperator,
  type Data,
  type Expression,
  type FilterNode,
  type FromImport,
  type If,
  LocatedError,
  type Parameter,
  type Slice,
  type Statement,
} from './syntax.ts'

/** Parses a template. Throws LocatedError: TemplateSyntaxError, TemplateAssertionError, RecursionError. */
export function parse(template: string): readonly Statement[] {
  return new Parser(lexer(template)).template()
}

/** Most expressions and statements within each other. Python itself fails at some 70 nested brackets. */
const MOST_NESTING = 150

/** Words that may come next, such as the names of the tags that end a body. */
type Ends = readonly string[]

const COMPARISONS: ReadonlySet<string> = new Set(['eq', 'ne', 'lt', 'lteq', 'gt', 'gteq'])
const SUMS: ReadonlySet<string> = new Set(['add', 'sub'])
const PRODUCTS: ReadonlySet<string> = new Set(['mul', 'div', 'floordiv', 'mod'])
const TRUE: ReadonlySet<string> = new Set(['true', 'True'])
const FALSE: ReadonlySet<string> = new Set(['false', 'False'])
const NONE: ReadonlySet<string> = new Set(['none', 'None'])

class Parser {
  private readonly next: NextToken
  private current: TemplateToken
  private ahead: TemplateToken | undefined
  private depth = 0
  private readonly tags: string[] = []
  private readonly ends: Ends[] = []

  constructor(next: NextToken) {
    this.next = next
    this.current = next()
  }

  template(): readonly Statement[] {
    return this.subparse(undefined)
  }

  // The methods below read tokens.

  private skip(): TemplateToken {
    const token = this.current
    const following = this.ahead ?? this.next()
    this.ahead = undefined
    // The end of the template has the line of the token before it.
    this.current = following.type === 'eof' ? { ...following, line: token.line } : following
    return token
  }

  private look(): TemplateToken {
    this.ahead ??= this.next()
    return this.ahead
  }

  private is(type: TokenType): boolean {
    return this.current.type === type
  }

  private isWord(word: string): boolean {
    return this.current.type === 'name' && this.current.text === word
  }

  private isAnyWord(words: Ends): boolean {
    return this.current.type === 'name' && words.includes(this.current.text)
  }

  private skipWord(word: string): boolean {
    const found = this.isWord(word)
    if (found) this.skip()
    return found
  }

  private skipIf(type: TokenType): boolean {
    const found = this.is(type)
    if (found) this.skip()
    return found
  }

  private expect(type: TokenType): TemplateToken {
    return this.is(type) ? this.skip() : this.unexpected(describeType(type))
  }

  private expectWord(word: string): TemplateToken {
    return this.isWord(word) ? this.skip() : this.unexpected(word)
  }

  private unexpected(expected: string): never {
    if (this.is('eof')) this.fail(`unexpected end of template, expected ${quoteText(expected)}.`)
    this.fail(`expected token ${quoteText(expected)}, got ${quoteText(describeToken(this.current))}`)
  }

  private fail(message: string, line = this.current.line, className = 'TemplateSyntaxError'): never {
    throw new LocatedError(className, message, line)
  }

  /** Enters a construct that may contain itself; the caller decreases `depth` after it. */
  private enter(): void {
    this.depth += 1
    if (this.depth > MOST_NESTING) this.fail('maximum recursion depth exceeded', this.current.line, 'RecursionError')
  }

  // The methods below parse statements.

  private subparse(ends: Ends | undefined): Statement[] {
    const body: Statement[] = []
    let parts: (Data | Expression)[] = []
    const flush = (): void => {
      const [first] = parts
      if (first) body.push({ kind: 'output', parts, line: first.line })
      parts = []
    }
    if (ends) this.ends.push(ends)
    while (!this.is('eof')) {
      const { type, text, line } = this.current
      if (type === 'data') {
        parts.push({ kind: 'data', text, line })
        this.skip()
      } else if (type === 'variable_begin') {
        this.skip()
        parts.push(this.tuple({}))
        this.expect('variable_end')
      } else {
        flush()
        this.skip()
        if (ends && this.isAnyWord(ends)) break
        this.enter()
        body.push(this.statement())
        this.depth -= 1
        this.expect('block_end')
      }
    }
    flush()
    if (ends) this.ends.pop()
    return body
  }

  private statement(): Statement {
    const { type, text, line } = this.current
    if (type !== 'name') this.fail('tag name expected', line)
    this.tags.push(text)
    const read = this.statements.get(text)
    if (!read) {
      this.tags.pop()
      this.failUnknown(text, line)
    }
    this.skip()
    const statement = read(line)
    this.tags.pop()
    return statement
  }

  private readonly statements: ReadonlyMap<string, (line: number) => Statement> = new Map<
    string,
    (line: number) => Statement
  >([
    ['for', (line) => this.forLoop(line)],
    ['if', (line) => this.conditional(line)],
    ['block', (line) => this.block(line)],
    ['extends', (line) => ({ kind: 'extends', template: this.expression(), line })],
    ['print', (line) => this.print(line)],
    ['macro', (line) => this.macro(line)],
    ['include', (line) => this.include(line)],
    ['from', (line) => this.fromImport(line)],
    ['import', (line) => this.import(line)],
    ['set', (line) => this.set(line)],
    ['with', (line) => this.with(line)],
    ['autoescape', (line) => this.autoescape(line)],
    ['call', (line) => this.callBlock(line)],
    ['filter', (line) => this.filterBlock(line)],
    ['break', (line) => ({ kind: 'break', line })],
    ['continue', (line) => ({ kind: 'continue', line })],
    ['generation', (line) => this.generation(line)],
  ])

  /** Parses a body up to one of the ends, which becomes the current token. */
  private body(...ends: string[]): readonly Statement[] {
    this.skipIf('colon')
    this.expect('block_end')
    const body = this.subparse(ends)
    if (this.is('eof')) this.failEnd(undefined, [...this.ends, ends])
    return body
  }

  private bodyAndEnd(end: string): readonly Statement[] {
    const body = this.body(end)
    this.skip()
    return body
  }

  private failUnknown(name: string, line: number): never {
    this.failEnd(name, this.ends, line)
  }

  private failEnd(name: string | undefined, stack: readonly Ends[], line?: number): never {
    const looking = stack.at(-1)?.map(quoteText).join(' or ')
    const message = [name === undefined ? 'Unexpected end of template.' : `Encountered unknown tag ${quoteText(name)}.`]
    if (looking !== undefined && name !== undefined && stack.some((ends) => ends.includes(name)))
      message.push(
        `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${looking}.`,
      )
    else if (looking !== undefined) message.push(`Jinja was looking for the following tags: ${looking}.`)
    const innermost = this.tags.at(-1)
    if (innermost !== undefined) message.push(`The innermost block that needs to be closed is ${quoteText(innermost)}.`)
    this.fail(message.join(' '), line)
  }

  private forLoop(line: number): Statement {
    const target = this.target('plain')
    this.expectWord('in')
    const iterable = this.tuple({ withConditional: false })
    const test = this.skipWord('if') ? this.expression() : undefined
    const recursive = this.skipWord('recursive')
    const body = this.body('endfor', 'else')
    const otherwise = this.skip().text === 'endfor' ? [] : this.bodyAndEnd('endfor')
    return { kind: 'for', target, iterable, body, otherwise, test, recursive, line }
  }

  private conditional(line: number): Statement {
    const branches: If['branches'][number][] = []
    for (let branchLine = line; ; branchLine = this.current.line) {
      const test = this.tuple({ withConditional: false })
      branches.push({ test, body: this.body('elif', 'else', 'endif'), line: branchLine })
      const { text } = this.skip()
      if (text === 'elif') continue
      return { kind: 'if', branches, otherwise: text === 'else' ? this.bodyAndEnd('endif') : [], line }
    }
  }

  private with(line: number): Statement {
    const bindings: { target: AssignmentTarget; value: Expression }[] = []
    while (!this.is('block_end')) {
      if (bindings.length > 0) this.expect('comma')
      const target = this.target('plain')
      this.expect('assign')
      bindings.push({ target, value: this.expression() })
    }
    return { kind: 'with', bindings, body: this.bodyAndEnd('endwith'), line }
  }

  private autoescape(line: number): Statement {
    return { kind: 'autoescape', enabled: this.expression(), body: this.bodyAndEnd('endautoescape'), line }
  }

  private block(line: number): Statement {
    const name = this.expect('name').text
    const scoped = this.skipWord('scoped')
    const required = this.skipWord('required')
    if (this.is('sub'))
      this.fail(
        'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
      )
    const body = this.bodyAndEnd('endblock')
    if (required && !body.every(isBlank)) this.fail('Required blocks can only contain comments or whitespace')
    this.skipWord(name)
    return { kind: 'block', name, body, scoped, required, line }
  }

  private print(line: number): Statement {
    const parts: Expression[] = []
    while (!this.is('block_end')) {
      if (parts.length > 0) this.expect('comma')
      parts.push(this.expression())
    }
    return { kind: 'output', parts, line }
  }

  private include(line: number): Statement {
    const template = this.expression()
    const ignoreMissing = this.isWord('ignore') && isName(this.look(), 'missing')
    if (ignoreMissing) {
      this.skip()
      this.skip()
    }
    this.importContext()
    return { kind: 'include', template, ignoreMissing, line }
  }

  private import(line: number): Statement {
    const template = this.expression()
    this.expectWord('as')
    const target = this.nameTarget().text
    this.importContext()
    return { kind: 'import', template, target, line }
  }

  private importContext(): boolean {
    const found = this.isAnyWord(['with', 'without']) && isName(this.look(), 'context')
    if (found) {
      this.skip()
      this.skip()
    }
    return found
  }

  private fromImport(line: number): FromImport {
    const template = this.expression()
    this.expectWord('import')
    const names: string[] = []
    for (;;) {
      if (names.length > 0) this.expect('comma')
      if (!this.is('name')) this.expect('name')
      if (this.importContext()) break
      const target = this.nameTarget()
      if (target.text.startsWith('_'))
        this.fail('names starting with an underline can not be imported', target.line, 'TemplateAssertionError')
      names.push(this.skipWord('as') ? this.nameTarget().text : target.text)
      if (this.importContext() || !this.is('comma')) break
    }
    return { kind: 'from-import', template, names, line }
  }

  private set(line: number): Statement {
    const target = this.target('with namespace')
    if (this.skipIf('assign')) return { kind: 'assign', target, value: this.tuple({}), line }
    const filter = this.filters(undefined)
    return { kind: 'assign-block', target, filter, body: this.bodyAndEnd('endset'), line }
  }

  private macro(line: number): Statement {
    const name = this.nameTarget().text
    const parameters = this.signature()
    return { kind: 'macro', name, parameters, body: this.bodyAndEnd('endmacro'), line }
  }

  private signature(): readonly Parameter[] {
    const parameters: Parameter[] = []
    this.expect('lparen')
    while (!this.is('rparen')) {
      if (parameters.length > 0) this.expect('comma')
      const name = this.nameTarget().text
      const fallback = this.skipIf('assign') ? this.expression() : undefined
      if (!fallback && parameters.at(-1)?.fallback) this.fail('non-default argument follows default argument')
      parameters.push({ name, fallback })
    }
    this.expect('rparen')
    return parameters
  }

  private callBlock(line: number): Statement {
    const parameters = this.is('lparen') ? this.signature() : []
    const call = this.expression()
    if (call.kind !== 'call') this.fail('expected call', line)
    return { kind: 'call-block', call, parameters, body: this.bodyAndEnd('endcall'), line }
  }

  private generation(line: number): Statement {
    return { kind: 'call-block', call: 'generation', parameters: [], body: this.bodyAndEnd('endgeneration'), line }
  }

  private filterBlock(line: number): Statement {
    const filter = this.filters(this.filter(undefined))
    if (!filter) this.fail('expected filter', line)
    return { kind: 'filter-block', filter, body: this.bodyAndEnd('endfilter'), line }
  }

  // The methods below parse targets of assignments.

  private target(primary: 'plain' | 'with namespace'): AssignmentTarget {
    const found = this.tuple({ primary })
    const target = isTarget(found) ? found : asTarget(found)
    return target ?? this.fail(`can't assign to ${quoteText(found.kind)}`, found.line)
  }

  private nameTarget(): TemplateToken {
    const token = this.expect('name')
    const { text, line } = token
    if (TRUE.has(text) || FALSE.has(text) || NONE.has(text)) this.fail("can't assign to 'name'", line)
    return token
  }

  // The methods below parse expressions.

  /** Parses one expression, or a tuple of several with commas between. `primary` allows only what can be on the left of a set. */
  private tuple(how: TupleRules & { readonly primary: 'plain' | 'with namespace' }): Expression | AssignmentTarget
  private tuple(how: TupleRules): Expression
  private tuple(how: TupleRules & { readonly primary?: 'plain' | 'with namespace' }): Expression | AssignmentTarget {
    const { withConditional = true, explicit = false, primary } = how
    let { line } = this.current
    const items: (Expression | AssignmentTarget)[] = []
    let isTuple = false
    for (;;) {
      if (items.length > 0) this.expect('comma')
      if (this.is('variable_end') || this.is('block_end') || this.is('rparen')) break
      items.push(this.tupleItem(primary, withConditional))
      if (!this.is('comma')) break
      isTuple = true
      line = this.current.line
    }
    const [first] = items
    if (!isTuple && first) return first
    if (!isTuple && !explicit) this.fail(`Expected an expression, got ${quoteText(describeToken(this.current))}`)
    if (items.some(isTarget)) return this.tupleTarget(items, line)
    return { kind: 'tuple', items: items as Expression[], line }
  }

  private tupleItem(
    primary: 'plain' | 'with namespace' | undefined,
    withConditional: boolean,
  ): Expression | AssignmentTarget {
    if (!primary) return this.expression(withConditional)
    return (primary === 'with namespace' ? this.namespaceTarget() : undefined) ?? this.primary()
  }

  /** Parses `ns.name`; returns undefined if something else follows. */
  private namespaceTarget(): AssignmentTarget | undefined {
    const { type, text, line } = this.current
    const isConstant = TRUE.has(text) || FALSE.has(text) || NONE.has(text)
    if (type !== 'name' || isConstant || this.look().type !== 'dot') return undefined
    this.skip()
    this.skip()
    return { kind: 'namespace-target', name: text, attribute: this.expect('name').text, line }
  }

  private tupleTarget(items: readonly (Expression | AssignmentTarget)[], line: number): AssignmentTarget {
    const targets = items.map((item) => (isTarget(item) ? item : asTarget(item)))
    if (!targets.every((target) => target !== undefined)) this.fail("can't assign to 'tuple'", line)
    return { kind: 'tuple-target', items: targets, line }
  }

  private expression(withConditional = true): Expression {
    this.enter()
    const found = withConditional ? this.inlineIf() : this.or()
    this.depth -= 1
    return found
  }

  private inlineIf(): Expression {
    let { line } = this.current
    let then = this.or()
    while (this.skipWord('if')) {
      const test = this.or()
      const otherwise = this.skipWord('else') ? this.expression() : undefined
      then = { kind: 'condexpr', test, then, otherwise, line }
      line = this.current.line
    }
    return then
  }

  private or(): Expression {
    let { line } = this.current
    let left = this.and()
    while (this.skipWord('or')) {
      left = { kind: 'or', left, right: this.and(), line }
      line = this.current.line
    }
    return left
  }

  private and(): Expression {
    let { line } = this.current
    let left = this.not()
    while (this.skipWord('and')) {
      left = { kind: 'and', left, right: this.not(), line }
      line = this.current.line
    }
    return left
  }

  private not(): Expression {
    const { line } = this.current
    if (!this.skipWord('not')) return this.compare()
    this.enter()
    const operand = this.not()
    this.depth -= 1
    return { kind: 'not', operand, line }
  }

  private compare(): Expression {
    let { line } = this.current
    const first = this.sum()
    const rest: { operator: ComparisonOperator; operand: Expression }[] = []
    for (let operator = this.comparison(); operator; operator = this.comparison()) {
      rest.push({ operator, operand: this.sum() })
      line = this.current.line
    }
    return rest.length === 0 ? first : { kind: 'compare', first, rest, line }
  }

  private comparison(): ComparisonOperator | undefined {
    if (COMPARISONS.has(this.current.type)) return this.skip().type as ComparisonOperator
    if (this.skipWord('in')) return 'in'
    if (!this.isWord('not') || !isName(this.look(), 'in')) return undefined
    this.skip()
    this.skip()
    return 'notin'
  }

  private sum(): Expression {
    let { line } = this.current
    let left = this.concat()
    for (let kind = this.operator(SUMS); kind; kind = this.operator(SUMS)) {
      left = { kind, left, right: this.concat(), line }
      line = this.current.line
    }
    return left
  }

  private concat(): Expression {
    const { line } = this.current
    const first = this.product()
    if (!this.is('tilde')) return first
    const parts = [first]
    while (this.skipIf('tilde')) parts.push(this.product())
    return { kind: 'concat', parts, line }
  }

  private product(): Expression {
    let { line } = this.current
    let left = this.power()
    for (let kind = this.operator(PRODUCTS); kind; kind = this.operator(PRODUCTS)) {
      left = { kind, left, right: this.power(), line }
      line = this.current.line
    }
    return left
  }

  private power(): Expression {
    let { line } = this.current
    let left = this.unary(true)
    while (this.skipIf('pow')) {
      left = powerOf(left, this.unary(true), line)
      line = this.current.line
    }
    return left
  }

  private operator(operators: ReadonlySet<string>): BinaryOperator | undefined {
    return operators.has(this.current.type) ? (this.skip().type as BinaryOperator) : undefined
  }

  private unary(withFilters: boolean): Expression {
    const { line } = this.current
    const sign = this.skipIf('sub') ? 'neg' : this.skipIf('add') ? 'pos' : undefined
    const node = this.postfix(sign ? this.signed(sign, line) : this.primary())
    return withFilters ? this.filtersAndTests(node) : node
  }

  private signed(kind: 'neg' | 'pos', line: number): Expression {
    this.enter()
    const operand = this.unary(false)
    this.depth -= 1
    return { kind, operand, line }
  }

  private primary(): Expression {
    const { type, text, line } = this.current
    if (type === 'name') {
      this.skip()
      if (TRUE.has(text) || FALSE.has(text)) return { kind: 'const', value: TRUE.has(text), line }
      return NONE.has(text) ? { kind: 'const', value: null, line } : { kind: 'name', name: text, line }
    }
    if (type === 'string') {
      let value = ''
      while (this.is('string')) value += this.skip().text
      return { kind: 'const', value, line }
    }
    if (type === 'integer' || type === 'float') return { kind: 'const', value: this.skip().number, line }
    if (type === 'lparen') {
      this.skip()
      const found = this.tuple({ explicit: true })
      this.expect('rparen')
      return found
    }
    if (type === 'lbracket') return this.list(line)
    if (type === 'lbrace') return this.dict(line)
    this.fail(`unexpected ${quoteText(describeToken(this.current))}`)
  }

  private list(line: number): Expression {
    const items: Expression[] = []
    this.skip()
    while (!this.is('rbracket')) {
      if (items.length > 0) this.expect('comma')
      if (this.is('rbracket')) break
      items.push(this.expression())
    }
    this.expect('rbracket')
    return { kind: 'list', items, line }
  }

  private dict(line: number): Expression {
    const items: { key: Expression; value: Expression }[] = []
    this.skip()
    while (!this.is('rbrace')) {
      if (items.length > 0) this.expect('comma')
      if (this.is('rbrace')) break
      const key = this.expression()
      this.expect('colon')
      items.push({ key, value: this.expression() })
    }
    this.expect('rbrace')
    return { kind: 'dict', items, line }
  }

  private postfix(start: Expression): Expression {
    let node = start
    for (;;) {
      if (this.is('dot')) node = this.attribute(node)
      else if (this.is('lbracket')) node = this.item(node)
      else if (this.is('lparen')) node = this.call(node)
      else return node
    }
  }

  private filtersAndTests(start: Expression): Expression {
    let node = start
    for (;;) {
      if (this.is('pipe')) node = this.filters(node) ?? node
      else if (this.isWord('is')) node = this.test(node)
      else if (this.is('lparen')) node = this.call(node)
      else return node
    }
  }

  private attribute(object: Expression): Expression {
    const { line } = this.skip()
    const name = this.skip()
    if (name.type === 'name') return { kind: 'getattr', object, name: name.text, line }
    if (name.type !== 'integer') this.fail('expected name or number', name.line)
    return { kind: 'getitem', object, key: { kind: 'const', value: name.number, line: name.line }, line }
  }

  private item(object: Expression): Expression {
    const { line } = this.skip()
    const keys: Expression[] = []
    while (!this.is('rbracket')) {
      if (keys.length > 0) this.expect('comma')
      keys.push(this.subscript())
    }
    this.expect('rbracket')
    const [key] = keys
    return { kind: 'getitem', object, key: key && keys.length === 1 ? key : { kind: 'tuple', items: keys, line }, line }
  }

  private subscript(): Expression {
    const { line } = this.current
    const start = this.is('colon') ? undefined : this.expression()
    if (start && !this.is('colon')) return start
    this.skip()
    const part = (): Expression | undefined =>
      this.is('colon') || this.is('rbracket') || this.is('comma') ? undefined : this.expression()
    const stop = part()
    if (!this.skipIf('colon')) return { kind: 'slice', start, stop, step: undefined, line }
    const isEnd = this.is('rbracket') || this.is('comma')
    return { kind: 'slice', start, stop, step: isEnd ? undefined : this.expression(), line } satisfies Slice
  }

  private call(callee: Expression): Expression {
    const { line } = this.current
    return { kind: 'call', callee, call: this.callArguments(), line }
  }

  private callArguments(): CallArguments {
    const { line } = this.expect('lparen')
    const positional: Expression[] = []
    const named: { name: string; value: Expression }[] = []
    let starred: Expression | undefined
    let doubleStarred: Expression | undefined
    const ensure = (valid: boolean): void => {
      if (!valid) this.fail('invalid syntax for function call expression', line)
    }
    for (let isFirst = true; !this.is('rparen'); isFirst = false) {
      if (!isFirst) {
        this.expect('comma')
        if (this.is('rparen')) break
      }
      if (this.skipStar('mul', () => ensure(!starred && !doubleStarred))) starred = this.expression()
      else if (this.skipStar('pow', () => ensure(!doubleStarred))) doubleStarred = this.expression()
      else if (this.is('name') && this.look().type === 'assign') {
        ensure(!doubleStarred)
        const name = this.skip().text
        this.skip()
        named.push({ name, value: this.expression() })
      } else {
        ensure(!starred && !doubleStarred && named.length === 0)
        positional.push(this.expression())
      }
    }
    this.expect('rparen')
    return { positional, named, starred, doubleStarred }
  }

  private skipStar(type: 'mul' | 'pow', ensure: () => void): boolean {
    if (!this.is(type)) return false
    ensure()
    this.skip()
    return true
  }

  /** Parses `|name(…)|name(…)`. */
  private filters(input: FilterNode | undefined): FilterNode | undefined
  private filters(input: Expression | undefined): Expression | undefined
  private filters(input: Expression | undefined): Expression | undefined {
    let node = input
    while (this.skipIf('pipe')) node = this.filter(node)
    return node
  }

  private filter(input: Expression | undefined): FilterNode {
    const { line } = this.current
    const name = this.dottedName()
    return { kind: 'filter', input, name, call: this.is('lparen') ? this.callArguments() : NO_ARGUMENTS, line }
  }

  private dottedName(): string {
    let name = this.expect('name').text
    while (this.skipIf('dot')) name += `.${this.expect('name').text}`
    return name
  }

  private test(input: Expression): Expression {
    const { line } = this.skip()
    const isNegated = this.skipWord('not')
    const name = this.dottedName()
    const node: Expression = { kind: 'test', input, name, call: this.testArguments(), line }
    return isNegated ? { kind: 'not', operand: node, line } : node
  }

  /** Parses the arguments of a test: in brackets, or one operand without them. */
  private testArguments(): CallArguments {
    if (this.is('lparen')) return this.callArguments()
    if (!OPERAND_STARTS.has(this.current.type) || this.isAnyWord(['else', 'or', 'and'])) return NO_ARGUMENTS
    if (this.isWord('is')) this.fail('You cannot chain multiple tests with is')
    return { ...NO_ARGUMENTS, positional: [this.postfix(this.primary())] }
  }
}

interface TupleRules {
  readonly withConditional?: boolean
  /** Whether the tuple is in brackets, where `()` is a tuple too. */
  readonly explicit?: boolean
}

const NO_ARGUMENTS: CallArguments = { positional: [], named: [], starred: undefined, doubleStarred: undefined }

const OPERAND_STARTS: ReadonlySet<TokenType> = new Set(['name', 'string', 'integer', 'float', 'lbracket', 'lbrace'])

const isName = ({ type, text }: TemplateToken, word: string): boolean => type === 'name' && text === word

const isTarget = (node: Expression | AssignmentTarget): node is AssignmentTarget =>
  node.kind === 'name-target' || node.kind === 'tuple-target' || node.kind === 'namespace-target'

function asTarget(node: Expression): AssignmentTarget | undefined {
  if (node.kind === 'name') return { kind: 'name-target', name: node.name, line: node.line }
  if (node.kind !== 'tuple') return undefined
  const items = node.items.map(asTarget)
  return items.every((item) => item !== undefined) ? { kind: 'tuple-target', items, line: node.line } : undefined
}

const isBlank = (statement: Statement): boolean =>
  statement.kind === 'output' && statement.parts.every((part) => part.kind === 'data' && /^\s+$/.test(part.text))

/** jinja2 writes a negative number as Python code, and Python negates the power: -2 ** i is -(2 ** i). It computes -2 ** 2 itself, as 4. */
const powerOf = (left: Expression, right: Expression, line: number): Expression =>
  left.kind === 'neg' && isNumber(left.operand) && !isNumber(right)
    ? { ...left, operand: powerOf(left.operand, right, line) }
    : { kind: 'pow', left, right, line }

/** Whether jinja2 computes an expression when it compiles a template. */
function isNumber(node: Expression): boolean {
  if (node.kind === 'const') return typeof node.value !== 'string'
  if ('operand' in node) return isNumber(node.operand)
  return 'left' in node && isNumber(node.left) && isNumber(node.right)
}
