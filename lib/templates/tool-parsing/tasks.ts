/** The parser lab's tasks: one completion seen by several parsers, and which parser fits. */
import { parserNamed } from '#lib/parsers/registry.ts'
import type { LabInput, LabTask, LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { type InputError, orTemplateFailure } from '../document/input.ts'
import { analyse, type Lane } from './analysis.ts'
import { type CompletionFit, completionFit } from './completion-fit.ts'
import { type FitReport, fitReport } from './fit.ts'
import { type Completion, type ReRendering, reRender } from './rerender.ts'
import { templateFit } from './template-fit.ts'
import { toolsIn } from './tools.ts'

export interface ParsingRequest {
  readonly completion: Completion
  /** Names; those that there are not are left out. */
  readonly parsers: readonly string[]
  /** Its tools type the arguments; its template writes the calls again. */
  readonly input: LabInput
}

export interface ParsingResult {
  readonly lanes: readonly ParsingLane[]
}

interface ParsingLane extends Lane {
  /** Undefined where there is no tokenizer to compare ids with. */
  readonly reRendering: ReRendering | undefined
}

export const parsing: LabTask<ParsingRequest, never, ParsingResult> = function* (
  { completion, parsers, input },
  [tokenizer],
) {
  const tools = toolsIn(input.tools)
  const template = tokenizer && compiled(input.template, tokenizer)
  return {
    lanes: parsers.flatMap((name): ParsingLane[] => {
      const parser = parserNamed(name)
      if (!parser) return []
      const lane = analyse(completion.text, parser, tools)
      if (!tokenizer || !template) return [{ ...lane, reRendering: undefined }]
      if (!template.ok) return [{ ...lane, reRendering: { kind: 'failed', error: template.error } }]
      return [
        {
          ...lane,
          reRendering: reRender(completion, lane, {
            parser,
            tools,
            input,
            template: template.value,
            tokenizer: tokenizer.tokenizer,
          }),
        },
      ]
    }),
  }
}

export interface FitRequest {
  /** The template to ask about; its tools are those of the completions. */
  readonly input: LabInput
  /** Empty: the template alone is asked about. */
  readonly completions: readonly string[]
  /** False: the completions alone. */
  readonly asksTemplate: boolean
}

export interface FitProgress {
  readonly done: number
  readonly total: number
}

export type FitResult =
  | { readonly kind: 'report'; readonly report: FitReport }
  | { readonly kind: 'failed'; readonly error: InputError }

export const parserFit: LabTask<FitRequest, FitProgress, FitResult> = function* (
  { input, completions, asksTemplate },
  [tokenizer],
) {
  const template = asksTemplate ? compiled(input.template, tokenizer) : undefined
  if (template && !template.ok) return { kind: 'failed', error: template.error }
  const ofTemplate = template && templateFit(template.value, input.options, tokenizer?.tokenizer.addedTokens ?? [])
  let ofCompletions: CompletionFit | undefined
  if (completions.length > 0) {
    const reading = completionFit(completions, toolsIn(input.tools))
    let step = reading.next()
    for (; !step.done; step = reading.next()) yield { done: step.value, total: completions.length }
    ofCompletions = step.value
  }
  return { kind: 'report', report: fitReport(ofTemplate, ofCompletions) }
}

/** Without a tokenizer there are no special tokens to give to the template. */
const compiled = (text: string, tokenizer: LabTokenizer | undefined) =>
  orTemplateFailure(() => (tokenizer ? tokenizer.compile(text) : chatTemplate(text, {})))
