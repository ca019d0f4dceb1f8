/** What every tab of the template lab gets: the document, the tokenizer's state, the worker, and what it may do. */

import type { TemplateCheck } from '#lib/api/template-check.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { Revision } from '#lib/templates/document/document.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Names that tabs keep in the address; each tab may add its own. Not `token`: that is the launch token’s. */
export const LAB_VIEW_NAMES = ['colour', 'at', 'cell', 'compares', 'against', 'tokenizer2', 'turns'] as const
export type LabViewName = (typeof LAB_VIEW_NAMES)[number]
export type LabView = { readonly [name in LabViewName]?: string | undefined }

export interface LabTabProps {
  readonly input: LabInput
  /** Name of the chosen tokenizer, as the server's loader takes it. */
  readonly tokenizer: string
  /** Name of the chosen server; '' where none is known. */
  readonly server: string
  /** The trajectory that the lab was opened with, if any: its ids are the truth. */
  readonly trajectory: TrajectoryView | undefined
  /** Runs a task of lib/templates/tasks/tasks.ts in the worker. */
  readonly run: RunTask
  /** Line of the template that the cursor stands on, from 1; undefined where it stands in none. */
  readonly cursorLine: number | undefined
  /** Templates that are kept, to be compared with the one that is shown. */
  readonly revisions: readonly Revision[]
  /** Number of the revision that is shown. */
  readonly shown: number
  /** What the address says of the tab: a copied link shows the same. */
  readonly view: LabView
  /** Names with undefined leave the address. */
  readonly onView: (change: { readonly [name in LabViewName]?: string | undefined }) => void
  /** Asks a renderer that is not ours about the document. Rejects with an error that says why, or the signal's reason. */
  readonly onCheck: (judge: TemplateCheck['judge'], signal: AbortSignal) => Promise<TemplateCheck>
  /** Shows a line of the template in the editor, and marks it. `revision`: number of another one, which is then shown. */
  readonly onLine: (line: number, revision?: number) => void
  /** A changed template, as a new revision that says why. */
  readonly onTemplate: (template: string, why: string) => void
  /** Changes the conversation (a counterexample is opened in the editor). */
  readonly onMessages: (messages: string, why: string) => void
}
