/** Tasks of the parser lab: one completion read by several parsers, and which parser fits. */
import { parserNamed } from '#lib/parsers/registry.ts'
import type { LabInput, LabTask, LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { type InputError, orTemplateFailure } from '../document/input.ts'
import { analyse, type ParserReading } from './analysis.ts'
import { type CompletionFit, completionFit } from './completion-fit.ts'
import { type FitReport, fitReport } from './fit.ts'
import { type ModelCompletion, type ReRendering, reRender } from './rerender.ts'
import { templateFit } from './template-fit.ts'
import { toolsIn } from './tools.ts'

/** A completion for several parsers. */
export interface ParsingRequest {
  readonly completion: ModelCompletion
  /** Names of parsers; unknown names are left out. */
  readonly parsers: readonly string[]
  /** Its tools give types to arguments; its template writes the calls again. */
  readonly input: LabInput
}

/** What each parser reads. */
export interface ParsingResult {
  readonly lanes: readonly ParsingLane[]
}

interface ParsingLane extends ParserReading {
  /** undefined if there is no tokenizer whose ids can be compared. */
  readonly reRendering: ReRendering | undefined
}

/** Analyzes a completion with several parsers, and renders its calls again. */
export const parsing: LabTask<ParsingRequest, never, ParsingResult> = function* (
  { completion, parsers, input },
  [tokenizer],
) {
  const tools = toolsIn(input.tools)
  const template = tokenizer && compileTemplate(input.template, tokenizer)
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

/** What the parsers are to fit. */
export interface FitRequest {
  /** The template to check; its tools are those of the completions. */
  readonly input: LabInput
  /** Empty: only the template is checked. */
  readonly completions: readonly string[]
  /** false: only the completions are checked. */
  readonly asksTemplate: boolean
}

/** Completions that are read, of all. */
export interface FitProgress {
  readonly done: number
  readonly total: number
}

/** The report, or why the template cannot be compiled. */
export type FitResult =
  | { readonly kind: 'report'; readonly report: FitReport }
  | { readonly kind: 'failed'; readonly error: InputError }

/** Ranks the parsers for a template, for completions, or for both. */
export const parserFit: LabTask<FitRequest, FitProgress, FitResult> = function* (
  { input, completions, asksTemplate },
  [tokenizer],
) {
  const template = asksTemplate ? compileTemplate(input.template, tokenizer) : undefined
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

/** Compiles the template. Without a tokenizer there are no special tokens to give to it. */
const compileTemplate = (text: string, tokenizer: LabTokenizer | undefined) =>
  orTemplateFailure(() => (tokenizer ? tokenizer.compile(text) : chatTemplate(text, {})))
