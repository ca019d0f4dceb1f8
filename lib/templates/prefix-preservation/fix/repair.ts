/** Cures the unstable cells of a template one after the other, as far as fixes are found. */

import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { InputError } from '#lib/templates/document/input.ts'
import { unifiedDiff } from '../diff.ts'
import { type DoctorInput, diagnoseTemplate } from '../doctor.ts'
import type { Cell, Fix } from '../report.ts'
import { fixFor } from './fix.ts'

/** The template to repair. */
export interface RepairRequest {
  readonly input: DoctorInput
  /** Id of the only cell to cure; undefined: all cells. */
  readonly cell?: string | undefined
}

/** A fix, and the cell for which it was searched. */
export type CellFix = Omit<Fix, 'template'> & { readonly cell: string }

/** A template with fixes. */
export interface RepairedTemplate {
  /** Template with all applied fixes; the original if there is none. */
  readonly template: string
  /** Hunks as `diff -u` writes them, without file headers. */
  readonly diff: string
  readonly applied: readonly CellFix[]
  /** Ids of the cells that are unstable or raise an error with the resulting template. */
  readonly unstable: readonly string[]
}

/** Result of a repair. */
export type RepairResult =
  | { readonly kind: 'repaired'; readonly repair: RepairedTemplate }
  | { readonly kind: 'failed'; readonly failure: InputError }

/** The state of a repair that runs. */
export interface RepairProgress {
  /** Number of changes tried for the current cell. */
  readonly tried: number
  /** undefined until the cells are known. */
  readonly soFar: RepairedTemplate | undefined
}

/** Most causes for which fixes are searched in one template. */
const MOST_CAUSES = 16

/** Repairs a template; yields progress while it checks and while it searches. */
export function* repair(
  { input, cell }: RepairRequest,
  tokenizer: LabTokenizer,
): Generator<RepairProgress, RepairResult> {
  const applied: CellFix[] = []
  const source = { template: input.template, tools: input.tools ?? '', options: input.options ?? '' }
  const tried = new Set<string>()
  let template = input.template
  let soFar: RepairedTemplate | undefined
  for (;;) {
    const checking = diagnoseTemplate({ ...source, template }, tokenizer)
    let checked = checking.next()
    for (; !checked.done; checked = checking.next()) yield { tried: 0, soFar }
    const { failure, cells } = checked.value
    if (failure) return { kind: 'failed', failure }
    const unstable = cells.filter(({ verdict }) => verdict.kind === 'unstable' || verdict.kind === 'error')
    soFar = {
      template,
      diff: unifiedDiff(input.template, template),
      applied: [...applied],
      unstable: unstable.map(({ id }) => id),
    }
    const next = unstable.find(
      (each) =>
        (cell === undefined || each.id === cell) && causeOf(each) !== undefined && !tried.has(causeOf(each) ?? ''),
    )
    if (!next || tried.size >= MOST_CAUSES) return { kind: 'repaired', repair: soFar }
    tried.add(causeOf(next) ?? '')
    const fixing = fixFor({ input: { ...source, template }, cell: next.id }, tokenizer)
    let step = fixing.next()
    for (; !step.done; step = fixing.next()) yield { tried: step.value.tried, soFar }
    if (!step.value.fix) continue
    const { template: changed, ...fix } = step.value.fix
    template = changed
    applied.push({ ...fix, cell: next.id })
  }
}

/** Returns a key for the cause. Cells with the same cause at the same lines have the same fixes and are tried once. */
function causeOf({ verdict }: Cell): string | undefined {
  if (verdict.kind !== 'unstable') return undefined
  const { cause, line, expectedLine } = verdict.finding
  return `${cause.kind} ${line} ${expectedLine}`
}
