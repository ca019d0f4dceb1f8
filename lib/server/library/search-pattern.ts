/** Runs regular expressions of users in the thread that serves all requests, with a time limit. */
import { createContext, Script } from 'node:vm'
import { isTimeout, runLimited } from '#lib/time-limit/run-limited.ts'
import type { SearchPattern } from '#lib/trajectory/reward/score.ts'

/** A match takes microseconds; one that tries every way to match (a+)+b would block all requests forever. */
const LIMIT_MS = 100

const SEARCH = new Script(`{
  let last
  for (const match of text.matchAll(new RegExp(pattern, flags))) last = match
  last && (last[1] ?? last[0])
}`)

/** Finds the last match of a pattern in a text, within 100 ms. */
export const searchPattern: SearchPattern = (pattern, flags, text) => {
  try {
    const found = runLimited(SEARCH, createContext({ pattern, flags: `g${flags}`, text }), LIMIT_MS)
    return typeof found === 'string' ? { kind: 'found', text: found } : { kind: 'absent' }
  } catch (error) {
    if (isTimeout(error)) return { kind: 'too-slow' }
    throw error
  }
}
