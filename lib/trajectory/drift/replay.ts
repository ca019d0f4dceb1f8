/**
 * What it costs to send each call of the model a prompt that was made anew: the prefix cache of a server, and training rows.
 * Rows are counted as TRL 1.16.0 does when it renders the whole conversation before each call (`_SampleBuilder` of
 * trl/experimental/async_grpo/async_rollout_worker.py).
 */
import { commonIds } from '#lib/util/common-prefix.ts'

/** One call of the model. All ids are of one tokenizer. */
export interface CallToReplay {
  /** Ids of the whole prompt, all of the conversation before included. */
  readonly prompt: ArrayLike<number>
  /** Ids that the model sampled behind it. */
  readonly sampled: ArrayLike<number>
}

/**
 * How a call's prompt continues the training row that holds the calls before. append: it begins with all of it. realign: it
 * differs only within the last reply, by fewer than 1,024 tokens; these become context. fork: a new row begins.
 */
export const ROW_STEPS = ['append', 'realign', 'fork'] as const
type RowStep = (typeof ROW_STEPS)[number]

export interface ReplayedCall {
  /** Tokens of the prompt. */
  readonly tokens: number
  /** Omitted: the first call, which finds nothing in the cache. */
  readonly cached?: {
    /** With how many of the tokens that the call before has left in the cache (its prompt and its reply) this prompt begins. */
    readonly kept: number
    readonly of: number
    readonly step: RowStep
  }
}

export interface ReplayCosts {
  /** Tokens that were in the cache before each call but the first, added up: those that its prompt begins with, and the rest. */
  readonly prefix: { readonly kept: number; readonly lost: number }
  readonly rows: {
    /** At least 1. */
    readonly count: number
    /** Tokens of all rows but the last. */
    readonly extra: number
    /** Sampled tokens that became context where a row was realigned. */
    readonly realigned: number
  }
  readonly calls: readonly ReplayedCall[]
}

export interface Replay {
  /** Adds the next call, and returns what it finds. */
  readonly add: (call: CallToReplay) => ReplayedCall
  /** The costs of all calls so far. */
  readonly costs: () => ReplayCosts
}

type Cached = NonNullable<ReplayedCall['cached']>

/** Tokens: `fork_threshold_tokens` of TRL's AsyncGRPOConfig. */
const FORK_THRESHOLD = 1024

/** Time is linear in the tokens of all prompts. */
export function startReplay(): Replay {
  const calls: ReplayedCall[] = []
  const rows: { tokens: number; trained: number }[] = []
  let before: CallToReplay | undefined
  let [kept, lost, realigned] = [0, 0, 0]
  const add = (call: CallToReplay): ReplayedCall => {
    const { prompt, sampled } = call
    const cached = before && cachedAfter(before, prompt)
    const drift = cached ? cached.of - cached.kept : 0
    const open = rows.at(-1)
    const row = open && cached?.step !== 'fork' ? open : { tokens: 0, trained: 0 }
    if (row !== open) rows.push(row)
    if (cached) {
      kept += cached.kept
      lost += drift
    }
    if (cached?.step === 'realign') {
      realigned += drift
      row.trained -= drift
    }
    row.tokens = prompt.length + sampled.length
    row.trained += sampled.length
    before = call
    const replayed = { tokens: prompt.length, ...(cached && { cached }) }
    calls.push(replayed)
    return replayed
  }
  const costs = (): ReplayCosts => {
    // TRL leaves out a row of which nothing is trained.
    const trained = rows.filter((row) => row.trained > 0)
    const extra = trained.slice(0, -1).reduce((sum, { tokens }) => sum + tokens, 0)
    return {
      prefix: { kept, lost },
      rows: { count: Math.max(1, trained.length), extra, realigned },
      calls: [...calls],
    }
  }
  return { add, costs }
}

function cachedAfter({ prompt: before, sampled }: CallToReplay, prompt: ArrayLike<number>): Cached {
  const of = before.length + sampled.length
  let kept = commonIds(before, prompt)
  if (kept === before.length) while (kept < of && sampled[kept - before.length] === prompt[kept]) kept++
  const step = kept === of ? 'append' : kept >= before.length && of - kept < FORK_THRESHOLD ? 'realign' : 'fork'
  return { kept, of, step }
}
