import { LIMITS } from '#lib/util/limits.ts'
import { isDeeperThan } from './json-depth.ts'

/**
 * Returns the value of a JSON text, as datasets and traces store nested values. Other values, other texts and texts that are nested
 * deeper than any supported file stay unchanged.
 */
export function parseNestedJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    const parsed: unknown = JSON.parse(value)
    return isDeeperThan(DEEPEST, parsed) ? value : parsed
  } catch {
    return value
  }
}

/** A nested value may be in a field that is itself nested. */
const DEEPEST = LIMITS.depth / 2
