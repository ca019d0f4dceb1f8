'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import type { FindResult } from '#lib/analysis/find/find.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Inspection } from '../inspection.ts'

/** State of the search for the query of the address. */
export type FindState =
  | { readonly kind: 'searching'; readonly hits: Int32Array }
  /** `isBehind` means that the trajectory has grown since the search. */
  | { readonly kind: 'done'; readonly result: FindResult; readonly hits: Int32Array; readonly isBehind: boolean }
  /** The worker was stopped, for example because an expression took too long. */
  | { readonly kind: 'failed'; readonly message: string; readonly hits: Int32Array }

interface Find {
  readonly state: FindState
  /** Searches again in a trajectory that has grown. */
  readonly again: () => void
}

/**
 * Searches for the query of the address and marks the hits. A live trajectory is searched once, and again only on request,
 * so that a run does not pay for a search with each token.
 */
export function useFind(
  { trajectory, view, run, marks, onMarks }: Inspection,
  /** Called with the hits of each search. */
  onFound: (hits: Int32Array) => void,
): Find {
  const query = view.find
  const [request, setAsked] = useState(0)
  const [answer, setAnswer] = useState<{
    readonly query: string
    readonly of: TrajectoryView
    readonly result: FindResult | Error
    /** Time of the request, from performance.now(). */
    readonly requestedAt: number
  }>()
  const isLive = trajectory.live !== undefined
  // The marks and the handlers are those of the time when the result arrives.
  const settle = useEffectEvent((found: NonNullable<typeof answer>) => {
    setAnswer(found)
    const hits = hitsOf(found.result)
    if (hits.length > 0 || marks.some(({ kind, ranges }) => kind === 'hit' && ranges.length > 0)) onMarks('hit', hits)
    onFound(hits)
  })
  const look = useEffectEvent(async (signal: AbortSignal) => {
    const of = trajectory
    const requestedAt = performance.now()
    const result = await (query.trim() === ''
      ? Promise.resolve({ kind: 'nothing' } as const)
      : run('find', { query }, { signal })
    ).catch((reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason))))
    if (!signal.aborted) settle({ query, of, result, requestedAt })
  })
  const of = isLive ? undefined : trajectory
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new query, trajectory or request starts a search
  useEffect(() => {
    const controller = new AbortController()
    void look(controller.signal)
    return () => controller.abort()
  }, [query, of, request])
  const requestedAt = answer?.requestedAt
  useEffect(() => {
    if (requestedAt === undefined) return
    const frame = requestAnimationFrame(() => performance.measure(MEASURE, { start: requestedAt }))
    return () => cancelAnimationFrame(frame)
  }, [requestedAt])
  const isBehind = answer !== undefined && answer.of !== trajectory
  return {
    state: stateOf(answer && answer.query === query && (isLive || !isBehind) ? answer.result : undefined, isBehind),
    again: () => setAsked((times) => times + 1),
  }
}

/** Name of the measure from the request to the frame that shows the answer; bench/pages/inspector-find.ts reads it. */
const MEASURE = 'rollscope: find'

function stateOf(result: FindResult | Error | undefined, isBehind: boolean): FindState {
  if (result === undefined) return { kind: 'searching', hits: NO_HITS }
  if (result instanceof Error) return { kind: 'failed', message: result.message, hits: NO_HITS }
  return { kind: 'done', result, hits: hitsOf(result), isBehind }
}

const NO_HITS = new Int32Array(0)

const hitsOf = (result: FindResult | Error): Int32Array =>
  !(result instanceof Error) && result.kind === 'found' ? result.hits : NO_HITS
