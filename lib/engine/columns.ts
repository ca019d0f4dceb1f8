/** The logprobs of a reply, as columns. */

/** Logprobs and ids as parallel lists. */
export interface LogprobLists {
  readonly ids: readonly number[]
  readonly logprobs: readonly (number | null)[]
}

/** Alternatives with k entries for each token; the id is −1 if a row is shorter or null. */
export interface TopColumns extends LogprobLists {
  readonly k: number
}

/** The columns of a reply; a list without rows in the reply is omitted. */
export interface EngineColumns {
  readonly input?: LogprobLists
  readonly output?: LogprobLists
  readonly inputTop?: TopColumns
  readonly outputTop?: TopColumns
}
