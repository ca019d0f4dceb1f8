'use client'
import { type KeyboardEvent, type PointerEvent, useId, useRef } from 'react'
import { cool, HEAT_LEVELS, heat } from '#components/token-view/colour/palette.ts'
import { countText } from '#components/token-view/numbers.ts'
import { type ThresholdName, thresholdBounds } from '#lib/analysis/ratios/thresholds.ts'
import { Button } from '../../ui/button.tsx'
import type { Inspection } from '../inspection.ts'
import type { Ratios } from './use-ratios.ts'

/** Octaves from 1 to each end of the ramp, and its size in the units of the drawing. */
const OCTAVES = 3
const WIDTH = 400
const TICKS = ['⅛', '¼', '½', '1', '2', '4', '8']
const STOPS = [
  ...[8, 6, 4, 2].map((level) => cool(level)),
  'var(--ground)',
  ...[2, 4, 6, 8].map((level) => heat(Math.min(level, HEAT_LEVELS))),
]

interface RatioLegendProps {
  readonly ratios: Ratios
  readonly onView: Inspection['onView']
}

/** Shows the ramp of the ratio with the thresholds as handles, and how many tokens they change. */
export function RatioLegend({ ratios: { thresholds, effect, onThreshold }, onView }: RatioLegendProps) {
  const drawing = useRef<SVGSVGElement>(null)
  const ramp = useId()
  const ratioAt = (clientX: number): number => {
    const box = drawing.current?.getBoundingClientRect()
    if (!box || box.width === 0) return 1
    // The drawing begins 10 units before the ramp, and is 420 units wide.
    const x = ((clientX - box.left) / box.width) * (WIDTH + 20) - 10
    return 2 ** ((x / WIDTH) * 2 * OCTAVES - OCTAVES)
  }
  const handle = (name: 'low' | 'high' | 'cap', label: string, colour: string) => (
    <Handle
      name={name}
      label={label}
      value={thresholds[name]}
      colour={colour}
      isCrowded={isCrowded(thresholds, name)}
      ratioAt={ratioAt}
      onChange={(value) => onThreshold(name, value)}
    />
  )
  return (
    <div
      className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1 text-xs tabular-nums"
      data-legend="ratio"
      data-capped={effect.capped}
      data-dropped={effect.dropped}
    >
      <svg
        ref={drawing}
        viewBox={`-10 0 ${WIDTH + 20} 48`}
        className="w-[420px] min-w-0 max-w-full touch-none select-none overflow-visible"
      >
        <title>Thresholds on the scale of the importance ratio</title>
        <defs>
          <linearGradient id={ramp}>
            {STOPS.map((colour, index) => (
              <stop key={colour} offset={index / (STOPS.length - 1)} stopColor={colour} />
            ))}
          </linearGradient>
        </defs>
        <rect y={19} width={WIDTH} height={12} rx={2} fill={`url(#${ramp})`} className="stroke-line" />
        {TICKS.map((text, index) => (
          <text
            key={text}
            x={(index / (TICKS.length - 1)) * WIDTH}
            y={46}
            textAnchor="middle"
            className="fill-dim text-[11px]"
          >
            {text}
          </text>
        ))}
        {handle('low', 'IcePop', 'var(--bad)')}
        {handle('cap', 'TIS', 'var(--warn)')}
        {handle('high', 'IcePop', 'var(--bad)')}
      </svg>
      <p role="status" className="grid text-dim max-sm:flex max-sm:gap-3">
        <span>
          <strong className="font-semibold text-warn">{countText(effect.capped)}</strong> capped
        </span>
        <span>
          <strong className="font-semibold text-bad">{countText(effect.dropped)}</strong> dropped
        </span>
      </p>
      {thresholds.low !== 0.5 || thresholds.high !== 5 || thresholds.cap !== 2 ? (
        <Button look="quiet" className="min-h-6 px-1.5 text-xs" onClick={() => onView({ clip: undefined })}>
          Reset thresholds
        </Button>
      ) : null}
    </div>
  )
}

const placeOf = (ratio: number): number =>
  Math.max(0, Math.min(WIDTH, ((Math.log2(ratio) + OCTAVES) / (2 * OCTAVES)) * WIDTH))

/** Distance between two handles below which their labels would overlap. */
const LABEL_WIDTH = 72

/** Returns on which side another handle is too near for a centred label; undefined: none is. */
function isCrowded(thresholds: Ratios['thresholds'], name: 'low' | 'high' | 'cap'): 'left' | 'right' | undefined {
  const own = placeOf(thresholds[name])
  for (const other of ['low', 'cap', 'high'] as const) {
    if (other === name || Math.abs(placeOf(thresholds[other]) - own) >= LABEL_WIDTH) continue
    const isLeft = placeOf(thresholds[other]) < own || (thresholds[other] === thresholds[name] && other < name)
    return isLeft ? 'left' : 'right'
  }
  return undefined
}

interface HandleProps {
  readonly name: ThresholdName
  readonly label: string
  readonly value: number
  readonly colour: string
  readonly isCrowded: 'left' | 'right' | undefined
  /** Returns the ratio at a position of the pointer. */
  readonly ratioAt: (clientX: number) => number
  readonly onChange: (value: number) => void
}

/** Step of an arrow key, and of the page keys. */
const STEP = 0.1
const PAGE = 0.5

function Handle({ name, label, value, colour, isCrowded: crowded, ratioAt, onChange }: HandleProps) {
  const [least, most] = thresholdBounds(name)
  const onKeyDown = (event: KeyboardEvent) => {
    const next: Readonly<Record<string, number>> = {
      ArrowRight: value + STEP,
      ArrowUp: value + STEP,
      ArrowLeft: value - STEP,
      ArrowDown: value - STEP,
      PageUp: value + PAGE,
      PageDown: value - PAGE,
      Home: least,
      End: most,
    }
    const chosen = next[event.key]
    if (chosen === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onChange(chosen)
  }
  const onDrag = ({ currentTarget, pointerId, clientX }: PointerEvent) => {
    if (currentTarget.hasPointerCapture(pointerId)) onChange(ratioAt(clientX))
  }
  const anchor = crowded === 'left' ? 'start' : crowded === 'right' ? 'end' : 'middle'
  return (
    <g
      role="slider"
      tabIndex={0}
      aria-label={name === 'cap' ? 'TIS cap' : name === 'low' ? 'IcePop, lower bound' : 'IcePop, upper bound'}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={value}
      aria-valuetext={`ratio ${value.toFixed(2)}`}
      transform={`translate(${placeOf(value)} 0)`}
      className="group cursor-ew-resize outline-none"
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        event.currentTarget.focus()
      }}
      onPointerMove={onDrag}
    >
      <text
        x={anchor === 'start' ? -4 : anchor === 'end' ? 4 : 0}
        y={11}
        textAnchor={anchor}
        fill={colour}
        className="font-semibold text-[11px]"
      >
        {label} {value.toFixed(value * 10 === Math.round(value * 10) ? 1 : 2)}
      </text>
      <rect x={-12} y={14} width={24} height={22} fill="transparent" />
      <line y1={15} y2={35} stroke={colour} strokeWidth={2} />
      <rect x={-5} y={18} width={10} height={14} rx={3} fill="var(--ground)" stroke={colour} strokeWidth={1.75} />
      <rect
        x={-9}
        y={13}
        width={18}
        height={24}
        rx={4}
        fill="none"
        stroke="var(--ink)"
        strokeWidth={2}
        className="opacity-0 group-focus-visible:opacity-100"
      />
    </g>
  )
}
