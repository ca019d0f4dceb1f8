/** Importance ratios and their causes as text. */
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { CAUSE_TITLES, type Cause } from '#lib/analysis/ratios/causes.ts'
import type { Jump } from '#lib/analysis/ratios/jump.ts'
import { type Comparison, kindText, logprobKind, OWN_LOGPROBS } from '#lib/trajectory/scoring/comparable.ts'
import type { RatioComparison } from '#lib/trajectory/scoring/log-ratios.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

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
  readonly name: string
  readonly text: string
  /** Where the numbers come from. */
  readonly title: string
}

/** Returns the badges of both columns: the sampler’s and the trainer’s. */
export function columnBadges(trajectory: TrajectoryView, { columns }: RatioComparison): readonly ColumnBadge[] {
  if (columns.kind === 'given') return [badge(trajectory, columns.column, 'ratio', 'given by the file')]
  const kindOf = (column: string) => {
    const segment =
      trajectory.segments.find(({ kind, columns: own }) => kind === 'response' && own?.[columns.numerator]) ??
      trajectory.segments[0]
    return segment ? kindText(logprobKind(trajectory, column, segment)) : 'kind unknown'
  }
  const rollout = columns.denominator === OWN_LOGPROBS ? 'rollout' : 'rollout, rescored'
  return [
    badge(trajectory, columns.denominator, rollout, kindOf(columns.denominator)),
    badge(trajectory, columns.numerator, 'trainer', kindOf(columns.numerator)),
  ]
}

function badge({ columnMeanings }: TrajectoryView, column: string, name: string, kind: string): ColumnBadge {
  const { engine, source } = columnMeanings?.[column] ?? {}
  return {
    name,
    text: [kind, engine].filter(Boolean).join(', '),
    title: [`Column ${column}`, source && `from ${source}`].filter(Boolean).join(', '),
  }
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
