/** Stop patterns (stop_regex) as regular expressions of JavaScript; SGLang has those of Python. */
import { createContext, Script } from 'node:vm'
import { runLimited } from '#lib/time-limit/run-limited.ts'

/** Returns the compiled pattern. Throws SyntaxError. */
export const stopPattern = (source: string): RegExp => new RegExp(source, 'u')

/** A match takes microseconds, on a busy machine longer; one that tries every way to match (a+)+b would block all requests forever. */
const LIMIT_MS = 500

/** Returns a function that finds the first matching pattern in a text. It throws an Error if that takes too long. */
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
