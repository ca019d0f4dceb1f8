/** The mask doctor as a task of the lab. */
import type { LabTask } from '#lib/tasks/task.ts'
import { type MaskInput, type MaskProgress, maskDiagnosis } from './doctor.ts'
import type { MaskReport } from './report.ts'

export const masks: LabTask<MaskInput, MaskProgress, MaskReport> = (input, [chosen]) => {
  if (!chosen) throw new Error('the mask doctor needs a tokenizer')
  return maskDiagnosis(input, chosen)
}
