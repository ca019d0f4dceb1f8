'use client'
import { countText, decimalText, percentText } from '#components/token-view/numbers.ts'
import { segmentTitle } from '#components/token-view/segment-title.ts'
import { thresholdBounds } from '#lib/analysis/ratios/thresholds.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { Fact, Facts, Heading } from '../../ui/facts.tsx'
import { KlFacts } from './kl-facts.tsx'
import { ratioText } from './ratio-text.ts'
import type { Ratios } from './use-ratios.ts'

interface RatioFactsProps {
  readonly trajectory: TrajectoryView
  readonly ratios: Ratios
  /** Selects a token. */
  readonly onChoose: (token: number) => void
}

/** Shows the totals of the ratios, what the corrections do at the thresholds, and the mean of each segment. */
export function RatioFacts({ trajectory, ratios, onChoose }: RatioFactsProps) {
  const { report, effect, thresholds, onThreshold } = ratios
  const { totals } = report
  if (!totals) return null
  const share = (tokens: number) => `${countText(tokens)} · ${percentText(tokens / effect.of)}`
  return (
    <section aria-label="Trainer and rollout" className="mt-5">
      <Heading>Trainer and rollout</Heading>
      <Facts>
        <Fact name="tokens with a ratio">{countText(totals.tokens)}</Fact>
        <Fact name="ratio, mean">{decimalText(totals.mean, 4)}</Fact>
        <Fact name="ratio, smallest, largest">
          {ratioText(totals.least)}, {ratioText(totals.greatest)}
        </Fact>
        <Fact name="sequence ratio" title="exp(mean log ratio), the geometric mean">
          {decimalText(totals.geometricMean, 4)}
        </Fact>
        <Fact name="log of the product" title="Sum of all log ratios">
          {decimalText(totals.logSum, 2)}
        </Fact>
        <KlFacts estimates={totals} ratio="p_trainer / p_rollout" />
      </Facts>
      <Heading>At these thresholds</Heading>
      <Facts>
        <Fact name="TIS caps" title={`The weight that is kept: ${percentText(effect.weightKept)}`}>
          <span className="text-warn">{share(effect.capped)}</span>
        </Fact>
        <Fact name="IcePop drops">
          <span className="text-bad">{share(effect.dropped)}</span>
        </Fact>
        <Fact name="sequence mask">
          <span className={effect.isSampleKept ? 'text-good' : 'text-bad'} data-sample={effect.isSampleKept}>
            {effect.isSampleKept ? 'sample kept' : 'sample dropped'}
          </span>
        </Fact>
        <Fact name="geometric mean ≥" title="The sample is left out if its geometric mean is smaller">
          <Bound name="sequenceLow" value={thresholds.sequenceLow} onChange={onThreshold} />
        </Fact>
        <Fact name="geometric mean ≤" title="The sample is left out if its geometric mean is larger">
          <Bound name="sequenceHigh" value={thresholds.sequenceHigh} onChange={onThreshold} />
        </Fact>
      </Facts>
      <SegmentMeans trajectory={trajectory} means={report.segmentMeans} onChoose={onChoose} />
    </section>
  )
}

interface BoundProps {
  readonly name: 'sequenceLow' | 'sequenceHigh'
  readonly value: number
  readonly onChange: Ratios['onThreshold']
}

/** Smallest distance from 1 on the slider, as a power of ten: geometric means are near 1, and their bounds are too. */
const NEAREST = -4
const STEP = 0.05

/** Shows a bound of the geometric mean as a slider, and as a number. */
function Bound({ name, value, onChange }: BoundProps) {
  const isLow = name === 'sequenceLow'
  const label = isLow ? 'Smallest geometric mean' : 'Largest geometric mean'
  const [least, most] = thresholdBounds(name)
  // The slider is the power of ten of the distance from 1. To the right the bound becomes larger: nearer to 1 for the lower one.
  const sign = isLow ? -1 : 1
  const farthest = Math.log10(isLow ? 1 - least : most - 1)
  return (
    <span className="flex items-center justify-end gap-1.5">
      <input
        type="range"
        aria-label={`${label}, slider`}
        aria-valuetext={String(value)}
        min={Math.min(sign * NEAREST, sign * farthest)}
        max={Math.max(sign * NEAREST, sign * farthest)}
        step={STEP}
        value={sign * Math.log10(Math.max(10 ** NEAREST, Math.abs(value - 1)))}
        onChange={({ target }) => onChange(name, 1 + sign * 10 ** (sign * target.valueAsNumber))}
        className="min-h-6 w-0 min-w-8 flex-1 accent-(--accent)"
      />
      <input
        type="number"
        aria-label={label}
        step={0.0005}
        value={value}
        onChange={({ target }) => Number.isFinite(target.valueAsNumber) && onChange(name, target.valueAsNumber)}
        className="w-17 self-baseline rounded border border-line bg-raised px-1 text-right hover:border-line-strong"
      />
    </span>
  )
}

/** Largest number of segments that are listed. */
const MOST = 60

function SegmentMeans({
  trajectory,
  means,
  onChoose,
}: Pick<RatioFactsProps, 'trajectory' | 'onChoose'> & { readonly means: Float64Array }) {
  const starts = segmentStarts(trajectory)
  const segments = segmentsOf(trajectory)
  const known = segments.flatMap((segment, index) => {
    const mean = means[index]
    return mean === undefined || Number.isNaN(mean) ? [] : [{ segment, index, mean }]
  })
  const largest = Math.max(...known.map(({ mean }) => mean))
  return (
    <>
      <Heading>Segments, mean |log ratio|</Heading>
      <ul className="grid gap-0.5 text-xs tabular-nums">
        {known.slice(0, MOST).map(({ segment, index, mean }) => (
          <li key={index}>
            <button
              type="button"
              className="flex w-full justify-between gap-2 rounded px-1 text-left hover:bg-accent-soft"
              onClick={() => onChoose(elementAt(starts, index))}
            >
              <span>
                {index} {segmentTitle(segment)}
              </span>
              <span className={mean === largest && known.length > 1 ? 'font-semibold' : ''}>
                {decimalText(mean, 2)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {known.length > MOST && <p className="text-faint text-xs">and {countText(known.length - MOST)} more segments</p>}
    </>
  )
}
