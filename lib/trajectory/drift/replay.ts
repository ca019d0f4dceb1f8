/**
 * The costs of rendering the prompt of every model call again: the prefix cache of a server, and training rows. Rows
 * are counted like TRL 1.16.0, which renders the whole conversation before each call (`_SampleBuilder` of
 * trl/experimental/async_grpo/async_rollout_worker.py).
 */
import { commonIds } from '#lib/util/common-prefix.ts'

/** One call of the model. All ids are of one tokenizer. */
export interface CallToReplay {
  /** Ids of the whole prompt, including the conversation before it. */
  readonly prompt: ArrayLike<number>
  /** Ids that the model sampled after the prompt. */
  readonly sampled: ArrayLike<number>
}

/**
 * How a call's prompt continues the training row of the calls before. append: the prompt begins with the whole row.
 * realign: it differs only within the last reply, by fewer than 1,024 tokens, which become context. fork: a new row
 * begins.
 */
export const ROW_STEPS = ['append', 'realign', 'fork'] as const
type RowStep = (typeof ROW_STEPS)[number]

/** A replayed call. */
export interface ReplayedCall {
  /** Tokens of the prompt. */
  readonly tokens: number
  /** Omitted for the first call, whose cache is empty. */
  readonly cached?: {
    /** Tokens that this prompt shares with the cached ones, which are the prompt and the reply of the call before. */
    readonly kept: number
    readonly of: number
    readonly step: RowStep
  }
}

/** Total costs of a replay. */
export interface ReplayCosts {
  /** Cached tokens before each call but the first, in total: those that its prompt begins with, and the rest. */
  readonly prefix: { readonly kept: number; readonly lost: number }
  readonly rows: {
    /** Number of rows, at least 1. */
    readonly count: number
    /** Tokens of all rows but the last. */
    readonly extra: number
    /** Sampled tokens that became context when a row was realigned. */
    readonly realigned: number
  }
  readonly calls: readonly ReplayedCall[]
}

/** A replay in progress. */
export interface DriftReplay {
  /** Adds the next call and returns its costs. */
  readonly add: (call: CallToReplay) => ReplayedCall
  /** Returns the costs of all calls so far. */
  readonly costs: () => ReplayCosts
}

type Cached = NonNullable<ReplayedCall['cached']>

/** Tokens; `fork_threshold_tokens` of TRL's AsyncGRPOConfig. */
const FORK_THRESHOLD = 1024

/** Starts a replay. Time is linear in the tokens of all prompts. */
export function startReplay(): DriftReplay {
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
    // TRL leaves out rows without trained tokens.
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
