/** The doctor as tasks of the lab. */
import type { LabTask } from '../task.ts'
import { type DoctorInput, diagnosis } from './doctor.ts'
import type { DoctorReport } from './report.ts'

/** The whole matrix; progress is the report so far. */
export const stability: LabTask<DoctorInput, DoctorReport, DoctorReport> = (input, [chosen]) => {
  if (!chosen) throw new Error('the doctor needs a tokenizer')
  return diagnosis(input, chosen)
}
