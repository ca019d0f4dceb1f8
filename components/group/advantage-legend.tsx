import { cool, HEAT_LEVELS, heat } from '#components/token-view/colour/palette.ts'
import { signedText } from './words.ts'

const STEP = 8
const LEVELS = [
  ...Array.from({ length: HEAT_LEVELS }, (_, index) => heat(HEAT_LEVELS - index)),
  ...Array.from({ length: HEAT_LEVELS }, (_, index) => cool(index + 1)),
]

/** Shows what the colours of the advantage mean. `farthest` is the largest distance from 0. */
export function AdvantageLegend({ farthest }: { readonly farthest: number }) {
  if (farthest === 0) return <span className="text-faint text-xs">The advantage is 0 everywhere</span>
  return (
    <span className="inline-flex items-center gap-2 text-dim text-xs tabular-nums" data-legend="advantage">
      {signedText(-farthest)}
      <svg width={STEP * LEVELS.length} height={10} aria-hidden>
        {LEVELS.map((colour, index) => (
          <rect key={colour} x={STEP * index} width={STEP} height={10} fill={colour} />
        ))}
      </svg>
      {signedText(farthest)}
      <span className="text-faint max-2xl:hidden">mean of the samples in a branch</span>
    </span>
  )
}
