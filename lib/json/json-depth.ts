/**
 * Measures the nesting of JSON text before it is parsed: JSON.stringify and validators are recursive and fail for a few
 * thousand levels. Iterative; invalid JSON has a result too.
 */

import { stringEnd } from './json-scan.ts'

/** Returns the index of the first bracket that opens a level below `levels`, or undefined. Strings are skipped. */
export function tooDeepAt(text: string, levels: number): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth++
      if (depth > levels) return at
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--
  }
  return undefined
}

/** Returns whether a parsed value is nested deeper. Recursion stops at `levels`. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  // Numbers are most of a file, so nothing is allocated for entries.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (isDeeperThan(levels - 1, value[index])) return true
    return false
  }
  const holder = value as Readonly<Record<string, unknown>>
  for (const key in holder) if (isDeeperThan(levels - 1, holder[key])) return true
  return false
}

const [QUOTE, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [34, 91, 93, 123, 125] as const
