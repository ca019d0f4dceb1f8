/** Tasks of the template lab that run the doctor. */
import type { LabTask, LabTokenizer, LateTask } from '#lib/tasks/task.ts'
import { type DoctorInput, diagnoseTemplate } from './doctor.ts'
import type { CellFixRequest, FixProgress, FixResult } from './fix/fix.ts'
import type { RepairProgress, RepairRequest, RepairResult } from './fix/repair.ts'
import type { DoctorReport } from './report.ts'
import type { CounterexampleSearch, SearchProgress, SearchResult } from './search.ts'

/** Checks the whole matrix; progress is the report so far. */
export const stability: LabTask<DoctorInput, DoctorReport, DoctorReport> = (input, tokenizers) =>
  diagnoseTemplate(input, firstTokenizer(tokenizers))

/** Searches for a change to the template that cures one cell. The generator of conversations is loaded with it. */
export const stabilityFix: LateTask<LabTask<CellFixRequest, FixProgress, FixResult>> = {
  load: async () => {
    const { fixFor } = await import('./fix/fix.ts')
    return (request, tokenizers) => fixFor(request, firstTokenizer(tokenizers))
  },
}

/** Cures unstable cells, as far as fixes are found. */
export const stabilityRepair: LateTask<LabTask<RepairRequest, RepairProgress, RepairResult>> = {
  load: async () => {
    const { repair } = await import('./fix/repair.ts')
    return (request, tokenizers) => repair(request, firstTokenizer(tokenizers))
  },
}

/** Searches for the smallest conversation that breaks. The generator of conversations is loaded with it. */
export const counterexample: LateTask<LabTask<CounterexampleSearch, SearchProgress, SearchResult>> = {
  load: async () => {
    const { searchCounterexample } = await import('./search.ts')
    return (request, tokenizers) => searchCounterexample(request, firstTokenizer(tokenizers))
  },
}

function firstTokenizer([first]: readonly LabTokenizer[]): LabTokenizer {
  if (!first) throw new Error('the doctor needs a tokenizer')
  return first
}
