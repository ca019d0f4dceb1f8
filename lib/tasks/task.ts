/**
 * What the template lab computes, as tasks: pure functions from plain data to plain data, run by the page in a worker, by
 * the routes on the server and by the command line. A task that takes long yields its progress; whoever runs it may stop
 * between two yields.
 */

import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'

/** The lab's document. Texts as typed: JSON is read by the engine, so that 1.0 stays 1.0. */
export interface LabInput {
  readonly template: string
  /** JSON list of messages. */
  readonly messages: string
  /** JSON list of tools `{type: "function", function: {…}}`; empty: none. */
  readonly tools: string
  /** JSON object of template variables, add_generation_prompt among them. */
  readonly options: string
}

/** A tokenizer and how templates are compiled for it (its special tokens are variables of the template). */
export interface LabTokenizer {
  readonly tokenizer: Tokenizer
  /** `use` once: an edit that is only tried, which need not be kept compiled. Throws TemplateError. */
  readonly compile: (template: string, use?: 'once') => CompiledTemplate
}

/**
 * `Progress` is told any number of times, `Result` once. Wrong input (bad JSON, template errors) is part of the result. The
 * first tokenizer is the chosen one; comparisons take more.
 */
export type LabTask<Request, Progress, Result> = (
  request: Request,
  tokenizers: readonly LabTokenizer[],
) => Generator<Progress, Result>

/** A task at one go, its progress unheard. */
export function resultOf<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** A task whose module is loaded when it is first wanted: it brings much along. */
export interface LateTask<Task> {
  readonly load: () => Promise<Task>
}
