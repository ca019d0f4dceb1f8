/** Chat templates, as everything else renders them: templates are called as apply_chat_template of transformers calls jinja2. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { cutAtTag, REASONING, tagFinalMessage } from './continue-final-message.ts'
import { DEFAULT_BUDGET } from './jinja/budget.ts'
import { fromJs } from './jinja/python/json.ts'
import { typeName } from './jinja/python/text/repr.ts'
import { PyDict, PyError, PyTuple, type Value } from './jinja/python/values.ts'
import type { Rendering, RenderLimits } from './jinja/rendering.ts'
import { LocatedError } from './jinja/syntax/syntax.ts'
import { compileTemplate } from './jinja/template.ts'

/** A message as templates get it, with the usual JSON names. */
export interface TemplateMessage {
  readonly role: string
  readonly name?: string | undefined
  readonly content: unknown
  readonly reasoning_content?: string
  readonly tool_calls?: readonly unknown[]
  readonly tool_call_id?: string
}

/** The arguments of one render. */
export interface RenderInput {
  /** Messages as plain data, or as the engine reads JSON, which loses nothing. */
  readonly messages: readonly (TemplateMessage | PyDict)[]
  /**
   * Tools as `{type: "function", function: {name, description, parameters}}`; undefined is passed as None, an empty list as an empty list.
   */
  readonly tools: readonly unknown[] | undefined
  readonly addGenerationPrompt: boolean
  /** Leaves the last message open: true for its content, otherwise the name of the field to continue. Omitted: it is closed. */
  readonly continueFinalMessage?: boolean | string | undefined
  /** Further variables, such as enable_thinking and documents. */
  readonly options: Readonly<Record<string, unknown>>
  /** Time that strftime_now formats. Omitted: the time of the render. */
  readonly clock?: () => Date
}

/** A chat template that renders, here or in Python. */
export interface ChatTemplate {
  readonly text: string
  /** Returns the text. Throws TemplateError with the template's own message. */
  render(input: RenderInput): string
}

/** A template that was compiled here, so that it can report where its text comes from. */
export interface CompiledTemplate extends ChatTemplate {
  render(input: RenderInput, budget?: RenderLimits): string
  /** Renders with the source map. Throws TemplateError. */
  trace(input: RenderInput, budget?: RenderLimits): Rendering
}

/** An error of a template, with Python's own message: `'x' is undefined`. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  /** Python's class: TemplateSyntaxError, UndefinedError, TypeError…; BudgetError if a budget ended the render. */
  readonly className: string
  /** Line of the template, from 1; undefined if it is unknown. */
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

const NOT_HERE = 'it always renders one whole conversation as text and token ids'

/**
 * Names that no template option may have: arguments of apply_chat_template in transformers 5.23 that never reach the template or have a
 * field of their own. Each value says what to do instead.
 */
const ARGUMENTS: Readonly<Record<string, string>> = {
  conversation: 'put messages into the messages',
  conversations: 'put messages into the messages',
  messages: 'put messages into the messages',
  tools: 'put tools into the tools',
  chat_template: 'put the template into the template',
  tokenize: NOT_HERE,
  return_dict: NOT_HERE,
  return_tensors: NOT_HERE,
  padding: `${NOT_HERE}: nothing is padded`,
  truncation: `${NOT_HERE}: nothing is cut`,
  max_length: `${NOT_HERE}: nothing is padded or cut`,
  tokenizer_kwargs: `${NOT_HERE}: the tokenizer has no further settings`,
  return_assistant_tokens_mask: 'the mask is always computed if the template defines it',
  sanitize_control_tokens:
    'it is not supported: control tokens in messages become tokens, as in transformers by default',
}

/** Further names that no option of a run may have, because the run decides them. */
const DECIDED_BY_RUNS: Readonly<Record<string, string>> = {
  add_generation_prompt: 'it is always true in a run, which requests a new reply',
  continue_final_message:
    'a run always requests a new reply. To continue a reply, render it in the template lab and give the result as "text" or "ids"',
  documents: 'put the documents into a message',
}

/** Returns why an option may not have this name and what to do; undefined if it may. `of` is 'run' for the options of a run. */
export function refusedOption(name: string, of: 'render' | 'run'): string | undefined {
  const why = Object.hasOwn(ARGUMENTS, name)
    ? ARGUMENTS[name]
    : of === 'run' && Object.hasOwn(DECIDED_BY_RUNS, name)
      ? DECIDED_BY_RUNS[name]
      : undefined
  return why && `${name} is an argument of apply_chat_template, not a variable of the template: ${why}`
}

/** Compiles a chat template. `specialTokens` are bos_token, eos_token and others, under their names in templates. Throws TemplateError. */
export function chatTemplate(text: string, specialTokens: Readonly<Record<string, string>>): CompiledTemplate {
  const template = withTemplateErrors(() => compileTemplate(text))
  const trace: CompiledTemplate['trace'] = (input, budget = DEFAULT_BUDGET) =>
    withTemplateErrors(() => {
      const messages = preparedMessages(input)
      const settings = settingsOf(input, budget)
      const field = continuedField(input)
      if (field === undefined) return template.trace(variables(input, messages, specialTokens), settings)
      const open = tagFinalMessage(messages, field, { template: text, addGenerationPrompt: input.addGenerationPrompt })
      return cutAtTag(template.trace(variables(input, open.messages, specialTokens), settings), open)
    })
  return {
    text,
    render: (input, budget = DEFAULT_BUDGET) =>
      continuedField(input) === undefined
        ? withTemplateErrors(() =>
            template.render(variables(input, preparedMessages(input), specialTokens), settingsOf(input, budget)),
          )
        : trace(input, budget).text,
    trace,
  }
}

const settingsOf = ({ clock }: RenderInput, budget: RenderLimits) => ({
  ...(clock && { clock }),
  ...(budget.now && { now: budget.now }),
  budget,
})

const continuedField = ({ continueFinalMessage: field }: RenderInput): string | undefined =>
  field === true ? 'content' : field || undefined

function preparedMessages({ messages }: RenderInput): readonly PyDict[] {
  if (messages.length === 0) throw new PyError('ValueError', EMPTY)
  return messages.map(prepareMessage)
}

/** Returns the variables as apply_chat_template names and prepares them; an option overrides a special token. */
function variables(
  { tools, addGenerationPrompt, options }: RenderInput,
  messages: readonly PyDict[],
  specialTokens: Readonly<Record<string, string>>,
): ReadonlyMap<string, Value> {
  const templateVariables = new Map<string, Value>([['documents', null]])
  for (const [name, value] of Object.entries(specialTokens)) templateVariables.set(name, value)
  for (const [name, value] of Object.entries(options))
    if (value !== undefined) templateVariables.set(name, fromJs(value))
  checkDocuments(templateVariables.get('documents') ?? null)
  templateVariables.set('messages', messages)
  templateVariables.set('tools', tools ? toolsValue(tools) : null)
  templateVariables.set('add_generation_prompt', addGenerationPrompt)
  return templateVariables
}

/** Converts tools once, because a run renders the same tools at every turn and a template cannot change them. */
const toolsValue = memoizeByIdentity((tools: readonly unknown[]) => fromJs(tools))

const EMPTY = 'Cannot apply chat template to an empty conversation. Provide at least one message.'

function checkDocuments(documents: Value): void {
  if (documents === null) return
  const list = documents instanceof PyTuple ? documents.items : documents
  const isIterable = Array.isArray(list) || typeof list === 'string' || list instanceof PyDict
  if (!isIterable) throw new PyError('TypeError', `'${typeName(documents)}' object is not iterable`)
  const entries: readonly Value[] = list instanceof PyDict ? [...list.entries()].map(([key]) => key) : [...list]
  if (entries.some((entry) => !(entry instanceof PyDict)))
    throw new PyError('TypeError', "Documents should be a list of dicts with 'title' and 'text' keys!")
}

/** Returns the message without members that are None, and with its reasoning under the two names that templates read. */
function prepareMessage(message: TemplateMessage | PyDict): PyDict {
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

function withTemplateErrors<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof LocatedError)
      throw new TemplateError(error.message, { className: error.className, line: error.line, cause: error })
    // The error was raised before the template began.
    if (error instanceof PyError) throw new TemplateError(error.message, { className: error.className, cause: error })
    throw error
  }
}
