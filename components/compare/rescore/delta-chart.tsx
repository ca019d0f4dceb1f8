import { percentText } from '#components/token-view/numbers.ts'
import type { DeltaHistogram } from '#lib/analysis/rescore/histogram.ts'
import { elementAt } from '#lib/util/element-at.ts'

const WIDTH = 280
const HEIGHT = 72
/** Smallest height of a bar, so that a single token among thousands is visible. */
const LEAST = 6

/** Histogram of trained tokens by the size of their difference, beside the noise on the same scale. */
export function DeltaChart({ histogram: { from, deltas, noise } }: { readonly histogram: DeltaHistogram }) {
  const step = WIDTH / from.length
  const highest = Math.max(...deltas, ...(noise ?? []))
  const height = (share: number) => (share === 0 ? 0 : Math.max(LEAST, (share / highest) * HEIGHT))
  const line = noise?.flatMap((share, bin) => {
    const y = HEIGHT - height(share)
    return [`${bin * step},${y}`, `${(bin + 1) * step},${y}`]
  })
  return (
    <figure>
      <figcaption className="mb-1 text-dim">
        <span className="mr-1 inline-block size-2 rounded-xs bg-(--mark-hit)" aria-hidden />
        |right − left| of trained tokens, in nats
        {noise && (
          <span className="ml-2 whitespace-nowrap">
            <span className="mr-1 inline-block h-0.5 w-3 bg-ink align-middle" aria-hidden />
            noise
          </span>
        )}
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 14}`}
        className="block w-full"
        role="img"
        aria-label={`Differences of trained tokens: ${summary(from, deltas)}${noise ? `; noise: ${summary(from, noise)}` : ''}`}
      >
        {deltas.map((share, bin) => (
          <rect
            key={from[bin]}
            x={bin * step + 0.5}
            width={step - 1}
            y={HEIGHT - height(share)}
            height={height(share)}
            className="fill-(--mark-hit) opacity-70"
          >
            <title>{`${rangeText(from, bin)}: ${percentText(share)} of trained tokens`}</title>
          </rect>
        ))}
        {line && <polyline points={line.join(' ')} className="fill-none stroke-ink" strokeWidth="1.25" />}
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="stroke-line-strong" />
        {from.map((bound, bin) =>
          bin % 4 === 1 ? (
            <text
              key={bound}
              x={bin * step}
              y={HEIGHT + 11}
              textAnchor="middle"
              className="fill-faint text-[9px] tabular-nums"
            >
              {boundText(bound)}
            </text>
          ) : null,
        )}
      </svg>
    </figure>
  )
}

const boundText = (bound: number): string =>
  bound >= 0.001 ? String(Number(bound.toPrecision(1))) : bound.toExponential(0).replace('-', '−')

function rangeText(from: readonly number[], bin: number): string {
  const short = (bound: number) => String(Number(bound.toPrecision(2)))
  const next = from[bin + 1]
  return next === undefined ? `over ${short(elementAt(from, bin))}` : `${short(elementAt(from, bin))} to ${short(next)}`
}

const summary = (from: readonly number[], shares: readonly number[]): string =>
  shares.flatMap((share, bin) => (share > 0 ? [`${rangeText(from, bin)} ${percentText(share)}`] : [])).join(', ')
