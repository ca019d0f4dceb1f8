import { Segmented } from '../ui/segmented.tsx'
import { HEAT_LEVELS, type Heat, type HeatScale } from './heat.ts'

interface HeatBarProps {
  readonly heat: Heat
  readonly scale: HeatScale
  readonly onChange: (heat: Heat) => void
}

/** Which number colours the tokens, and what the colours mean, in numbers. */
export function HeatBar({ heat, scale, onChange }: HeatBarProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <Segmented
        label="Colour tokens by"
        value={heat}
        onChange={onChange}
        options={[
          { value: 'mask', text: 'Mask', title: 'Trained tokens' },
          { value: 'logprob', text: 'Logprob', title: 'Surprise (−logprob) of trained tokens' },
          {
            value: 'logprobs',
            text: 'Logprob + prompt',
            title: 'Surprise of context tokens too: prefill, at temperature 1',
          },
          { value: 'none', text: 'Plain', title: 'No colour' },
        ]}
      />
      {(heat === 'logprob' || heat === 'logprobs') && <LogprobLegend scale={scale} />}
      {heat === 'mask' && (
        <span className="inline-flex items-center gap-1.5 text-dim text-xs">
          <span className="legend-mask" aria-hidden /> trained (mask 1, underlined)
        </span>
      )}
    </div>
  )
}

const LEVELS = Array.from({ length: HEAT_LEVELS }, (_, index) => index + 1)

function LogprobLegend({ scale }: { readonly scale: HeatScale }) {
  return (
    <span
      className="inline-flex items-center gap-1.5 text-dim text-xs tabular-nums"
      title="Clipped at the 95th percentile of trained tokens, rounded up to half a nat"
    >
      surprise 0
      <span className="inline-flex" aria-hidden>
        {LEVELS.map((level) => (
          <span key={level} className={`legend-heat legend-heat-${level}`} />
        ))}
      </span>
      {scale.limit}+ nats {scale.p95 !== null && <span className="text-faint">p95 {scale.p95.toFixed(2)}</span>}
    </span>
  )
}
