/** Writes hunks as `diff -u` does. */
import { lineDiff } from '../document/line-diff.ts'

/** Number of unchanged lines around a change. */
const CONTEXT = 3

const SIGNS = { same: ' ', removed: '-', added: '+' } as const

/** Returns the hunks without file headers; '' if the texts are equal. */
export function unifiedDiff(before: string, after: string): string {
  const steps = lineDiff(before, after).map(({ kind, text }) => ({ sign: SIGNS[kind], line: text }))
  const changed = steps.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]))
  const hunks: { start: number; end: number }[] = []
  for (const index of changed) {
    const last = hunks.at(-1)
    if (last && index - CONTEXT <= last.end) last.end = Math.min(steps.length, index + CONTEXT + 1)
    else hunks.push({ start: Math.max(0, index - CONTEXT), end: Math.min(steps.length, index + CONTEXT + 1) })
  }
  const linesIn = (start: number, end: number, without: '-' | '+') =>
    steps.slice(start, end).filter(({ sign }) => sign !== without).length
  return hunks
    .map(({ start, end }) => {
      const range = (without: '-' | '+'): string => `${linesIn(0, start, without) + 1},${linesIn(start, end, without)}`
      const body = steps.slice(start, end).map(({ sign, line }) => `${sign}${line}\n`)
      return `@@ -${range('+')} +${range('-')} @@\n${body.join('')}`
    })
    .join('')
}
