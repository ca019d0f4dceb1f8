import { countText } from '#components/token-view/numbers.ts'

interface TurnsChartProps {
  /** Prompt length of each call in tokens, for both sides. */
  readonly lengths: readonly (readonly number[])[]
}

const WIDTH = 380
const HEIGHT = 130
const LEFT = 46
const BOTTOM = 18
const TOP = 8
const RIGHT = 8

/** Lines of the other side and the shown one; they differ in stroke too, not only in colour. */
const TURNS_LOOKS = [
  { ink: 'text-tool', dashes: '5 3' },
  { ink: 'text-accent', dashes: undefined },
] as const

/** The stroke of a side, for a legend. */
export function TurnsStroke({ side }: { readonly side: 0 | 1 }) {
  const { ink, dashes } = TURNS_LOOKS[side]
  return (
    <svg width={24} height={8} aria-hidden className={`inline-block align-middle ${ink}`}>
      <path d="M0 4H24" stroke="currentColor" strokeWidth={1.5} strokeDasharray={dashes} />
    </svg>
  )
}

/** Chart of the prompt lengths of both sides by call. A table beside it contains the same numbers. */
export function TurnsChart({ lengths }: TurnsChartProps) {
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
        const isOther = side === 0
        return (
          <g key={isOther ? 'other' : 'shown'} className={TURNS_LOOKS[side]?.ink}>
            <polyline
              points={line.map((tokens, call) => `${x(call)},${y(tokens)}`).join(' ')}
              fill="none"
              stroke="currentColor"
              strokeWidth={1.5}
              strokeDasharray={TURNS_LOOKS[side]?.dashes}
            />
            <circle cx={x(line.length - 1)} cy={y(last)} r={2.5} fill="currentColor" />
          </g>
        )
      })}
    </svg>
  )
}
