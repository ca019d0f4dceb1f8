'use client'
/** The histogram of the rewards or lengths of a group, with a range that selects samples. */
import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { rewardColour } from '../colour.ts'
import {
  type Brush,
  type BrushQuantity,
  movedBrush,
  type SampleHistogram,
  sampleHistogram,
  samplesInBrush,
} from './brush.ts'

interface RewardHistogramProps {
  readonly forest: GroupForest
  readonly by: BrushQuantity
  readonly onBy: (by: BrushQuantity) => void
  readonly brush: Brush | undefined
  readonly onBrush: (brush: Brush | undefined) => void
}

const WIDTH = 252
const HEIGHT = 92
const BASE = 72
const TOP = 18

/** Shows the histogram. Its two handles select the samples between them, by pointer or by arrow keys. */
export function RewardHistogram({ forest, by, onBy, brush, onBrush }: RewardHistogramProps) {
  const histogram = sampleHistogram(forest.samples, by, forest.rewards?.range)
  const shownBrush = brush?.by === by ? brush : undefined
  const chosen = samplesInBrush(forest.samples, brush)
  return (
    <section aria-label="Histogram" className="mb-4">
      <div className="mb-1.5 flex items-center justify-between gap-2 [&>h2]:m-0">
        <Heading>{by === 'reward' ? 'Reward' : 'Length'}</Heading>
        <span className="text-xs">
          <Segmented<BrushQuantity>
            label="Histogram of"
            value={by}
            onChange={onBy}
            options={[
              { value: 'reward', text: 'reward' },
              { value: 'length', text: 'length' },
            ]}
          />
        </span>
      </div>
      {histogram ? (
        <Bars histogram={histogram} by={by} brush={shownBrush} onBrush={onBrush} />
      ) : (
        <p className="py-3 text-faint text-xs">No sample has a reward.</p>
      )}
      <p className="mt-1 flex min-h-6 flex-wrap items-center justify-between gap-x-2 text-faint text-xs" role="status">
        {chosen
          ? `${countText(chosen.size)} of ${countWithNoun(forest.samples.length, 'sample')} selected.`
          : `All ${countWithNoun(forest.samples.length, 'sample')} selected. Drag the edges to select some.`}
        {chosen && (
          <button
            type="button"
            className="min-h-6 font-medium text-accent hover:underline"
            onClick={() => onBrush(undefined)}
          >
            Select all
          </button>
        )}
      </p>
    </section>
  )
}

interface BarsProps {
  readonly histogram: SampleHistogram
  readonly by: BrushQuantity
  readonly brush: Brush | undefined
  readonly onBrush: (brush: Brush | undefined) => void
}

function Bars({ histogram, by, brush, onBrush }: BarsProps) {
  const box = useRef<HTMLDivElement>(null)
  const drag = useRef<{ readonly from: number; readonly handle: 'low' | 'high' | undefined }>(undefined)
  const { low, high, bins, mean } = histogram
  const most = Math.max(1, ...bins.map(({ count }) => count))
  const barWidth = WIDTH / bins.length
  const x = (value: number) => (high > low ? ((value - low) / (high - low)) * WIDTH : WIDTH / 2)
  const range: Brush = brush ?? { by, low, high }
  const ends = { low: high > low ? x(range.low) : 0, high: high > low ? x(range.high) : WIDTH }
  const valueAt = ({ clientX }: PointerEvent) => {
    const bounds = box.current?.getBoundingClientRect()
    if (!bounds || bounds.width === 0) return low
    return low + Math.max(0, Math.min(1, (clientX - bounds.left) / bounds.width)) * (high - low)
  }
  const text = (value: number) => (by === 'reward' ? rewardText(value) : countText(Math.round(value)))
  const fitting = (value: number) => (by === 'reward' ? Number(value.toPrecision(4)) : Math.round(value))
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0 || high <= low) return
    const handle = (event.target as HTMLElement).dataset.handle as 'low' | 'high' | undefined
    event.currentTarget.setPointerCapture?.(event.pointerId)
    drag.current = { from: valueAt(event), handle }
  }
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!drag.current) return
    const { from, handle } = drag.current
    const to = valueAt(event)
    if (handle) onBrush(movedBrush(histogram, range, handle, fitting(to)))
    else if (Math.abs(to - from) > (high - low) / 50)
      onBrush({ by, low: fitting(Math.min(from, to)), high: fitting(Math.max(from, to)) })
  }
  const end = () => {
    drag.current = undefined
  }
  return (
    <div
      ref={box}
      className="relative w-full cursor-crosshair touch-none"
      style={{ aspectRatio: `${WIDTH} / ${HEIGHT}` }}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={end}
      onPointerCancel={end}
    >
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className="block w-full"
        role="img"
        aria-label={histogramSentence(histogram, by, text)}
      >
        <line x1={0} x2={WIDTH} y1={BASE + 0.5} y2={BASE + 0.5} stroke="var(--line)" />
        {bins.map(({ from, to, count }, index) => {
          const height = count === 0 ? 0 : Math.max(3, (count / most) * (BASE - TOP))
          const isOut = to < range.low || from > range.high
          return (
            <g key={from} opacity={isOut ? 0.35 : 1}>
              <rect
                x={index * barWidth + 2}
                y={BASE - height}
                width={Math.max(1, barWidth - 4)}
                height={height}
                rx={1.5}
                fill={(by === 'reward' ? rewardColour((from + to) / 2, low, high) : undefined) ?? 'var(--line-strong)'}
                stroke="var(--line-strong)"
                strokeWidth={0.5}
              >
                <title>{`${text(from)} to ${text(to)}: ${countWithNoun(count, 'sample')}`}</title>
              </rect>
              {count > 0 && (
                <text
                  x={(index + 0.5) * barWidth}
                  y={BASE - height - 3}
                  textAnchor="middle"
                  className="fill-ink text-[10px]"
                >
                  {count}
                </text>
              )}
            </g>
          )
        })}
        <line x1={x(mean)} x2={x(mean)} y1={4} y2={BASE} stroke="var(--ink)" strokeDasharray="2 2" />
        <rect
          x={ends.low + 0.5}
          y={4}
          width={Math.max(1, ends.high - ends.low - 1)}
          height={BASE - 4}
          fill="none"
          stroke="var(--accent)"
          rx={2}
        />
        <g className="fill-dim text-[11px]">
          <text x={0} y={88}>
            {text(low)}
          </text>
          <text x={Math.max(66, Math.min(WIDTH - 66, x(mean)))} y={88} textAnchor="middle">
            mean {by === 'reward' ? rewardText(mean) : countText(Math.round(mean))}
          </text>
          {high > low && (
            <text x={WIDTH} y={88} textAnchor="end">
              {text(high)}
            </text>
          )}
        </g>
      </svg>
      {high > low &&
        (['low', 'high'] as const).map((handle) => (
          <Handle
            key={handle}
            handle={handle}
            left={(ends[handle] / WIDTH) * 100}
            label={`${handle === 'low' ? 'Lowest' : 'Highest'} selected ${by}`}
            value={range[handle]}
            text={text(range[handle])}
            histogram={histogram}
            onMove={(to) => onBrush(movedBrush(histogram, range, handle, fitting(to)))}
          />
        ))}
    </div>
  )
}

interface HandleProps {
  readonly handle: 'low' | 'high'
  /** Position in percent of the width. */
  readonly left: number
  readonly label: string
  readonly value: number
  readonly text: string
  readonly histogram: SampleHistogram
  readonly onMove: (to: number) => void
}

/** Moves of a handle by key, in bins. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -3,
  PageUp: 3,
}

function Handle({ handle, left, label, value, text, histogram: { low, high, bins }, onMove }: HandleProps) {
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    const to =
      step !== undefined
        ? value + (step * (high - low)) / bins.length
        : event.key === 'Home'
          ? low
          : event.key === 'End'
            ? high
            : undefined
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    onMove(to)
  }
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={low}
      aria-valuemax={high}
      aria-valuenow={value}
      aria-valuetext={text}
      data-handle={handle}
      onKeyDown={press}
      style={{ left: `${left}%` }}
      className="absolute top-[24%] h-[30%] w-6 -translate-x-1/2 cursor-ew-resize touch-none before:pointer-events-none before:absolute before:inset-y-0 before:left-1/2 before:w-1 before:-translate-x-1/2 before:rounded-sm before:bg-accent"
    />
  )
}

function histogramSentence(
  { bins, unknown }: SampleHistogram,
  by: BrushQuantity,
  text: (value: number) => string,
): string {
  const parts = bins.flatMap(({ from, to, count }) =>
    count > 0 ? [`${countWithNoun(count, 'sample')} from ${text(from)} to ${text(to)}`] : [],
  )
  return `Histogram of ${by}s: ${[...parts, ...(unknown > 0 ? [`${countText(unknown)} without`] : [])].join(', ')}`
}
