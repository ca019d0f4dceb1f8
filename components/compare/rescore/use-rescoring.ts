'use client'
/** Both sides scored on servers and rescored: how that stands, and the pair with what was found as columns of its tokens. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { type RatioOrder, ratioOrder } from '#lib/analysis/rescore/clipping.ts'
import { withRescoring } from '#lib/analysis/rescore/columns.ts'
import { type RescoreChoice, scorePlan } from '#lib/analysis/rescore/plan.ts'
import { type Rescoring, ratioOf, rescore, type SideScores } from '#lib/analysis/rescore/rescoring.ts'
import { type ScoredBoth, scoreBoth, unscored } from '#lib/analysis/rescore/score-both.ts'
import type { Score } from '#lib/trajectory/scoring/gathered.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { RescoreSummary, ShownPair } from '../view.ts'

export interface UseRescoring {
  readonly state: RescoreState
  /** Also of what was scored before it failed or was cancelled; undefined: nothing yet. */
  readonly found: FoundWeights | undefined
  /** The pair; once rescored its tokens have the columns `prefill`, `delta` and `ratio`. */
  readonly pair: ShownPair
  readonly summary: RescoreSummary | undefined
  readonly start: (choice: RescoreChoice) => Promise<void>
  readonly cancel: () => void
}

export type RescoreState =
  | { readonly kind: 'idle' }
  /** Nothing is trained, and nothing drifts. */
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

export interface FoundWeights {
  readonly rescoring: Rescoring
  readonly order: RatioOrder
  readonly scores: SideScores
  /** Which servers answered; undefined: it broke off. */
  readonly scored: ScoredBoth | undefined
  readonly choice: RescoreChoice
}

/** `score` asks a server. Another pair begins anew. */
export function useRescoring(pair: ShownPair, score: Score): UseRescoring {
  const [kept, setKept] = useState<{
    readonly of: ShownPair['compared']
    readonly state: RescoreState
    readonly found?: FoundWeights | undefined
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
    const set = (state: RescoreState, result?: FoundWeights) => {
      if (controller.current === ours) setKept({ of: compared, state, found: result })
    }
    // What was found before stays until there is more.
    const running = (done: number, of: number) => set({ kind: 'running', done, of }, found)
    const plan = scorePlan(compared, choice)
    const of = plan.left.tokens + plan.right.tokens
    if (of === 0) return set({ kind: 'empty' })
    let done = 0
    running(done, of)
    const scores = unscored(plan)
    const foundSoFar = (scored?: ScoredBoth): FoundWeights | undefined => {
      if (done === 0) return undefined
      const rescoring = rescore(compared, scores)
      return { rescoring, order: ratioOrder(rescoring.units), scores, scored, choice }
    }
    try {
      const scored = await scoreBoth(plan, scores, {
        score,
        signal: ours.signal,
        onProgress: (progress) => {
          done = progress.done
          running(done, of)
        },
      })
      set({ kind: 'rescored' }, foundSoFar(scored))
    } catch (error) {
      if (ours.signal.aborted) return set({ kind: 'cancelled', done, of }, foundSoFar())
      const { message, hint } =
        error instanceof Error ? (error as Error & { readonly hint?: string }) : { message: String(error) }
      set({ kind: 'failed', title: message, hint, done, of }, foundSoFar())
    }
  }

  const shown = useMemo(
    () => (found ? { ...pair, compared: withRescoring(pair.compared, found.scores, found.rescoring) } : pair),
    [pair, found],
  )
  return {
    state: own?.state ?? { kind: 'idle' },
    found,
    pair: shown,
    summary: found && summaryOf(found.rescoring),
    start,
    cancel: () => controller.current?.abort(),
  }
}

function summaryOf({ totals, units, noise }: Rescoring): RescoreSummary {
  return {
    meanLogprob: totals.meanLogprob,
    minImportanceRatio: totals.least === undefined ? undefined : ratioOf(elementAt(units.deltas, totals.least)),
    noiseFloor: (noise.left.spread ?? noise.right.spread)?.mean,
  }
}
