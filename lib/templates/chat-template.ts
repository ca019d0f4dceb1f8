/** Chat templates: the port that everything renders through, and its engine (@huggingface/jinja, for now). */
import { Template } from '@huggingface/jinja'
import type { PyDict } from './jinja/values.ts'
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

/** `specialTokens`: bos_token, eos_token and the like, as templates name them. */
export function chatTemplate(text: string, specialTokens: Readonly<Record<string, string>>): CompiledTemplate {
  const compiled = guarded(() => new Template(text))
  const render = ({ messages, tools, addGenerationPrompt, options }: RenderInput): string =>
    guarded(() =>
      compiled.render({
        ...specialTokens,
        ...options,
        messages,
        tools: tools && tools.length > 0 ? tools : null,
        add_generation_prompt: addGenerationPrompt,
      }),
    )
  return {
    text,
    render,
    trace: (input) => {
      const rendered = render(input)
      return {
        text: rendered,
        pieces: [{ start: 0, end: rendered.length, line: 1, message: undefined, source: 'template' }],
        generation: [],
        hasGenerationTag: false,
      }
    },
  }
}

function guarded<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new TemplateError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
