/** What every tab of the template lab gets: the document, the tokenizer's state, the worker, and what it may do. */

import type { Trajectory } from '#lib/core/trajectory.ts'
import type { LabInput } from '#lib/lab/task.ts'
import type { RunTask } from '#lib/lab/tasks.ts'

export interface LabTabProps {
  readonly input: LabInput
  /** Name of the chosen tokenizer, as the server's loader takes it. */
  readonly tokenizer: string
  /** The trajectory that the lab was opened with, if any: its ids are the truth. */
  readonly trajectory: Trajectory | undefined
  /** Runs a task of lib/lab/tasks.ts in the worker. */
  readonly run: RunTask
  /** Shows a line of the template in the editor. */
  readonly onLine: (line: number) => void
  /** A changed template, as a new revision that says why. */
  readonly onTemplate: (template: string, why: string) => void
  /** Changes the conversation (a counterexample is opened in the editor). */
  readonly onMessages: (messages: string, why: string) => void
}
