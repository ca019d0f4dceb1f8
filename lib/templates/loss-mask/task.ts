/** The mask doctor as a task of the template lab. */
import type { LabTask } from '#lib/tasks/task.ts'
import { type MaskInput, type MaskProgress, maskDiagnosis } from './doctor.ts'
import type { MaskReport } from './report.ts'

/** Runs the mask doctor. Throws if no tokenizer is given. */
export const masks: LabTask<MaskInput, MaskProgress, MaskReport> = (input, [chosen]) => {
  if (!chosen) throw new Error('the mask doctor needs a tokenizer')
  return maskDiagnosis(input, chosen)
}
