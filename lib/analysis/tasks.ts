/** Lists every task of the inspector by name, so that the page's worker can run it. */
import { exportLosses } from './export-losses.ts'
import { findTask } from './find/find.ts'
import { driftTask, healthTask } from './health/tasks.ts'
import { offlineFile } from './offline-file.ts'

import { ratioReport } from './ratios/report.ts'
import { rawText } from './raw/raw-text.ts'
import { checkInputs } from './requests/check-inputs.ts'
import { trainerSheet } from './trainer/sheet.ts'
import { trainerArray, trainerFile } from './trainer/texts.ts'
import type { InspectTask } from './trajectory-task.ts'

/** Tasks of the inspector. Their keys are the names that the page sends to its worker. */
export const inspectTasks = {
  drift: driftTask,
  health: healthTask,
  exportLosses,
  find: findTask,
  checkInputs,
  offlineFile,
  rawText,
  ratioReport,
  trainerSheet,
  trainerFile,
  trainerArray,
}

type Tasks = typeof inspectTasks
/** Name of a task of the inspector. */
export type InspectTaskName = keyof Tasks
type AnyTask = InspectTask<never, unknown, unknown>
/** Request of the named task. */
export type InspectRequestOf<Name extends InspectTaskName> = Tasks[Name] extends AnyTask
  ? Parameters<Tasks[Name]>[0]
  : never
type ProgressOf<Name extends InspectTaskName> =
  Tasks[Name] extends InspectTask<never, infer Progress, unknown> ? Progress : never
/** Result of the named task. */
export type InspectResultOf<Name extends InspectTaskName> =
  Tasks[Name] extends InspectTask<never, unknown, infer Result> ? Result : never

/** Runs a task on the trajectory that the page shows, in a worker. Rejects with the signal's reason if it is cancelled. */
export type RunInspection = <Name extends InspectTaskName>(
  name: Name,
  request: InspectRequestOf<Name>,
  options: {
    /** Names of tokenizers that the server loads for the task. Omitted: none. */
    readonly tokenizers?: readonly string[]
    readonly signal: AbortSignal
    readonly onProgress?: (progress: ProgressOf<Name>) => void
  },
) => Promise<InspectResultOf<Name>>
