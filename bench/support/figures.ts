/** Figures of a bench: printed immediately, and collected for `npm run bench`, which ends with one table of all. */
import { appendFileSync } from 'node:fs'
import path from 'node:path'

/** A measured value. */
export interface Figure {
  readonly bench: string
  /** The name of the figure. */
  readonly what: string
  readonly value: number
  readonly unit: 'ms' | 'MB' | 'kB' | 'nodes' | '×' | ''
  /** The limit of the value. Omitted: it has none. */
  readonly limit?: Limit
}

/** A limit in the unit of the figure: an upper one, or a lower one (`atLeast`). */
export type Limit = number | { readonly atLeast: number }

/** Environment variable with the file that figures are appended to, one line of JSON each. Unset: figures are only printed. */
export const FIGURES_VARIABLE = 'ROLLSCOPE_BENCH_FIGURES'

/** Prints a figure and appends it to the file of figures. */
export function reportFigure(what: string, value: number, unit: Figure['unit'], limit?: Limit): void {
  const bench = path.basename(process.argv[1] ?? '', '.ts')
  const figure: Figure = { bench, what, value, unit, ...(limit !== undefined && { limit }) }
  console.log(figureLine(figure))
  const file = process.env[FIGURES_VARIABLE]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

/** Returns a figure as a line of the table, with its limit. */
export function figureLine(figure: Figure): string {
  const valueText = `${formatFigure(figure.value)} ${figure.unit}`.trimEnd()
  return `${figure.what.padEnd(64)}${valueText.padStart(14)}  ${verdict(figure)}`.trimEnd()
}

/** Returns whether a figure keeps its limit. NaN keeps no limit. */
export const keepsLimit = ({ value, limit }: Figure): boolean =>
  limit === undefined || (typeof limit === 'number' ? value <= limit : value >= limit.atLeast)

function verdict(figure: Figure): string {
  const { limit } = figure
  if (limit === undefined) return ''
  if (typeof limit === 'number') return `${keepsLimit(figure) ? '≤' : 'OVER'} ${formatFigure(limit)}`
  return `${keepsLimit(figure) ? '≥' : 'UNDER'} ${formatFigure(limit.atLeast)}`
}

const formatFigure = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0 })

/** Returns the smallest value that at least `share` of the values do not exceed. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Returns the middle of the values. */
export const median = (values: readonly number[]): number => percentile(values, 0.5)
