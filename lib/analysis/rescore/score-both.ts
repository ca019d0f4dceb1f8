/** Both sides scored: one after the other where one server does it, side by side where two do. */
import { type Gathered, gatherScores, type Score } from '#lib/trajectory/scoring/gathered.ts'
import type { ScorePlan } from './plan.ts'
import type { SideScores } from './rescoring.ts'

/** undefined: of that side there was nothing to score. */
export interface ScoredBoth {
  readonly left: Gathered | undefined
  readonly right: Gathered | undefined
}

export interface ScoreProgress {
  readonly done: number
  readonly of: number
}

/** Nothing is known yet. */
export const unscored = ({ left, right }: ScorePlan): SideScores => ({
  left: new Float64Array(left.request.ids.length).fill(Number.NaN),
  right: new Float64Array(right.request.ids.length).fill(Number.NaN),
})

/**
 * Fills `scores`; what has come stays when it fails or is given up. Throws ScoringError, what `score` throws, or the reason
 * of the signal.
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
): Promise<ScoredBoth> {
  const of = plan.left.tokens + plan.right.tokens
  const done = { left: 0, right: 0 }
  const scored = async (name: 'left' | 'right', signal: AbortSignal): Promise<Gathered | undefined> => {
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

/** Where one fails the other is given up. */
async function sideBySide(
  scored: (name: 'left' | 'right', signal: AbortSignal) => Promise<Gathered | undefined>,
  signal: AbortSignal,
): Promise<ScoredBoth> {
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
