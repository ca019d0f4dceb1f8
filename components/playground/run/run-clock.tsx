'use client'
import { useEffect, useState } from 'react'
import { countText, durationText, percentText } from '#components/token-view/numbers.ts'
import { outcomeWord } from '#lib/api/sample-progress.ts'
import { contextTokens, responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

const TICK_MS = 100

/** Token count, share of the context, speed and duration of the current or the last run. */
export function RunClock({
  trajectory,
  isRunning,
  note,
}: {
  readonly trajectory: TrajectoryView
  readonly isRunning: boolean
  /** Note that is shown during the run: how its replies can be watched. */
  readonly note: string | undefined
}) {
  const runningMs = useElapsed(isRunning)
  const tokens = tokenCount(trajectory)
  // A run that ended before this page saw it is not reported.
  const hasEnded = !isRunning && runningMs > 0
  const speed = tokensPerSecond(trajectory, runningMs)
  const parts = [
    `${countText(tokens)} tokens`,
    trajectory.model.contextLength &&
      `${percentText(contextTokens(trajectory) / trajectory.model.contextLength)} of context`,
    speed !== undefined && `${countText(Math.round(speed))} tok/s`,
    isRunning ? durationText(Math.floor(runningMs / TICK_MS) * TICK_MS) : durationText(totalMs(trajectory)),
  ]
  return (
    <span className="text-dim text-xs tabular-nums" data-running={isRunning}>
      {parts.filter(Boolean).join(' · ')}
      {isRunning && note !== undefined && <span className="block text-faint">{note}</span>}
      <span role="status" className="sr-only">
        {hasEnded && `The run has ended: ${outcomeWord(trajectory.outcome)}, ${countText(tokens)} tokens.`}
      </span>
    </span>
  )
}

function useElapsed(isRunning: boolean): number {
  const [elapsed, setElapsed] = useState(0)
  useEffect(() => {
    if (!isRunning) return
    const started = performance.now()
    setElapsed(0)
    const timer = setInterval(() => setElapsed(performance.now() - started), TICK_MS)
    return () => clearInterval(timer)
  }, [isRunning])
  return elapsed
}

/**
 * Returns the decoding speed: from the first token of each response to its last. For a reply that arrived at once, the time
 * includes the prefill. Until the first response has ended: its tokens divided by the time since this page saw the run begin.
 */
function tokensPerSecond(trajectory: TrajectoryView, runningMs: number): number | undefined {
  let tokens = 0
  let ms = 0
  for (const { start, end, timing, request } of responsesOf(trajectory).flatMap(responseCalls)) {
    const count = end - start
    if (timing?.firstTokenMs === undefined || count < 2) continue
    const isWhole = request?.streamed === false
    tokens += isWhole ? count : count - 1
    ms += isWhole ? timing.elapsedMs : timing.elapsedMs - timing.firstTokenMs
  }
  if (ms > 0) return (1000 * tokens) / ms
  const open = trajectory.live?.open
  return open?.kind === 'response' && runningMs > TICK_MS ? (1000 * open.ids.length) / runningMs : undefined
}

const responsesOf = (trajectory: Pick<TrajectoryView, 'segments' | 'live'>) =>
  segmentsOf(trajectory).filter((segment) => segment.kind === 'response')

const totalMs = (trajectory: TrajectoryView): number =>
  responsesOf({ segments: trajectory.segments })
    .flatMap(responseCalls)
    .reduce((sum, { timing }) => sum + (timing?.elapsedMs ?? 0), 0)
