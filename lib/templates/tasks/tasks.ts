/** All tasks of the template lab by name, for the page's worker, the routes and the command line. */

import type { LabTask, LateTask } from '#lib/tasks/task.ts'
import { check } from '../document/check.ts'
import { masks } from '../loss-mask/task.ts'
import { counterexample, stability, stabilityFix, stabilityRepair } from '../prefix-preservation/task.ts'
import { compareRevisions } from '../preview/compare.ts'
import { prefixMask, preview } from '../preview/preview.ts'
import { parserFit, parsing } from '../tool-parsing/tasks.ts'

/** The tasks, or loaders of those that load their code late. */
export const tasks = {
  check,
  compare: compareRevisions,
  counterexample,
  masks,
  parserFit,
  parsing,
  prefixMask,
  preview,
  stability,
  stabilityFix,
  stabilityRepair,
}

type AnyTask = LabTask<never, unknown, unknown>
type Tasks = typeof tasks
/** Name of a task. */
export type TaskName = keyof Tasks
type TaskOf<Name extends TaskName> = Tasks[Name] extends LateTask<infer Task> ? Task : Tasks[Name]
/** Request of a task. */
export type TemplateRequestOf<Name extends TaskName> =
  TaskOf<Name> extends AnyTask ? Parameters<TaskOf<Name>>[0] : never
/** Progress that a task yields. */
export type ProgressOf<Name extends TaskName> =
  TaskOf<Name> extends LabTask<never, infer Progress, unknown> ? Progress : never
/** Result of a task. */
export type TemplateResultOf<Name extends TaskName> =
  TaskOf<Name> extends LabTask<never, unknown, infer Result> ? Result : never

/** Runs a task without blocking the caller. Rejects with the signal's reason when it is aborted. */
export type RunTask = <Name extends TaskName>(
  name: Name,
  request: TemplateRequestOf<Name>,
  options: {
    /** Names as the server's loader takes them; the first tokenizer is the chosen one. */
    readonly tokenizers: readonly string[]
    readonly signal: AbortSignal
    readonly onProgress?: (progress: ProgressOf<Name>) => void
  },
) => Promise<TemplateResultOf<Name>>
