import { countText, durationText, percentText } from '#components/token-view/numbers.ts'
import { Button } from '../../ui/button.tsx'

interface CorpusProgressProps {
  /** Of all that is to be read, from 0 to 1. */
  readonly share: number
  readonly samples: number
  /** That were checked. */
  readonly tokens: number
  readonly elapsedMs: number
  readonly onStop: () => void
}

/** Shorter than this nothing is known of how long it will take. */
const KNOWN_MS = 1_000

export function CorpusProgress({ share, samples, tokens, elapsedMs, onStop }: CorpusProgressProps) {
  const isKnown = elapsedMs >= KNOWN_MS && share > 0
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b bg-panel px-3.5 py-2">
      <progress className="h-1.5 min-w-40 flex-1" value={share} max={1} aria-label="Report" />
      <p className="text-dim text-xs tabular-nums" role="status" aria-live="off">
        {percentText(Math.floor(1000 * share) / 1000)} · {countText(samples)} samples
        {isKnown &&
          ` · ${countText(Math.round((1000 * tokens) / elapsedMs))} tokens/s · ${durationText((elapsedMs * (1 - share)) / share)} left`}
      </p>
      <Button onClick={onStop}>Stop</Button>
    </div>
  )
}
