/** What is checked: a template with what it is rendered with. */
import {
  type CompiledTemplate,
  type RenderInput,
  TemplateError,
  type TemplateMessage,
} from '#lib/templates/chat-template.ts'
import type { Budget, Rendering } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { type InputError, templateFailure } from '../document/input.ts'

export interface Subject {
  readonly template: CompiledTemplate
  readonly tokenizer: Tokenizer
  readonly tools: RenderInput['tools']
  readonly options: RenderInput['options']
}

/** A scripted conversation is short: a render that needs more than this is of a template that does not end. */
const BUDGET: Budget = { steps: 3_000_000, size: 8_000_000, milliseconds: 1_000 }

/** The first render that is beyond its budget ends all: hundreds of them would take hours. */
export class RanAway extends Error {
  override readonly name = 'RanAway'
  readonly failure: InputError
  constructor(error: TemplateError) {
    super(error.message, { cause: error })
    this.failure = templateFailure(error)
  }
}

/** The same template with a budget of its own. Its renders throw RanAway beyond that. */
export function bounded(template: CompiledTemplate): CompiledTemplate {
  const trace = (input: RenderInput): Rendering => {
    try {
      return template.trace(input, BUDGET)
    } catch (error) {
      throw error instanceof TemplateError && error.className === 'BudgetError' ? new RanAway(error) : error
    }
  }
  return { text: template.text, trace, render: (input) => trace(input).text }
}

export type Rendered =
  | { readonly ok: true; readonly rendering: Rendering }
  /** refused: the template itself says that it does not take this (raise_exception). */
  | { readonly ok: false; readonly refused: boolean; readonly error: InputError }

export function rendered(
  { template, tools, options }: Pick<Subject, 'template' | 'tools' | 'options'>,
  messages: readonly TemplateMessage[],
  addGenerationPrompt: boolean,
): Rendered {
  try {
    return { ok: true, rendering: template.trace({ messages, tools, addGenerationPrompt, options }) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { ok: false, refused: error.className === 'TemplateError', error: templateFailure(error) }
  }
}

/** The text alone; undefined where the template raises. */
export function renderedText(
  subject: Pick<Subject, 'template' | 'tools' | 'options'>,
  messages: readonly TemplateMessage[],
  addGenerationPrompt: boolean,
): string | undefined {
  const result = rendered(subject, messages, addGenerationPrompt)
  return result.ok ? result.rendering.text : undefined
}

/** The same tokenizer, which remembers what it encoded: the cells of a matrix share most of their texts. */
export function remembering(tokenizer: Tokenizer): Tokenizer {
  const known = new Map<string, number[]>()
  return {
    ...tokenizer,
    encode: (text) => {
      const ids = known.get(text) ?? tokenizer.encode(text)
      known.set(text, ids)
      return ids
    },
  }
}
