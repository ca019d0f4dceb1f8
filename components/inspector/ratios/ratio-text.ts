/** Importance ratios and their causes as text. */
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { CAUSE_TITLES, type Cause } from '#lib/analysis/ratios/causes.ts'
import type { Jump } from '#lib/analysis/ratios/jump.ts'
import { type Comparison, kindText, logprobColumn, logprobKind } from '#lib/trajectory/scoring/comparable.ts'
import type { RatioComparison } from '#lib/trajectory/scoring/log-ratios.ts'
import { logprobColumns, logprobTitle } from '#lib/trajectory/tokens/column-roles.ts'
import type { RatioPair, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Returns a ratio with two decimals, or in scientific notation if it is extreme. */
export function ratioText(ratio: number): string {
  const text = ratio >= 1000 || ratio < 0.005 ? ratio.toExponential(1) : ratio.toFixed(2)
  return text.replaceAll('-', '−')
}

/** Returns the main finding in one line, and its numbers. */
export function jumpText(jump: Jump): { readonly finding: string; readonly numbers: string } {
  const place = `token ${countText(jump.token)}`
  return jump.kind === 'level'
    ? {
        finding: `from ${place}: ${causeText(jump.cause)}`,
        numbers: `mean |log ratio| ${decimalText(jump.before, 2)} → ${decimalText(jump.after, 2)}`,
      }
    : {
        finding: `first outlier, ${place}: ${causeText(jump.cause)}`,
        numbers: `ratio ${ratioText(Math.exp(jump.logRatio))}; the level does not change`,
      }
}

/** Returns a cause with its evidence. */
export const causeText = ({ name, detail }: Cause): string =>
  name === 'none' ? CAUSE_TITLES.none : `${CAUSE_TITLES[name]}${name === 'version' ? '' : ','} ${detail}`

/** What a badge says about a column. */
export interface ColumnBadge {
  readonly side: keyof RatioPair | 'given'
  /** Name of the column in the file. */
  readonly column: string
  readonly name: string
  readonly text: string
  /** Where the numbers come from. */
  readonly title: string
}

/** Returns the badges of both columns: first the one that the ratio divides by, which usually is the sampler’s. */
export function columnBadges(trajectory: TrajectoryView, { columns }: RatioComparison): readonly ColumnBadge[] {
  if (columns.kind === 'given') return [badge(trajectory, 'given', columns.column, 'ratio', 'given by the file')]
  const kindOf = (column: string) => {
    const segment =
      trajectory.segments.find(
        (one) =>
          one.kind === 'response' && logprobColumn(one, columns.numerator) && logprobColumn(one, columns.denominator),
      ) ?? trajectory.segments[0]
    return segment ? kindText(logprobKind(trajectory, column, segment)) : 'kind unknown'
  }
  return (['denominator', 'numerator'] as const).map((side) => {
    const column = columns[side]
    return badge(trajectory, side, column, logprobTitle(trajectory, column), kindOf(column))
  })
}

function badge(
  { columnMeanings }: TrajectoryView,
  side: ColumnBadge['side'],
  column: string,
  name: string,
  kind: string,
): ColumnBadge {
  const { engine, source } = columnMeanings?.[column] ?? {}
  return {
    side,
    column,
    name,
    text: [kind, engine].filter(Boolean).join(', '),
    title: [`Column ${column}`, source && `from ${source}`].filter(Boolean).join(', '),
  }
}

/** Returns the columns of logprobs with their titles. Columns with the same title have their names too. */
export function columnChoices(
  trajectory: TrajectoryView,
): readonly { readonly column: string; readonly title: string }[] {
  const titled = logprobColumns(trajectory).map((column) => ({ column, title: logprobTitle(trajectory, column) }))
  return titled.map(({ column, title }) => ({
    column,
    title: titled.filter((other) => other.title === title).length > 1 ? `${title} (${column})` : title,
  }))
}

/** Returns the pair with another column on one side. The side that had this column gets the one that it replaces. */
export function withPairColumn(pair: RatioPair, side: keyof RatioPair, column: string): RatioPair {
  const other = side === 'numerator' ? 'denominator' : 'numerator'
  const replaced = pair[side]
  return side === 'numerator'
    ? { numerator: column, denominator: pair[other] === column ? replaced : pair[other] }
    : { numerator: pair[other] === column ? replaced : pair[other], denominator: column }
}

/** Returns what is done so that the columns can be compared, and whether it is exact. */
export function comparisonText(comparison: Comparison | undefined): {
  readonly tone: 'good' | 'warn' | 'bad'
  readonly text: string
} {
  switch (comparison?.kind) {
    case undefined:
      return { tone: 'bad', text: 'Not comparable: no trained token has both.' }
    case 'same':
      return { tone: 'good', text: comparison.as === 'given' ? 'ratios of the file' : 'same kind' }
    case 'converted':
      return { tone: 'good', text: `converted to ${comparison.as}, exact` }
    case 'assumed':
      return { tone: 'warn', text: `caveat: ${comparison.why}; compared as if both were the same kind` }
    case 'refused':
      return { tone: 'bad', text: `Not comparable: ${comparison.why}. Send the normaliser, or rescore.` }
  }
}
