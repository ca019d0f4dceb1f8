/** What the engine's thread counts for the server's: in memory that both see, so that asking disturbs nobody. */

/** Tokens held by jobs under way, and of the prompt that was begun last: its tokens, and those of them in the cache. */
export type Tally = Int32Array<SharedArrayBuffer>

const HELD = 0
const PROMPT = 1
const CACHED = 2

export const createTally = (): Tally => new Int32Array(new SharedArrayBuffer(12))

/** For the thread. */
export const tallyHeld = (tally: Tally, tokens: number): number => Atomics.store(tally, HELD, tokens)
export function tallyPrompt(tally: Tally, tokens: number, cachedTokens: number): void {
  Atomics.store(tally, PROMPT, tokens)
  Atomics.store(tally, CACHED, cachedTokens)
}

/** For the server. */
export const heldTokens = (tally: Tally): number => Atomics.load(tally, HELD)
/** 0 before the first prompt. */
export const cachedShare = (tally: Tally): number =>
  Atomics.load(tally, CACHED) / Math.max(1, Atomics.load(tally, PROMPT))
