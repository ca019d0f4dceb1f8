/** Props of every tab of the template lab: the document, the tokenizer's name, the worker and the callbacks. */

import type { TemplateCheck } from '#lib/api/template-check.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { TemplateRevision } from '#lib/templates/document/document.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Names that tabs may store in the address. `token` is not among them, because it is the name of the launch token. */
export const LAB_VIEW_NAMES = ['colour', 'at', 'cell', 'compares', 'against', 'tokenizer2', 'turns'] as const
/** A name that tabs may store in the address. */
export type LabViewName = (typeof LAB_VIEW_NAMES)[number]
/** Values that a tab stores in the address. */
export type LabView = { readonly [name in LabViewName]?: string | undefined }

/** Props of a tab. */
export interface LabTabProps {
  readonly input: LabInput
  /** Name of the chosen tokenizer, as the server's loader accepts it. */
  readonly tokenizer: string
  /** Name of the chosen server; '' if unknown. */
  readonly server: string
  /** Why the chosen server cannot be used now; undefined if it can, or if that is not known yet. */
  readonly serverProblem: string | undefined
  /** The trajectory with which the lab was opened, if any. Its recorded ids are the reference. */
  readonly trajectory: TrajectoryView | undefined
  /** Runs a task of lib/templates/tasks/tasks.ts in the worker. */
  readonly run: RunTask
  /** Line of the template with the cursor, from 1; undefined if the cursor is elsewhere. */
  readonly cursorLine: number | undefined
  /** Revisions of the template, which can be compared with the shown one. */
  readonly revisions: readonly TemplateRevision[]
  /** Number of the shown revision. */
  readonly shown: number
  /** Values of the tab in the address, so that a copied link shows the same. */
  readonly view: LabView
  /** Changes values in the address; undefined removes a name. */
  readonly onView: (change: { readonly [name in LabViewName]?: string | undefined }) => void
  /** Checks the document with another renderer. Rejects with an error that gives the reason, or with the signal's reason. */
  readonly onCheck: (renderer: TemplateCheck['renderer'], signal: AbortSignal) => Promise<TemplateCheck>
  /** Shows and marks a line of the template in the editor. `revision` is the number of another revision, which is then shown. */
  readonly onLine: (line: number, revision?: number) => void
  /** Makes a changed template a new revision with a reason. */
  readonly onTemplate: (template: string, why: string) => void
  /** Replaces the conversation, for example by a counterexample. */
  readonly onMessages: (messages: string, why: string) => void
}
