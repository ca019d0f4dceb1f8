import { countText, decimalText } from '#components/token-view/numbers.ts'
import type { NoiseFloor } from '#lib/analysis/rescore/noise.ts'

/** The noise floor of the differences, and which sampled logprobs are not comparable with prefill, with the reason. */
export function NoiseNote({
  noise: { spread, differences, temperatures, apart, narrowed },
  side,
}: {
  readonly noise: NoiseFloor
  readonly side: 'left' | 'right'
}) {
  return (
    <div className="grid gap-2" data-noise={spread ? spread.mean : 'none'}>
      {spread ? (
        <p>
          <span className="text-dim">Noise floor: mean |prefill − sampled| of the {side}’s own ids</span>{' '}
          <span className="font-semibold tabular-nums">{decimalText(spread.mean, 4)}</span>{' '}
          <span className="text-dim tabular-nums">
            (median {decimalText(spread.median, 4)}, p95 {decimalText(spread.p95, 4)}, greatest{' '}
            {decimalText(spread.max, 4)}; {countText(differences.length)} tokens sampled{' '}
            {temperatures.map(temperatureText).join(' and ')}). Smaller differences come from kernels and rounding, not
            from drift.
          </span>
        </p>
      ) : (
        apart.length === 0 && (
          <p className="text-dim">No noise floor: neither side has sampled logprobs to compare with prefill.</p>
        )
      )}
      {apart.map(({ reason, tokens }) => (
        <p key={reason} className="border-warn border-l-3 bg-warn-soft px-2.5 py-1.5">
          <span className="font-medium">Not comparable: {reason}; prefill is at temperature 1.</span>{' '}
          <span className="text-dim">
            The sampled logprobs of these {countText(tokens)} tokens have a different meaning and are excluded from
            these numbers.
          </span>
        </p>
      ))}
      {narrowed.length > 0 && (
        <p className="text-dim">
          Drawn with {narrowed.join(', ')}: from the most likely tokens only, which logprobs do not show.
        </p>
      )}
    </div>
  )
}

const temperatureText = (temperature: number): string =>
  temperature === 0 ? 'greedily, which has the logprobs of temperature 1' : `at temperature ${temperature}`
