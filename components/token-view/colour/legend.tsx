import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { ExplainedName } from '#components/ui/facts.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { countText } from '../numbers.ts'
import type { Colouring } from './colouring.ts'
import { LimitHandle } from './limit-handle.tsx'
import type { CategoryMode, NumberMode } from './mode.ts'
import { NO_DATA } from './palette.ts'
import { type ColourScale, type NumberScale, valueAtDistance } from './scale.ts'

interface LegendProps {
  readonly colouring: Colouring
  /** `undefined` resets the end of the scale to p95. */
  readonly onLimit: (limit: number | undefined) => void
}

/** Shows what the colours mean, with counts or a scale. */
export function Legend({ colouring: { mode, scale, limit }, onLimit }: LegendProps) {
  if (mode.kind === 'number' && scale.kind === 'number')
    return <NumberLegend mode={mode} scale={scale} limit={limit} onLimit={onLimit} />
  if (mode.kind === 'category' && scale.kind === 'category') return <CategoryLegend mode={mode} scale={scale} />
  return null
}

const ROW = 'inline-flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-dim text-xs tabular-nums'

const P95 = '95 % of trained tokens are closer to the start of the scale'

interface NumberLegendProps {
  readonly mode: NumberMode
  readonly scale: NumberScale
  readonly limit: number
  readonly onLimit: LegendProps['onLimit']
}

function NumberLegend({ mode, scale, limit, onLimit }: NumberLegendProps) {
  const [isExplained, setIsExplained] = useState(false)
  const { axis, p95, unknown } = scale
  const isDiverging = axis.direction === 'diverging'
  const end = mode.text(valueAtDistance(axis, limit))
  const unit = mode.unit && ` ${mode.unit}`
  return (
    <span className={ROW} data-legend={mode.name} data-limit={valueAtDistance(axis, limit)}>
      <span title={mode.explanation}>
        <ExplainedName
          name={`${mode.quantity} ${mode.text(isDiverging ? valueAtDistance(axis, -limit) : axis.origin)}${isDiverging ? ' or less' : ''}`}
          isExplained={isExplained}
          onExplained={setIsExplained}
        />
      </span>
      {scale.known === 0 ? (
        <span className="text-faint">no value at any trained token</span>
      ) : (
        <>
          <LimitHandle
            scale={scale}
            limit={limit}
            text={`${end}${unit}`}
            onChange={(value) => onLimit(Number(value.toPrecision(4)))}
          />
          <span>
            {end} {axis.direction === 'falling' ? 'or less' : 'or more'}
            {unit}
          </span>
        </>
      )}
      {p95 !== null && (
        <span className="text-faint" title={P95}>
          p95 {isDiverging && (axis.isLogarithmic ? '×÷' : '±')}
          {mode.text(isDiverging && !axis.isLogarithmic ? p95 : valueAtDistance(axis, p95))}
        </span>
      )}
      {unknown > 0 && <Swatch colour={NO_DATA} label="no data" count={unknown} />}
      {mode.isApproximate && (
        <span className="text-faint" title={mode.explanation}>
          approximate: from the k best
        </span>
      )}
      {limit !== scale.limit && (
        <Button look="quiet" className="min-h-6 px-1.5 text-xs" onClick={() => onLimit(undefined)}>
          Reset scale
        </Button>
      )}
      {isExplained && (
        <span className="basis-full text-faint">
          {mode.explanation}.{p95 !== null && ` p95: ${P95}.`}
        </span>
      )}
    </span>
  )
}

/** Number of categories that are listed; a press lists the others too. */
const MOST_SWATCHES = 8

interface CategoryLegendProps {
  readonly mode: CategoryMode
  readonly scale: Extract<ColourScale, { kind: 'category' }>
}

function CategoryLegend({ mode: { name, categories, explanation }, scale: { counts, unknown } }: CategoryLegendProps) {
  const [isWhole, setIsWhole] = useState(false)
  const present = categories.flatMap((category, index) => {
    const count = counts[index] ?? 0
    return count > 0 ? [{ ...category, count }] : []
  })
  const others = present.length - MOST_SWATCHES
  return (
    <span className={ROW} title={explanation} data-legend={name}>
      {present.length === 0 && unknown === 0 && <span className="text-faint">none in this trajectory</span>}
      {present.slice(0, isWhole ? undefined : MOST_SWATCHES).map(({ label, colour, count }) => (
        <Swatch key={label} colour={colour} label={label} count={count} isMask={name === 'mask'} />
      ))}
      {others > 0 && (
        <ExplainedName
          name={isWhole ? 'fewer' : `and ${countText(others)} more`}
          isExplained={isWhole}
          onExplained={setIsWhole}
        />
      )}
      {unknown > 0 && <Swatch colour={NO_DATA} label="no data" count={unknown} />}
    </span>
  )
}

interface SwatchProps {
  readonly colour: string | undefined
  readonly label: string
  readonly count: number
  readonly isMask?: boolean
}

function Swatch({ colour, label, count, isMask = false }: SwatchProps) {
  return (
    <span className="inline-flex items-center gap-1.5">
      {isMask && colour !== undefined ? (
        <span className="legend-mask" aria-hidden />
      ) : (
        <svg width={12} height={12} aria-hidden>
          <rect x={0.5} y={0.5} width={11} height={11} rx={2} fill={colour ?? 'none'} className="stroke-line" />
        </svg>
      )}
      <span className="max-w-44 truncate">{visibleText(label)}</span>
      <span className="text-faint">· {countText(count)}</span>
    </span>
  )
}
