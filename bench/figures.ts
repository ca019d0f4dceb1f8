/** Figures of a bench: printed at once, and told to `npm run bench`, which ends with one table of all. */
import { appendFileSync } from 'node:fs'
import path from 'node:path'

export interface Figure {
  readonly bench: string
  /** What was measured. */
  readonly what: string
  readonly value: number
  readonly unit: 'ms' | 'MB' | 'nodes' | '×' | ''
  /** The value that it is to stay below or at; omitted: there is none. */
  readonly limit?: number
}

/** The file that figures are appended to, one line of JSON each. Unset: nobody collects them. */
export const FIGURES_VARIABLE = 'ROLLSCOPE_BENCH_FIGURES'

/** `limit` in the figure's unit. */
export function tell(what: string, value: number, unit: Figure['unit'], limit?: number): void {
  const bench = path.basename(process.argv[1] ?? '', '.ts')
  const figure: Figure = { bench, what, value, unit, ...(limit !== undefined && { limit }) }
  console.log(figureLine(figure))
  const file = process.env[FIGURES_VARIABLE]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

export function figureLine({ what, value, unit, limit }: Figure): string {
  const shown = `${formatted(value)} ${unit}`.trimEnd()
  const verdict = limit === undefined ? '' : value <= limit ? `≤ ${formatted(limit)}` : `OVER ${formatted(limit)}`
  return `${what.padEnd(64)}${shown.padStart(14)}  ${verdict}`.trimEnd()
}

const formatted = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0 })
