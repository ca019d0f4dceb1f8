import { cool, HEAT_LEVELS, heat } from './palette.ts'
import { distance, type NumberScale, valueAtDistance } from './scale.ts'

interface LimitHandleProps {
  readonly scale: NumberScale
  /** Distance from the origin at which the colours end. */
  readonly limit: number
  /** Value that a screen reader reads, such as `2.5 nats`. */
  readonly text: string
  readonly onChange: (value: number) => void
}

const WIDTH = 132
const HEIGHT = 10
const LEVELS = Array.from({ length: HEAT_LEVELS }, (_, index) => index + 1)

/** Draws the colours of a scale from its origin and a mark at p95. The handle sets the value at which the last colour begins. */
export function LimitHandle({ scale, limit, text, onChange }: LimitHandleProps) {
  const { axis, p95 } = scale
  const isDiverging = axis.direction === 'diverging'
  const width = isDiverging ? WIDTH / 2 : WIDTH
  const end = endOf(scale, limit)
  const step = Number((scale.limit / 20).toPrecision(2))
  const steps = { width, from: (level: number) => ((limit * level) / HEAT_LEVELS / end) * width }
  return (
    <span className="inline-flex items-center">
      {isDiverging && <Steps {...steps} colour={cool} className="-scale-x-100" />}
      <span className="relative">
        <Steps {...steps} colour={heat} mark={p95 === null ? undefined : (p95 / end) * width} />
        <input
          type="range"
          className="limit-handle"
          aria-label="End of the colour scale"
          aria-valuetext={text}
          title="Drag, or use the arrow keys, to move the end of the scale. The line is p95 of trained tokens."
          min={0}
          max={end}
          step={step}
          value={limit}
          onChange={({ target }) => onChange(valueAtDistance(axis, Math.max(step, target.valueAsNumber)))}
        />
      </span>
    </span>
  )
}

/** Returns the length of the axis. Values far beyond the scale take no room, since all of them have the last colour. */
function endOf({ axis, limit: usual, min, max }: NumberScale, limit: number): number {
  const farthest = Math.max(distance(axis, max), distance(axis, min))
  return Math.max(limit, Math.min(axis.reach, Math.max(1.5 * usual, Math.min(2.5 * usual, farthest))))
}

interface StepsProps {
  readonly width: number
  /** Returns the position at which a level begins, in pixels. */
  readonly from: (level: number) => number
  readonly colour: (level: number) => string
  readonly mark?: number | undefined
  readonly className?: string
}

function Steps({ width, from, colour, mark, className = '' }: StepsProps) {
  return (
    <svg width={width} height={HEIGHT} className={`block ${className}`} aria-hidden>
      {LEVELS.map((level) => {
        const to = level === HEAT_LEVELS ? width : from(level + 1)
        return (
          <rect
            key={level}
            x={from(level)}
            width={Math.max(0, to - from(level))}
            height={HEIGHT}
            fill={colour(level)}
          />
        )
      })}
      {mark !== undefined && <rect x={mark - 0.5} width={1} height={HEIGHT} className="fill-dim" />}
    </svg>
  )
}
