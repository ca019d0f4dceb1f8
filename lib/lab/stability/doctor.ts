/** Is render(turn n) + what the model wrote + new messages = render(turn n+1), in ids? */
import type { Trajectory } from '#lib/core/trajectory.ts'
import type { LabInput, LabTokenizer } from '../task.ts'
import { type DoctorReport, REPORT_VERSION } from './report.ts'

export interface DoctorInput extends Pick<LabInput, 'template'>, Partial<Pick<LabInput, 'tools' | 'options'>> {
  /** Its boundaries are checked with the ids that the model really read and wrote. */
  readonly trajectory?: Trajectory | undefined
}

/** The whole report at once. */
export function doctor(input: DoctorInput, tokenizer: LabTokenizer): DoctorReport {
  const steps = diagnosis(input, tokenizer)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Yields the report as far as it is known. */
export function* diagnosis(_input: DoctorInput, { tokenizer }: LabTokenizer): Generator<DoctorReport, DoctorReport> {
  const report: DoctorReport = {
    version: REPORT_VERSION,
    tokenizer: { name: tokenizer.name, fingerprint: tokenizer.fingerprint },
    failure: undefined,
    summary: { stable: 0, unstable: 0, notApplicable: 0, errors: 0 },
    facts: undefined,
    cells: [],
    recipe: { kind: 'impossible', failure: { where: 'template', className: 'TemplateError', message: 'not checked' } },
  }
  yield report
  return report
}
