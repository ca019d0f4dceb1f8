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
  // Reading the values is several times as fast as reading each by its key, and numbers, which are most of a file, need no call.
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (typeof item === 'object' && item !== null && isDeeperThan(levels - 1, item)) return true
  }
  return false
}

const [QUOTE, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [34, 91, 93, 123, 125] as const
