/** stop_regex: JavaScript's regular expressions, where SGLang has Python's. */
import { createContext, Script } from 'node:vm'
import { runLimited } from '#lib/time-limit/run-limited.ts'

/** Throws SyntaxError. */
export const stopPattern = (source: string): RegExp => new RegExp(source, 'u')

/** A match takes microseconds, on a busy machine longer; one that tries all the ways of (a+)+b would hold up everybody, for ever. */
const LIMIT_MS = 500

/** The first of the patterns that is found in a text. Throws when that takes too long. */
export function stopMatcher(sources: readonly string[]): (text: string) => string | undefined {
  if (sources.length === 0) return () => undefined
  const context = createContext({ pattern: /./u, text: '' })
  const script = new Script('pattern.test(text)')
  const patterns = sources.map((source) => ({ source, pattern: stopPattern(source) }))
  const isFound = (pattern: RegExp, text: string): boolean => {
    Object.assign(context, { pattern, text })
    try {
      return runLimited(script, context, LIMIT_MS) as boolean
    } catch (error) {
      throw new Error(`stop_regex ${JSON.stringify(pattern.source)} takes more than ${LIMIT_MS} ms`, { cause: error })
    }
  }
  return (text) => patterns.find(({ pattern }) => isFound(pattern, text))?.source
}
