/** Figures of a bench: printed at once, and told to `npm run bench`, which ends with one table of all. */
import { appendFileSync } from 'node:fs'
import path from 'node:path'

export interface Figure {
  readonly bench: string
  /** What was measured. */
  readonly what: string
  readonly value: number
  readonly unit: 'ms' | 'MB' | 'kB' | 'nodes' | '×' | ''
  /** What it is held against; omitted: nothing. */
  readonly limit?: Limit
}

/** The value that a figure is to stay below or at, or one that it is to reach, in its own unit. */
export type Limit = number | { readonly atLeast: number }

/** The file that figures are appended to, one line of JSON each. Unset: nobody collects them. */
export const FIGURES_VARIABLE = 'ROLLSCOPE_BENCH_FIGURES'

export function tell(what: string, value: number, unit: Figure['unit'], limit?: Limit): void {
  const bench = path.basename(process.argv[1] ?? '', '.ts')
  const figure: Figure = { bench, what, value, unit, ...(limit !== undefined && { limit }) }
  console.log(figureLine(figure))
  const file = process.env[FIGURES_VARIABLE]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

export function figureLine(figure: Figure): string {
  const shown = `${formatted(figure.value)} ${figure.unit}`.trimEnd()
  return `${figure.what.padEnd(64)}${shown.padStart(14)}  ${verdict(figure)}`.trimEnd()
}

/** A figure that is no number keeps no limit. */
export const keepsLimit = ({ value, limit }: Figure): boolean =>
  limit === undefined || (typeof limit === 'number' ? value <= limit : value >= limit.atLeast)

function verdict(figure: Figure): string {
  const { limit } = figure
  if (limit === undefined) return ''
  if (typeof limit === 'number') return `${keepsLimit(figure) ? '≤' : 'OVER'} ${formatted(limit)}`
  return `${keepsLimit(figure) ? '≥' : 'UNDER'} ${formatted(limit.atLeast)}`
}

const formatted = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0 })
