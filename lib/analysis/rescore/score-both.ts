/** Scores both sides: one after the other on one server, or in parallel on two servers. */
import { gatherScores, type Score, type ScoringResult } from '#lib/trajectory/scoring/gathered.ts'
import type { ScorePlan } from './plan.ts'
import type { SideScores } from './rescoring.ts'

/** What the servers reported for each side; undefined if nothing of that side had to be scored. */
export interface ScoresOfBoth {
  readonly left: ScoringResult | undefined
  readonly right: ScoringResult | undefined
}

/** Progress of scoring, in tokens of both sides. */
export interface ScoreProgress {
  readonly done: number
  readonly of: number
}

/** Returns scores of the right length for both sides, all unknown (NaN). */
export const withoutScores = ({ left, right }: ScorePlan): SideScores => ({
  left: new Float64Array(left.request.ids.length).fill(Number.NaN),
  right: new Float64Array(right.request.ids.length).fill(Number.NaN),
})

/**
 * Scores what the plan requests and writes it into `scores`. Scores that have arrived stay there if scoring fails or is cancelled.
 * Throws ScoringError, what `score` throws, or the reason of the signal.
 */
export async function scoreBoth(
  plan: ScorePlan,
  scores: SideScores,
  {
    score,
    signal,
    onProgress = () => {},
  }: {
    readonly score: Score
    readonly signal: AbortSignal
    readonly onProgress?: (progress: ScoreProgress) => void
  },
): Promise<ScoresOfBoth> {
  const of = plan.left.tokens + plan.right.tokens
  const done = { left: 0, right: 0 }
  const scored = async (name: 'left' | 'right', signal: AbortSignal): Promise<ScoringResult | undefined> => {
    if (plan[name].tokens === 0) return undefined
    const gathered = await gatherScores(score(plan[name].request, signal), scores[name], (tokens) => {
      done[name] = tokens
      onProgress({ done: done.left + done.right, of })
    })
    signal.throwIfAborted()
    return gathered
  }
  if (plan.left.request.server !== plan.right.request.server) return sideBySide(scored, signal)
  const [first, second] =
    plan.left.request.ids.length >= plan.right.request.ids.length
      ? (['left', 'right'] as const)
      : (['right', 'left'] as const)
  const share = () => {
    scores[second].set(scores[first].subarray(0, plan.shared))
  }
  try {
    const one = await scored(first, signal)
    share()
    const other = (await scored(second, signal)) ?? one
    return first === 'left' ? { left: one, right: other } : { left: other, right: one }
  } finally {
    share()
  }
}

/** Scores both sides in parallel. If one side fails, the other is cancelled. */
async function sideBySide(
  scored: (name: 'left' | 'right', signal: AbortSignal) => Promise<ScoringResult | undefined>,
  signal: AbortSignal,
): Promise<ScoresOfBoth> {
  const own = new AbortController()
  const either = AbortSignal.any([signal, own.signal])
  const failing = (error: unknown): never => {
    own.abort(error)
    throw error
  }
  const [left, right] = await Promise.all([
    scored('left', either).catch(failing),
    scored('right', either).catch(failing),
  ])
  return { left, right }
}
