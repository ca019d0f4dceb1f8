/** The subject of a check: a template with all that it is rendered with. */
import {
  type CompiledTemplate,
  type RenderInput,
  TemplateError,
  type TemplateMessage,
} from '#lib/templates/chat-template.ts'
import type { Rendering, RenderLimits } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { type InputError, templateFailure } from '../document/input.ts'

/** A template with its tokenizer, tools and options. */
export interface Subject {
  readonly template: CompiledTemplate
  readonly tokenizer: Tokenizer
  readonly tools: RenderInput['tools']
  readonly options: RenderInput['options']
  /** Time that strftime_now formats. Omitted: CHECK_TIME. */
  readonly clock?: RenderInput['clock']
}

/** Time of all renders of a check, so that no verdict depends on when it is made. Noon is far from the next date. */
const CHECK_TIME = new Date(2026, 0, 1, 12)

/** Returns the subject an hour, a minute and a second later, because time passes until the next turn. */
export const later = (subject: Subject): Subject => ({
  ...subject,
  clock: () => new Date(CHECK_TIME.getTime() + 3_661_000),
})

/** Limits of one render. Scripted conversations are short: only a template that does not end needs more. */
const BUDGET: RenderLimits = { steps: 3_000_000, size: 8_000_000, milliseconds: 1_000 }

/** Thrown by the first render beyond its budget. It ends the whole check, because hundreds of such renders would take hours. */
export class RenderBudgetExceeded extends Error {
  override readonly name = 'RenderBudgetExceeded'
  readonly failure: InputError
  constructor(error: TemplateError) {
    super(error.message, { cause: error })
    this.failure = templateFailure(error)
  }
}

/** Returns the same template with the limits of a check. Its renders throw RenderBudgetExceeded beyond them. */
export function withBudget(template: CompiledTemplate): CompiledTemplate {
  const trace = (input: RenderInput): Rendering => {
    try {
      return template.trace({ clock: () => CHECK_TIME, ...input }, BUDGET)
    } catch (error) {
      throw error instanceof TemplateError && error.className === 'BudgetError'
        ? new RenderBudgetExceeded(error)
        : error
    }
  }
  return { text: template.text, trace, render: (input) => trace(input).text }
}

/** A render, or the error of the template. */
export type RenderResult =
  | { readonly ok: true; readonly rendering: Rendering }
  /** `refused`: the template itself raised the error (raise_exception). */
  | { readonly ok: false; readonly refused: boolean; readonly error: InputError }

/** Renders messages with the source map, or returns the error that the template raises. */
export function renderTurn(
  { template, tools, options, clock }: Pick<Subject, 'template' | 'tools' | 'options' | 'clock'>,
  messages: readonly TemplateMessage[],
  addGenerationPrompt: boolean,
): RenderResult {
  try {
    return {
      ok: true,
      rendering: template.trace({ messages, tools, addGenerationPrompt, options, ...(clock && { clock }) }),
    }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { ok: false, refused: error.className === 'TemplateError', error: templateFailure(error) }
  }
}

/** Returns only the text; undefined if the template raises an error. */
export function renderedText(
  subject: Pick<Subject, 'template' | 'tools' | 'options'>,
  messages: readonly TemplateMessage[],
  addGenerationPrompt: boolean,
): string | undefined {
  const result = renderTurn(subject, messages, addGenerationPrompt)
  return result.ok ? result.rendering.text : undefined
}

/** Returns the same tokenizer with a memory of what it encoded, because the cells of a matrix share most of their texts. */
export function memoizeTokenizer(tokenizer: Tokenizer): Tokenizer {
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
