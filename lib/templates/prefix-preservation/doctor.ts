/** Checks whether render(turn n) + what the model wrote + new messages equals render(turn n+1), in ids. */

import { type LabInput, type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { PyDict, type Value } from '#lib/templates/jinja/python/values.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type InputError, orTemplateFailure, type ReadInput, readInput } from '../document/input.ts'
import { templateMarkers } from '../document/markers.ts'
import { templateFacts } from './facts.ts'
import { recipeOf } from './fix/recipe.ts'
import { type CheckedCell, cellId, checkedCell, type MatrixSettings, placesOf } from './matrix.ts'
import { type Cell, type CompareUnit, DOCTOR_REPORT_VERSION, type DoctorReport, type VerdictCounts } from './report.ts'
import { SAMPLE_TOOL_NAME, SAMPLE_TOOLS } from './sample-tools.ts'
import { memoizeTokenizer, RenderBudgetExceeded, type Subject, withBudget } from './subject.ts'
import { textTokenizer } from './text-tokenizer.ts'
import { recordedCells } from './trl/recorded.ts'
import { trlVerdict } from './trl/trl.ts'

/** The texts of the template lab that the doctor checks. */
export interface DoctorInput extends Pick<LabInput, 'template'>, Partial<Pick<LabInput, 'tools' | 'options'>> {
  /** Trajectory whose boundaries are checked with the ids that the model really read and wrote. */
  readonly trajectory?: TrajectoryView | undefined
  /** 'text' compares characters instead of the tokenizer's ids, and does not check the trajectory. Default: 'tokens'. */
  readonly compares?: CompareUnit | undefined
}

/** Returns the complete report. */
export const doctor = (input: DoctorInput, tokenizer: LabTokenizer): DoctorReport =>
  runToEnd(diagnoseTemplate(input, tokenizer))

/** Yields the report so far, after every reply of the trajectory and after every row of the matrix. */
export function* diagnoseTemplate(input: DoctorInput, tokenizer: LabTokenizer): Generator<DoctorReport, DoctorReport> {
  try {
    return yield* runDoctor(input, tokenizer)
  } catch (error) {
    if (error instanceof RenderBudgetExceeded) return failedReport(aboutOf(input, tokenizer), error.failure)
    throw error
  }
}

const aboutOf = ({ compares = 'tokens' }: DoctorInput, { tokenizer: { name, fingerprint } }: LabTokenizer) =>
  ({ version: DOCTOR_REPORT_VERSION, tokenizer: { name, fingerprint }, compares }) as const

function* runDoctor(input: DoctorInput, tokenizer: LabTokenizer): Generator<DoctorReport, DoctorReport> {
  const about = aboutOf(input, tokenizer)
  const read = readTemplateUnderTest(input, tokenizer)
  if (!read.ok) return failedReport(about, read.error)
  const { subject, settings } = read.value
  const trl = trlVerdict(subject)
  const checked: CheckedCell[] = []
  const report = (cells: readonly Cell[]): DoctorReport => ({
    ...about,
    failure: undefined,
    summary: summaryOf(cells),
    facts: settings.facts,
    cells: [...cells],
    recipe: checked.length > 0 ? recipeOf(checked, settings.facts, subject) : undefined,
    trl,
  })
  const recorded: Cell[] = []
  if (input.trajectory && about.compares === 'tokens')
    for (const cell of recordedCells(unpack(input.trajectory), subject, settings)) {
      recorded.push(cell)
      yield report(recorded)
    }
  let row = ''
  for (const place of placesOf(settings.facts, subject)) {
    const next = JSON.stringify([place.options, place.thinking])
    if (row !== '' && next !== row) yield report([...recorded, ...distinct(checked)])
    row = next
    checked.push(checkedCell(place, subject, settings))
  }
  return report([...recorded, ...distinct(checked)])
}

/** Returns the cells. If an option changed nothing, a cell names the first one that renders the same conversation to the same texts. */
function distinct(checked: readonly CheckedCell[]): readonly Cell[] {
  const first = new Map<string, string>()
  return checked.map(({ cell, render }) => {
    if (render === undefined) return cell
    const key = `${cellId({ ...cell.place, options: {} })} ${render}`
    const sameAs = first.get(key)
    if (sameAs === undefined) first.set(key, cell.id)
    return sameAs === undefined ? cell : { ...cell, sameAs }
  })
}

/** A compiled template with the settings of its matrix. */
export interface TemplateUnderTest {
  readonly subject: Subject
  readonly settings: MatrixSettings
}

/** Reads and compiles the lab's texts. Returns the error if they are invalid or a render exceeds its budget. */
export function readTemplateUnderTest(
  { template, tools = '', options = '', compares }: DoctorInput,
  { tokenizer, compile }: LabTokenizer,
): ReadInput<TemplateUnderTest> {
  const compiled = orTemplateFailure(() => compile(template))
  if (!compiled.ok) return compiled
  const read = readInput({ messages: '[{"role": "user", "content": ""}]', tools, options })
  if (!read.ok) return read
  const ownTools = read.value.tools
  const subject: Subject = {
    template: withBudget(compiled.value),
    tokenizer: memoizeTokenizer(compares === 'text' ? textTokenizer(symbolsOf(template, tokenizer)) : tokenizer),
    tools: ownTools && ownTools.length > 0 ? ownTools : SAMPLE_TOOLS,
    options: read.value.options,
  }
  try {
    const facts = templateFacts(subject)
    return {
      ok: true,
      value: { subject, settings: { trained: subject, facts, toolName: firstName(ownTools) ?? SAMPLE_TOOL_NAME } },
    }
  } catch (error) {
    if (error instanceof RenderBudgetExceeded) return { ok: false, error: error.failure }
    throw error
  }
}

/** Returns the symbols of text mode: the markers of the template, and the tokenizer's added tokens, which its variables may contain. */
const symbolsOf = (template: string, { addedTokens }: Tokenizer): readonly string[] =>
  [...new Set([...templateMarkers(template), ...addedTokens.map(({ content }) => content)])].filter(
    (content) => content !== '',
  )

function firstName(tools: readonly unknown[] | undefined): string | undefined {
  const described = tools?.[0] instanceof PyDict ? tools[0].get('function') : undefined
  const name: Value | undefined = described instanceof PyDict ? described.get('name') : undefined
  return typeof name === 'string' ? name : undefined
}

function failedReport(
  about: Pick<DoctorReport, 'version' | 'tokenizer' | 'compares'>,
  failure: InputError,
): DoctorReport {
  return {
    ...about,
    failure,
    summary: { renders: { stable: 0, unstable: 0 }, stable: 0, unstable: 0, merges: 0, notApplicable: 0, errors: 1 },
    facts: undefined,
    cells: [],
    recipe: undefined,
    trl: undefined,
  }
}

function summaryOf(cells: readonly Cell[]): VerdictCounts {
  const count = (kind: Cell['verdict']['kind']) => cells.filter(({ verdict }) => verdict.kind === kind).length
  const first = cells.filter(({ sameAs }) => sameAs === undefined)
  const renders = (kind: Cell['verdict']['kind']) => first.filter(({ verdict }) => verdict.kind === kind).length
  return {
    renders: { stable: renders('stable'), unstable: renders('unstable') },
    stable: count('stable'),
    unstable: count('unstable'),
    merges: cells.filter(({ verdict }) => verdict.kind === 'unstable' && !verdict.finding.textDiffers).length,
    notApplicable: count('notApplicable'),
    errors: count('error'),
  }
}
