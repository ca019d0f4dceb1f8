/** Every task of the inspector by its name: what the page's worker can run. */
import { exportLosses } from './export-losses.ts'
import { findTask } from './find/find.ts'
import { driftTask, healthTask } from './health/tasks.ts'
import { offlineFile } from './offline-file.ts'
import { rawText } from './raw/raw-text.ts'
import { checkInputs } from './requests/check-inputs.ts'
import { trainerSheet } from './trainer/sheet.ts'
import { trainerArray, trainerFile } from './trainer/texts.ts'
import type { InspectTask } from './trajectory-task.ts'

export const inspectTasks = {
  drift: driftTask,
  health: healthTask,
  exportLosses,
  find: findTask,
  checkInputs,
  offlineFile,
  rawText,
  trainerSheet,
  trainerFile,
  trainerArray,
}

type Tasks = typeof inspectTasks
export type InspectTaskName = keyof Tasks
type AnyTask = InspectTask<never, unknown, unknown>
export type RequestOf<Name extends InspectTaskName> = Tasks[Name] extends AnyTask ? Parameters<Tasks[Name]>[0] : never
type ProgressOf<Name extends InspectTaskName> =
  Tasks[Name] extends InspectTask<never, infer Progress, unknown> ? Progress : never
export type ResultOf<Name extends InspectTaskName> =
  Tasks[Name] extends InspectTask<never, unknown, infer Result> ? Result : never

/** Runs a task on the trajectory that the page shows, where it disturbs nobody. Rejects with the signal's reason when it is given up. */
export type RunInspection = <Name extends InspectTaskName>(
  name: Name,
  request: RequestOf<Name>,
  options: {
    /** Names as the server's loader takes them. Omitted: none. */
    readonly tokenizers?: readonly string[]
    readonly signal: AbortSignal
    readonly onProgress?: (progress: ProgressOf<Name>) => void
  },
) => Promise<ResultOf<Name>>
