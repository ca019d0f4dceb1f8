/** Chat templates: the port that everything renders through, as transformers' apply_chat_template calls jinja2. */
import { onceFor } from '#lib/core/once-for.ts'
import { DEFAULT_BUDGET } from './jinja/budget.ts'
import { fromJs } from './jinja/python/json.ts'
import { PyDict, type Value } from './jinja/python/values.ts'
import { LocatedError } from './jinja/syntax/syntax.ts'
import { compileTemplate } from './jinja/template.ts'
import type { Budget, Rendering } from './rendering.ts'

/** A message as templates get it: the field's JSON names. */
export interface TemplateMessage {
  readonly role: string
  readonly content: unknown
  readonly reasoning_content?: string
  readonly tool_calls?: readonly unknown[]
  readonly tool_call_id?: string
}

export interface RenderInput {
  /** Plain data, or as the engine reads JSON, which loses nothing. */
  readonly messages: readonly (TemplateMessage | PyDict)[]
  /** `{type: "function", function: {name, description, parameters}}` each; undefined where there are none. */
  readonly tools: readonly unknown[] | undefined
  readonly addGenerationPrompt: boolean
  /** Further variables, such as enable_thinking. */
  readonly options: Readonly<Record<string, unknown>>
  /** What strftime_now tells. Omitted: the time of the render. */
  readonly clock?: () => Date
}

export interface ChatTemplate {
  readonly text: string
  /** Throws TemplateError with the template's own message. */
  render(input: RenderInput): string
}

/** A template that was compiled here, so that it can say where its text comes from. */
export interface CompiledTemplate extends ChatTemplate {
  /** As render, with the source map. Throws TemplateError. */
  trace(input: RenderInput, budget?: Budget): Rendering
}

/** The message is Python's own: `'x' is undefined`. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  /** Python's class: TemplateSyntaxError, UndefinedError, TypeError… BudgetError where a budget ended the render. */
  readonly className: string
  /** Line of the template, from 1; undefined where it is not known. */
  readonly line: number | undefined
  constructor(
    message: string,
    {
      className = 'TemplateError',
      line,
      cause,
    }: { className?: string; line?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.className = className
    this.line = line
  }
}

/** Names that a template option must not take: they are what is rendered. */
export const RESERVED_OPTIONS: readonly string[] = [
  'messages',
  'tools',
  'documents',
  'add_generation_prompt',
  'chat_template',
  'tokenize',
]

/** `specialTokens`: bos_token, eos_token and the like, as templates name them. Throws TemplateError. */
export function chatTemplate(text: string, specialTokens: Readonly<Record<string, string>>): CompiledTemplate {
  const template = guarded(() => compileTemplate(text))
  return {
    text,
    render: (input) => guarded(() => template.render(variables(input, specialTokens), settings(input))),
    trace: (input, budget = DEFAULT_BUDGET) =>
      guarded(() => template.trace(variables(input, specialTokens), { ...settings(input), budget })),
  }
}

const settings = ({ clock }: RenderInput) => (clock ? { clock } : {})

/** As apply_chat_template names and prepares them; an option wins over a special token. */
function variables(
  { messages, tools, addGenerationPrompt, options }: RenderInput,
  specialTokens: Readonly<Record<string, string>>,
): ReadonlyMap<string, Value> {
  if (messages.length === 0) throw new TemplateError(EMPTY, { className: 'ValueError' })
  const given = new Map<string, Value>([['documents', null]])
  for (const [name, value] of Object.entries(specialTokens)) given.set(name, value)
  for (const [name, value] of Object.entries(options)) if (value !== undefined) given.set(name, fromJs(value))
  given.set('messages', messages.map(prepared))
  given.set('tools', tools ? toolsValue(tools) : null)
  given.set('add_generation_prompt', addGenerationPrompt)
  return given
}

/** A run renders the same tools at every turn; a template cannot change them. */
const toolsValue = onceFor((tools: readonly unknown[]) => fromJs(tools))

const EMPTY = 'Cannot apply chat template to an empty conversation. Provide at least one message.'

/** Under these names a message's reasoning is passed; the first of them that is there is what templates read. */
const REASONING = ['reasoning_content', 'thinking', 'reasoning']

/** Members that are None are left out, and reasoning stands under the two names that templates know it by. */
function prepared(message: TemplateMessage | PyDict): PyDict {
  const dict = new PyDict()
  if (message instanceof PyDict) {
    for (const [name, value] of message.entries()) if (value !== null) dict.set(name, value)
  } else {
    const members = message as unknown as Readonly<Record<string, unknown>>
    for (const name of Object.keys(members)) {
      const value = members[name]
      if (value !== undefined && value !== null) dict.set(name, fromJs(value))
    }
  }
  const name = REASONING.find((key) => dict.has(key))
  const reasoning = name === undefined ? undefined : dict.get(name)
  if (reasoning === undefined) return dict
  return PyDict.of([['thinking', reasoning], ...dict.entries(), ['reasoning_content', reasoning]])
}

function guarded<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof LocatedError)) throw error
    throw new TemplateError(error.message, { className: error.className, line: error.line, cause: error })
  }
}
