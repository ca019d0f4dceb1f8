'use client'
/** Scores both sides on servers and rescores them: the state, and the pair with the results as columns of its tokens. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { hasSameIds } from '#lib/analysis/compare/compare-sides.ts'
import { type RatioOrder, ratioOrder } from '#lib/analysis/rescore/clipping.ts'
import { withRescoring } from '#lib/analysis/rescore/columns.ts'
import { type RescoreChoice, scorePlan } from '#lib/analysis/rescore/plan.ts'
import { type Rescoring, ratioOf, rescore, type SideScores } from '#lib/analysis/rescore/rescoring.ts'
import { type ScoresOfBoth, scoreBoth, withoutScores } from '#lib/analysis/rescore/score-both.ts'
import {
  type RepeatedScores,
  repeatedScores,
  type ServerDifference,
  serverDifference,
} from '#lib/analysis/rescore/server-difference.ts'
import type { Score } from '#lib/trajectory/scoring/gathered.ts'
import { float64At } from '#lib/util/element-at.ts'
import type { RescoreSummary, ShownPair } from '../view.ts'

/** State and results of rescoring a pair. */
export interface UseRescoring {
  readonly state: RescoreState
  /** Results, also those before a failure or cancel; undefined: none yet. */
  readonly found: RescoreResult | undefined
  /** The pair. After rescoring, its tokens have the columns `prefill`, `delta` and `ratio`. */
  readonly pair: ShownPair
  readonly summary: RescoreSummary | undefined
  readonly start: (choice: RescoreChoice) => Promise<void>
  readonly cancel: () => void
}

/** Progress of rescoring; `done` and `of` count tokens of both sides. */
export type RescoreState =
  | { readonly kind: 'idle' }
  /** Neither side has trained tokens or drift. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'running'; readonly done: number; readonly of: number }
  | { readonly kind: 'rescored' }
  | { readonly kind: 'cancelled'; readonly done: number; readonly of: number }
  | {
      readonly kind: 'failed'
      readonly title: string
      readonly hint: string | undefined
      readonly done: number
      readonly of: number
    }

/** Results of rescoring, with the scores and the choice that led to them. */
export interface RescoreResult {
  readonly rescoring: Rescoring
  readonly order: RatioOrder
  readonly scores: SideScores
  /** Servers that scored each side; undefined: scoring did not finish. */
  readonly scored: ScoresOfBoth | undefined
  readonly choice: RescoreChoice
  /** The difference between the servers; undefined if the sides have different ids, or if nothing can be compared. */
  readonly difference: ServerDifference | undefined
}

/** Rescores a pair with `score`, which requests logprobs from a server. The state is reset when the pair changes. */
export function useRescoring(pair: ShownPair, score: Score): UseRescoring {
  const [kept, setKept] = useState<{
    readonly of: ShownPair['compared']
    readonly state: RescoreState
    readonly found?: RescoreResult | undefined
  }>()
  const controller = useRef<AbortController>(undefined)
  const { compared } = pair
  useEffect(() => () => controller.current?.abort(), [])
  const own = kept?.of === compared ? kept : undefined
  const found = own?.found

  const start = async (choice: RescoreChoice) => {
    controller.current?.abort()
    const ours = new AbortController()
    controller.current = ours
    const set = (state: RescoreState, result?: RescoreResult) => {
      if (controller.current === ours) setKept({ of: compared, state, found: result })
    }
    // Earlier results remain until the first new ones.
    const running = (done: number, of: number) => set({ kind: 'running', done, of }, found)
    const plan = scorePlan(compared, choice)
    const tokens = plan.left.tokens + plan.right.tokens
    if (tokens === 0) return set({ kind: 'empty' })
    const of = choice.repeats ? 2 * tokens : tokens
    let done = 0
    running(done, of)
    const scores = withoutScores(plan)
    let scored: ScoresOfBoth | undefined
    const foundSoFar = (repeated?: RepeatedScores): RescoreResult | undefined => {
      if (done === 0) return undefined
      const rescoring = rescore(compared, scores)
      const difference = hasSameIds(compared) ? serverDifference(scores, repeated) : undefined
      return { rescoring, order: ratioOrder(rescoring.units), scores, scored, choice, difference }
    }
    const pass = (into: SideScores, before: number) =>
      scoreBoth(plan, into, {
        score,
        signal: ours.signal,
        onProgress: (progress) => {
          done = before + progress.done
          running(done, of)
        },
      })
    try {
      scored = await pass(scores, 0)
      const first = { scores, scored }
      if (!choice.repeats) return set({ kind: 'rescored' }, foundSoFar())
      const again = withoutScores(plan)
      const second = { scores: again, scored: await pass(again, tokens) }
      set({ kind: 'rescored' }, foundSoFar(repeatedScores(first, second)))
    } catch (error) {
      if (ours.signal.aborted) return set({ kind: 'cancelled', done, of }, foundSoFar())
      const { message, hint } =
        error instanceof Error ? (error as Error & { readonly hint?: string }) : { message: String(error) }
      set({ kind: 'failed', title: message, hint, done, of }, foundSoFar())
    }
  }

  const rescoredPair = useMemo(
    () => (found ? { ...pair, compared: withRescoring(pair.compared, found.scores, found.rescoring) } : pair),
    [pair, found],
  )
  return {
    state: own?.state ?? { kind: 'idle' },
    found,
    pair: rescoredPair,
    summary: found && summaryOf(found.rescoring),
    start,
    cancel: () => controller.current?.abort(),
  }
}

function summaryOf({ totals, units, noise }: Rescoring): RescoreSummary {
  return {
    meanLogprob: totals.meanLogprob,
    minImportanceRatio: totals.least === undefined ? undefined : ratioOf(float64At(units.deltas, totals.least)),
    noiseFloor: (noise.left.spread ?? noise.right.spread)?.mean,
  }
}
