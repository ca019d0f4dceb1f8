/** Prints the doctor's report for people: the matrix in words, one paragraph for each finding. */
import type { MaskReport } from '#lib/templates/loss-mask/report.ts'
import type { CellFix, RepairedTemplate } from '#lib/templates/prefix-preservation/fix/repair.ts'
import type {
  Cell,
  DoctorReport,
  Recipe,
  TemplateVerdict,
  TokenWindow,
  TrlVerdict,
} from '#lib/templates/prefix-preservation/report.ts'

/** Returns the report and a final newline. `subject` is the name that the user gave; `tokenizer` names the tokenizer of the ids. */
export function reportText(
  subject: string,
  tokenizer: string,
  report: DoctorReport & { readonly masks?: MaskReport },
): string {
  const { failure, summary, cells, recipe, trl, masks } = report
  const head = report.compares === 'text' ? `${subject}, compared as text` : `${subject}, with the ids of ${tokenizer}`
  if (failure) {
    const line = failure.line === undefined ? '' : `, line ${failure.line}`
    return `${head}: cannot be checked\n  ${failure.where}${line}: ${failure.className}: ${failure.message}\n`
  }
  const { renders } = summary
  const [checked, distinct] = [summary.stable + summary.unstable, renders.stable + renders.unstable]
  const counts = [
    `${summary.stable} stable`,
    `${summary.unstable} unstable${summary.merges > 0 ? ` (${summary.merges} of them only merge tokens)` : ''}`,
    `${summary.notApplicable} not applicable`,
    `${summary.errors} errors`,
  ].join(', ')
  return [
    `${head}: ${counts}`,
    ...(distinct < checked
      ? [`${checked} cells are ${distinct} distinct renders, ${renders.stable} of them stable`]
      : []),
    ...cellLines(cells),
    ...(recipe ? [recipeText(recipe)] : []),
    ...(trl ? [`TRL’s is_chat_template_prefix_preserving: ${trlText(trl)}`] : []),
    ...(masks ? maskText(masks) : []),
    '',
  ].join('\n')
}

function trlText(verdict: TrlVerdict): string {
  switch (verdict.kind) {
    case 'preserving':
      return 'True'
    case 'rewritten':
      return `False; token ${verdict.tokenIndex}: with the call ${windowText(verdict.before, verdict.tokenIndex)}, with its result ${windowText(verdict.after, verdict.tokenIndex)}`
    case 'notAsked':
      return `not checked, because supports_tool_calling is False. ${verdict.why}`
    case 'failed':
      return `raises ${verdict.failure.className}: ${verdict.failure.message}`
  }
}

const MARKS: Readonly<Record<TemplateVerdict['kind'], string>> = {
  stable: '  ok     ',
  unstable: '  UNSTABLE ',
  notApplicable: '  -      ',
  error: '  ERROR  ',
}

/** Label of an unstable cell whose text is the same but whose tokens merge. */
const MERGES = '  merges   '

/** Returns cells in their order; a repeated finding refers to its first cell. */
function cellLines(cells: readonly Cell[]): string[] {
  const firstCellOf = new Map<string, string>()
  return cells.flatMap(({ id, verdict, sameAs }) => {
    if (sameAs !== undefined && verdict.kind === 'stable') return [`${MARKS.stable}${id}, as ${sameAs}`]
    const lines = detail(verdict)
    const key = lines.join('\n')
    const known = lines.length > 0 ? firstCellOf.get(key) : undefined
    if (known === undefined && lines.length > 0) firstCellOf.set(key, id)
    const more = known === undefined ? lines.map((line) => `           ${line}`) : [`           as ${known}`]
    const mark = verdict.kind === 'unstable' && !verdict.finding.textDiffers ? MERGES : MARKS[verdict.kind]
    return [`${mark}${id}`, ...more]
  })
}

function detail(verdict: TemplateVerdict): string[] {
  switch (verdict.kind) {
    case 'stable':
      return []
    case 'notApplicable':
      return [verdict.why]
    case 'error':
      return [
        `${verdict.failure.className}: ${verdict.failure.message}${verdict.failure.line === undefined ? '' : ` (line ${verdict.failure.line})`}`,
      ]
    case 'unstable': {
      const { finding } = verdict
      const line = finding.line ?? finding.expectedLine
      return [
        `${line === undefined ? '' : `line ${line}: `}${finding.cause.text}`,
        `token ${finding.tokenIndex}: the model has ${windowText(finding.expected, finding.tokenIndex)}, the next render ${windowText(finding.rendered, finding.tokenIndex)}`,
        finding.remedy,
      ]
    }
  }
}

/** Returns a few tokens from the first difference. */
function windowText({ start, tokens }: TokenWindow, tokenIndex: number): string {
  const text = tokens
    .slice(Math.max(0, tokenIndex - start))
    .slice(0, 8)
    .map(({ piece }) => (typeof piece === 'string' ? piece : '\ufffd'))
    .join('')
  return text === '' ? 'nothing more' : JSON.stringify(text)
}

function recipeText(recipe: Recipe): string {
  if (recipe.kind === 'impossible')
    return `A conversation cannot be continued with this template: ${whyImpossible(recipe)}`
  const failed = recipe.proofs.filter(({ result }) => result.kind !== 'held')
  const end = recipe.endOfTurn === undefined ? 'no token ends a turn' : `turns end with ${recipe.endOfTurn.text}`
  return recipe.kind === 'held'
    ? `Appending only the new messages works at all ${recipe.proofs.length} boundaries (${end}).`
    : `Appending only the new messages fails at ${failed.length} of ${recipe.proofs.length} boundaries (${end}): ${failed.map(({ cell }) => cell).join(', ')}`
}

function whyImpossible({ proofs }: Recipe): string {
  const failures = proofs.flatMap(({ result }) => (result.kind === 'failed' ? [result.failure.message] : []))
  return failures[0] ?? 'it renders no conversation'
}

function maskText({ failure, ways, disagreements, lints }: MaskReport): string[] {
  if (failure) return [`Loss mask: ${failure.where}: ${failure.className}: ${failure.message}`]
  return [
    'Loss mask:',
    ...ways.map((way) => `  ${way.name}: ${way.kind === 'computed' ? way.finding.text : way.why}`),
    `  ${disagreements.length} ${disagreements.length === 1 ? 'range differs' : 'ranges differ'}`,
    ...lints.map(({ severity, way, text, remedy }) => `  ${severity} (${way}): ${text} ${remedy}`),
  ]
}

/** Returns what `--fix` did and a final newline: each fix with its cost, then the remaining findings. */
export function repairText(subject: string, { applied, unstable }: RepairedTemplate): string {
  const fixText = (fix: CellFix) => [
    `applied for ${fix.cell}: ${fix.why}`,
    `  fixes ${fix.cured.length} cells; of ${fix.search.conversations} generated conversations ${fix.search.brokenBefore} broke, ${fix.search.brokenAfter} still break`,
    ...fix.costs.map(({ text }) => `  changes: ${text}`),
  ]
  return [
    `${subject}: ${applied.length} ${applied.length === 1 ? 'fix' : 'fixes'} applied, ${unstable.length} cells still unstable`,
    ...applied.flatMap(fixText),
    ...(unstable.length > 0 ? [`still unstable: ${unstable.join(', ')}`] : []),
    '',
  ].join('\n')
}
