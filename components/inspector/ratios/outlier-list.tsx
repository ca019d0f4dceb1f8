'use client'
import { useMemo, useState } from 'react'
import { cool, HEAT_LEVELS, heat } from '#components/token-view/colour/palette.ts'
import { countText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { CAUSE_TITLES, type CauseName } from '#lib/analysis/ratios/causes.ts'
import { type Outlier, type OutlierRange, outlierRanges } from '#lib/analysis/ratios/outliers.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ratioText } from './ratio-text.ts'
import type { Ratios } from './use-ratios.ts'

interface OutlierListProps {
  readonly trajectory: TrajectoryView
  readonly ratios: Ratios
  readonly selected: number | undefined
  readonly onChoose: (token: number) => void
}

/** Rows that are drawn at first, and with each further click. */
const PAGE = 50

/** Lists the tokens that a correction changes, the farthest from 1 first. The chips filter by cause. */
export function OutlierList({ trajectory, ratios: { outliers: all }, selected, onChoose }: OutlierListProps) {
  const [chosen, setChosen] = useState<CauseName>()
  const [rows, setRows] = useState(PAGE)
  const { outliers, causes } = all
  const cause = causes.some(({ name }) => name === chosen) ? chosen : undefined
  const ranges = useMemo(
    () => outlierRanges(cause === undefined ? outliers : outliers.filter((outlier) => outlier.cause.name === cause)),
    [outliers, cause],
  )
  const chip = (name: CauseName | undefined, text: string, count: number) => (
    <button
      key={text}
      type="button"
      aria-pressed={cause === name}
      onClick={() => setChosen(name)}
      className="min-h-6 rounded-full border border-line px-2 text-dim hover:border-line-strong aria-pressed:border-ink aria-pressed:bg-ink aria-pressed:text-ground"
    >
      {text} {countText(count)}
    </button>
  )
  return (
    <section aria-label="Outliers" className="mb-5 text-xs">
      <h2 className="mb-2 flex justify-between font-semibold text-dim">
        Outliers <span className="font-normal">by |log ratio|</span>
      </h2>
      {outliers.length === 0 ? (
        <p className="text-faint">No token is outside of the thresholds.</p>
      ) : (
        <>
          <div className="mb-1.5 flex flex-wrap gap-1">
            {chip(undefined, 'all', outliers.length)}
            {causes.map(({ name, count }) => chip(name, CAUSE_TITLES[name], count))}
          </div>
          <ol className="-mx-2 max-h-[44vh] overflow-y-auto">
            {ranges.slice(0, rows).map((range) => (
              <RangeRow key={range.farthest.token} {...{ trajectory, range, selected, onChoose }} />
            ))}
          </ol>
          {ranges.length > rows && (
            <button type="button" className="mt-1 text-accent hover:underline" onClick={() => setRows(rows + PAGE)}>
              Show {countText(Math.min(PAGE, ranges.length - rows))} more of {countText(ranges.length - rows)}
            </button>
          )}
        </>
      )}
    </section>
  )
}

interface RangeRowProps extends Pick<OutlierListProps, 'trajectory' | 'selected' | 'onChoose'> {
  readonly range: OutlierRange
}

/** Shows the farthest outlier of a range. The others are folded; a selected one is visible. */
function RangeRow({ trajectory, range: { farthest, others, first, last }, selected, onChoose }: RangeRowProps) {
  const [isUnfolded, setIsUnfolded] = useState(false)
  const row = (outlier: Outlier) => (
    <OutlierRow trajectory={trajectory} outlier={outlier} isSelected={outlier.token === selected} onChoose={onChoose} />
  )
  const visible = others.filter(({ token }) => isUnfolded || token === selected)
  return (
    <li className="border-line border-b">
      {row(farthest)}
      {others.length > 0 && (
        <button
          type="button"
          aria-expanded={isUnfolded}
          onClick={() => setIsUnfolded(!isUnfolded)}
          className="mb-1 ml-[3.7rem] min-h-6 px-2 text-accent hover:underline"
        >
          {isUnfolded ? '▾' : '▸'} {countText(others.length)} more in {countText(first)}–{countText(last)}
        </button>
      )}
      {visible.length > 0 && (
        <ol className="ml-3 border-line border-l">
          {visible.map((outlier) => (
            <li key={outlier.token}>{row(outlier)}</li>
          ))}
        </ol>
      )}
    </li>
  )
}

interface OutlierRowProps {
  readonly trajectory: TrajectoryView
  readonly outlier: Outlier
  readonly isSelected: boolean
  readonly onChoose: (token: number) => void
}

function OutlierRow({ trajectory, outlier, isSelected, onChoose }: OutlierRowProps) {
  const { token, logRatio, fate, cause } = outlier
  const id = tokenAt(trajectory, token)?.id
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      onClick={() => onChoose(token)}
      className="grid w-full grid-cols-[3.2rem_minmax(0,1fr)_auto_3.4rem] items-baseline gap-x-2 rounded px-2 py-1 text-left tabular-nums hover:bg-accent-soft aria-pressed:bg-accent-soft"
    >
      <span className="text-dim">{countText(token)}</span>
      <span className="truncate font-mono">{id !== undefined && <MarkedPiece id={id} vocab={trajectory.vocab} />}</span>
      <span className="min-w-11 rounded px-1 text-right text-ink" style={{ background: colourOf(logRatio) }}>
        {ratioText(Math.exp(logRatio))}
      </span>
      <span className={`text-right ${fate === 'dropped' ? 'text-bad' : 'text-warn'}`}>{fate}</span>
      <span
        className={`col-span-3 col-start-2 text-dim ${isSelected ? '[overflow-wrap:anywhere]' : 'truncate'}`}
        title={cause.detail}
      >
        <strong className="font-semibold text-ink">{CAUSE_TITLES[cause.name]}</strong>{' '}
        {cause.name !== 'none' && cause.detail}
      </span>
    </button>
  )
}

/** Returns the colour of a ratio, as the tokens have it: the last one at 8 and ⅛. */
function colourOf(logRatio: number): string | undefined {
  const level = Math.min(HEAT_LEVELS, Math.floor((Math.abs(logRatio) / Math.log(8)) * HEAT_LEVELS))
  if (level === 0) return undefined
  return logRatio > 0 ? heat(level) : cool(level)
}
