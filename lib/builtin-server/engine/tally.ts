/** Counters that the engine's thread writes and the server reads: shared memory, so that reading interrupts nobody. */

/** The number of tokens of running jobs, the number of tokens of the latest prompt, and how many of them were in the cache. */
export type EngineCounters = Int32Array<SharedArrayBuffer>

const HELD = 0
const PROMPT = 1
const CACHED = 2

/** Returns counters at 0. */
export const createTally = (): EngineCounters => new Int32Array(new SharedArrayBuffer(12))

/** Sets the number of tokens of running jobs; for the engine's thread. */
export const setRunningTokens = (tally: EngineCounters, tokens: number): number => Atomics.store(tally, HELD, tokens)
/** Sets the counts of the latest prompt; for the engine's thread. */
export function tallyPrompt(tally: EngineCounters, tokens: number, cachedTokens: number): void {
  Atomics.store(tally, PROMPT, tokens)
  Atomics.store(tally, CACHED, cachedTokens)
}

/** Returns the number of tokens of running jobs; for the server. */
export const readRunningTokens = (tally: EngineCounters): number => Atomics.load(tally, HELD)
/** Returns the cached fraction of the latest prompt, from 0 to 1; 0 before the first prompt. */
export const cachedShare = (tally: EngineCounters): number =>
  Atomics.load(tally, CACHED) / Math.max(1, Atomics.load(tally, PROMPT))
