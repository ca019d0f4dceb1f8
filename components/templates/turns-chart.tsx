import { countText } from '../trajectory/numbers.ts'

interface TurnsChartProps {
  /** Tokens of each call, side by side. */
  readonly lengths: readonly (readonly number[])[]
  readonly names: readonly string[]
}

const WIDTH = 380
const HEIGHT = 130
const LEFT = 46
const BOTTOM = 18
const TOP = 8
const RIGHT = 46

/** How long each side's prompts become. The table beside it says the numbers. */
export function TurnsChart({ lengths, names }: TurnsChartProps) {
  const longest = Math.max(1, ...lengths.flat())
  const calls = Math.max(2, ...lengths.map((line) => line.length))
  const x = (call: number) => LEFT + (call / (calls - 1)) * (WIDTH - LEFT - RIGHT)
  const y = (tokens: number) => TOP + (1 - tokens / longest) * (HEIGHT - TOP - BOTTOM)
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="w-full max-w-md" role="img" aria-label="Prompt length by call">
      <path d={`M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}`} fill="none" stroke="var(--line)" />
      <text x={LEFT - 6} y={y(longest) + 4} textAnchor="end" className="fill-faint text-[11px]">
        {countText(longest)}
      </text>
      <text x={LEFT - 6} y={y(0)} textAnchor="end" className="fill-faint text-[11px]">
        0
      </text>
      <text x={LEFT} y={HEIGHT - 4} className="fill-faint text-[11px]">
        call 1
      </text>
      <text x={WIDTH - RIGHT} y={HEIGHT - 4} textAnchor="end" className="fill-faint text-[11px]">
        {countText(calls)}
      </text>
      {lengths.map((line, side) => {
        const last = line.at(-1)
        if (last === undefined) return null
        // Told by the stroke as well as by the colour.
        const isOther = side === 0
        return (
          <g key={names[side]} className={isOther ? 'text-tool' : 'text-accent'}>
            <polyline
              points={line.map((tokens, call) => `${x(call)},${y(tokens)}`).join(' ')}
              fill="none"
              stroke="currentColor"
              strokeWidth={1.5}
              strokeDasharray={isOther ? '5 3' : undefined}
            />
            <circle cx={x(line.length - 1)} cy={y(last)} r={2.5} fill="currentColor" />
          </g>
        )
      })}
      {labelPlaces(lengths.map((line) => (line.length > 0 ? y(line.at(-1) as number) : undefined))).map(
        (place, side) =>
          place !== undefined && (
            <text
              key={names[side]}
              x={WIDTH - RIGHT + 8}
              y={place + 4}
              className={`text-[11px] ${side === 0 ? 'fill-tool' : 'fill-accent'}`}
            >
              {names[side]}
            </text>
          ),
      )}
    </svg>
  )
}

const LABEL_HEIGHT = 13

/** Labels of lines that end at nearly the same height are moved apart. */
function labelPlaces(ends: readonly (number | undefined)[]): readonly (number | undefined)[] {
  const [first, second] = ends
  if (first === undefined || second === undefined || Math.abs(first - second) >= LABEL_HEIGHT) return ends
  const middle = (first + second) / 2
  const half = LABEL_HEIGHT / 2
  return first <= second ? [middle - half, middle + half] : [middle + half, middle - half]
}
