/** Searches for a change to the template that makes a cell stable, and checks it before it is offered. */

import type { LabTokenizer } from '#lib/tasks/task.ts'
import { orTemplateFailure } from '#lib/templates/document/input.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unifiedDiff } from '../diff.ts'
import { type DoctorInput, readTemplateUnderTest } from '../doctor.ts'
import { templateFacts } from '../facts.ts'
import {
  type CheckedCell,
  cellId,
  checkedCell,
  type MatrixSettings,
  placesOf,
  type ScriptCell,
  trainedTexts,
} from '../matrix.ts'
import type { Fix, TemplateVerdict } from '../report.ts'
import { RenderBudgetExceeded, type Subject, withBudget } from '../subject.ts'
import { applyEdits, countEditedLetters, type Edit, editsFor } from './edits.ts'
import { fixChecker } from './fix-check.ts'

/** The cell to cure, in the texts of the template lab. */
export interface CellFixRequest {
  readonly input: DoctorInput
  /** Id of the cell. */
  readonly cell: string
}

/** The state of a search for a fix. */
export interface FixProgress {
  /** Number of changes tried so far. */
  readonly tried: number
}

/** Result of a search for a fix. */
export interface FixResult extends FixProgress {
  /** undefined if none of the changes that were tried is sound. */
  readonly fix: Fix | undefined
}

/** Most changes that are tried. */
const MOST_TRIED = 1500
/** Changes between two reports of progress. */
const PROGRESS = 25

/** Searches for a fix of one cell; yields progress every PROGRESS changes. */
export function* fixFor(request: CellFixRequest, tokenizer: LabTokenizer): Generator<FixProgress, FixResult> {
  try {
    return yield* treatment(request, tokenizer)
  } catch (error) {
    if (error instanceof RenderBudgetExceeded) return { fix: undefined, tried: 0 }
    throw error
  }
}

function* treatment({ input, cell: id }: CellFixRequest, tokenizer: LabTokenizer): Generator<FixProgress, FixResult> {
  const read = readTemplateUnderTest(input, tokenizer)
  if (!read.ok) return { fix: undefined, tried: 0 }
  const { subject, settings } = read.value
  const places = placesOf(settings.facts, subject)
  const place = places.find((candidate) => cellId(candidate) === id)
  const target = place && checkedCell(place, subject, settings)
  if (!place || target?.cell.verdict.kind !== 'unstable') return { fix: undefined, tried: 0 }
  const matrix = (changed: Subject) => places.map((each) => checkedCell(each, changed, settings))
  const before = matrix(subject)
  const trained = trainedTexts(subject, settings.facts)
  const source = subject.template.text
  const checker = fixChecker(subject, settings, place.options)
  let tried = 0
  for (const edits of attempts(source, editsFor(source, target.cell.verdict.finding, settings.facts))) {
    if (tried >= MOST_TRIED) break
    if (++tried % PROGRESS === 0) yield { tried }
    const template = applyEdits(source, edits)
    const changed = changedSubject(template, subject, tokenizer.compile)
    if (!changed || checkedCell(place, changed, settings).cell.verdict.kind !== 'stable') continue
    // What the model is trained to read first and to write must remain unchanged.
    if (trainedTexts(changed, templateFacts(changed)) !== trained) continue
    if (!checker.keepsReplies(changed)) continue
    const after = matrix(changed)
    if (after.some((cell, index) => isWorse(elementAt(before, index), cell))) continue
    const cured = after.flatMap(({ cell }, index) =>
      cell.verdict.kind === 'stable' && before[index]?.cell.verdict.kind === 'unstable' ? [cell.id] : [],
    )
    if (!isCuredBySelf(place, changed, settings)) continue
    const searching = checker.search(changed)
    let step = searching.next()
    for (; !step.done; step = searching.next()) yield { tried }
    if (!step.value) continue
    const why = edits.map((edit) => edit.why).join(' ')
    const costs = checker.costs(changed)
    return { tried, fix: { template, why, diff: unifiedDiff(source, template), cured, costs, search: step.value } }
  }
  return { fix: undefined, tried }
}

/** Yields one change at a time, smallest first, and then pairs of conditions. */
function* attempts(source: string, edits: readonly Edit[]): Generator<readonly Edit[]> {
  for (const edit of edits) yield [edit]
  const combining = edits.filter(({ combines }) => combines)
  const pairs = combining.flatMap((first, index) =>
    combining
      .slice(index + 1)
      .filter((second) => second.end <= first.start || first.end <= second.start)
      .map((second) => ({
        pair: [first, second] as const,
        size: countEditedLetters(source, first) + countEditedLetters(source, second),
      })),
  )
  // Pairs of conditions that both become `true` come first, whatever their length: with them every reply is written like the last one.
  const always = ({ pair }: (typeof pairs)[number]): number => (pair.every(({ text }) => text === 'true') ? 0 : 1)
  for (const { pair } of pairs.sort((a, b) => always(a) - always(b) || a.size - b.size)) yield pair
}

/** Returns the subject with the changed template; undefined if the change breaks its syntax. */
function changedSubject(template: string, subject: Subject, compile: LabTokenizer['compile']): Subject | undefined {
  const compiled = orTemplateFailure(() => compile(template, 'once'))
  return compiled.ok ? { ...subject, template: withBudget(compiled.value) } : undefined
}

/** Whether the doctor finds the cell stable once the fix is applied, when the replies are learnt from the changed template. */
function isCuredBySelf(place: ScriptCell['place'], changed: Subject, settings: MatrixSettings): boolean {
  const own = { ...settings, trained: changed, facts: templateFacts(changed) }
  return checkedCell(place, changed, own).cell.verdict.kind === 'stable'
}

/** Whether a cell is worse than before, or text that was printed before is missing. */
function isWorse(before: CheckedCell, after: CheckedCell): boolean {
  const rank = (verdict: TemplateVerdict): number =>
    ['error', 'notApplicable', 'unstable', 'stable'].indexOf(verdict.kind)
  const [was, is] = [before.cell.verdict, after.cell.verdict]
  if (was.kind === 'notApplicable' ? is.kind !== 'notApplicable' : rank(is) < rank(was)) return true
  return before.printed.some((text) => !after.printed.includes(text))
}
