/**
 * Defines the computations of the template lab as tasks: pure functions from plain data to plain data that run in the page's
 * worker, on the server and on the command line. A long task yields its progress, and its runner may stop it between
 * two yields.
 */

import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'

/** The lab's document, with texts as typed: the engine parses the JSON, so 1.0 stays 1.0. */
export interface LabInput {
  readonly template: string
  /** JSON list of messages. */
  readonly messages: string
  /** JSON list of tools `{type: "function", function: {…}}`; empty for none. */
  readonly tools: string
  /** JSON object of template variables, including add_generation_prompt. */
  readonly options: string
}

/** A tokenizer with its template compiler, because its special tokens are variables of the template. */
export interface LabTokenizer {
  readonly tokenizer: Tokenizer
  /** `use` is 'once' for a trial edit whose result need not be cached. Throws TemplateError. */
  readonly compile: (template: string, use?: 'once') => CompiledTemplate
}

/**
 * Yields `Progress` any number of times and returns `Result`. Wrong input (bad JSON, template errors) is part of the
 * result. The first tokenizer is the selected one; comparisons take more.
 */
export type LabTask<Request, Progress, Result> = (
  request: Request,
  tokenizers: readonly LabTokenizer[],
) => Generator<Progress, Result>

/** Runs a task to its end and ignores its progress. */
export function runToEnd<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** A task whose large module is loaded on first use. */
export interface LateTask<Task> {
  readonly load: () => Promise<Task>
}
