import { durationText } from '#components/token-view/numbers.ts'
import type { RecordedRequest } from '#lib/analysis/requests/recorded-calls.ts'
import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'

type Timing = NonNullable<ResponseSegment['timing']>

/** A part of a call's duration, with the class of its colour. */
export interface Phase {
  readonly name: string
  readonly ms: number
  readonly colour: string
}

/** Returns the phases of a call, in order. Scoring is part of the time to the first token. */
export function phasesOf({ firstTokenMs, elapsedMs }: Timing, scoring: RecordedRequest['scoring']): readonly Phase[] {
  if (firstTokenMs === undefined) return [{ name: 'whole reply', ms: elapsedMs, colour: 'bg-trained' }]
  const scoringMs = Math.min(scoring?.elapsedMs ?? 0, firstTokenMs)
  return [
    ...(scoringMs > 0 ? [{ name: 'scoring the prompt', ms: scoringMs, colour: 'bg-line-strong' }] : []),
    { name: 'to the first token', ms: firstTokenMs - scoringMs, colour: 'bg-(--tool-rule)' },
    { name: 'the other tokens', ms: Math.max(0, elapsedMs - firstTokenMs), colour: 'bg-trained' },
  ]
}

interface TimingBarProps {
  readonly phases: readonly Phase[]
  /** Duration in ms that the full width represents. */
  readonly wholeMs: number
}

/** Draws the phases of a call as a bar. */
export function TimingBar({ phases, wholeMs }: TimingBarProps) {
  return (
    <span
      role="img"
      aria-label={phases.map(({ name, ms }) => `${name} ${durationText(ms)}`).join(', ')}
      title={phases.map(({ name, ms }) => `${name}: ${durationText(ms)}`).join('\n')}
      className="flex h-2 w-full min-w-12 forced-color-adjust-none overflow-hidden rounded-xs bg-line"
    >
      {phases.map(({ name, ms, colour }) => (
        <span key={name} className={colour} style={{ width: `${wholeMs > 0 ? (100 * ms) / wholeMs : 0}%` }} />
      ))}
    </span>
  )
}
