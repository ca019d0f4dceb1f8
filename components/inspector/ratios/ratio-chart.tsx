'use client'
import { useMemo, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { selectedToken, single } from '#components/token-view/selection.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { float64At, int32At } from '#lib/util/element-at.ts'
import { Button } from '../../ui/button.tsx'
import { responseBands } from '../charts/along-chart.tsx'
import { Plot } from '../charts/plot.tsx'
import { movingMean } from '../charts/series.ts'
import { TokenList } from '../charts/token-list.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { causeText, jumpText, ratioText } from './ratio-text.ts'
import type { Ratios } from './use-ratios.ts'

interface RatioChartProps extends InspectorPartProps {
  readonly ratios: Ratios
  readonly onLargest: () => void
  readonly onFirstJump: (() => void) | undefined
  /** Whether the chart is shown besides its main finding. */
  readonly isShown: boolean
  /** Folds and unfolds the chart with the columns and thresholds above it. Undefined: it cannot be folded. */
  readonly onFold: (() => void) | undefined
}

/** Tokens of the mean that the line shows. */
const WINDOW = 32
const OCTAVES = 3
const Y_TICKS = [
  { value: -3, text: '⅛' },
  { value: -1, text: '½' },
  { value: 0, text: '1' },
  { value: 1, text: '2' },
  { value: 3, text: '8' },
]
/** Largest number of rows of the table beside the chart. */
const MOST_ROWS = 200

/** Plots the ratios along the tokens on a logarithmic axis, with the thresholds as lines and the main finding above. */
export function RatioChart({ inspection, ratios, onLargest, onFirstJump, isShown, onFold }: RatioChartProps) {
  const { trajectory, view, onSelect } = inspection
  const { report, thresholds, outliers, jump } = ratios
  const [pointed, setPointed] = useState<number>()
  const [reset, setReset] = useState<() => void>()
  const { tokens, logRatios } = report
  const points = useMemo(
    () => ({ x: Float64Array.from(tokens), y: logRatios.map((value) => clamped(value / Math.LN2)) }),
    [tokens, logRatios],
  )
  const means = useMemo(() => movingMean(points.y, WINDOW), [points])
  const bands = useMemo(() => responseBands(trajectory.segments), [trajectory.segments])
  const placeOf = (token: number) => countWhile(tokens.length, (index) => int32At(tokens, index) < token)
  const rules = useMemo(
    () => [
      { y: 0, colour: '--line-strong', label: '', isDashed: false },
      { y: clamped(Math.log2(thresholds.low)), colour: '--bad', label: `IcePop ${thresholds.low}`, isDashed: true },
      { y: clamped(Math.log2(thresholds.high)), colour: '--bad', label: `IcePop ${thresholds.high}`, isDashed: true },
      {
        y: clamped(Math.log2(thresholds.cap)),
        colour: '--band-partly',
        label: `TIS cap ${thresholds.cap}`,
        isDashed: false,
      },
    ],
    [thresholds],
  )
  const highlights = useMemo(() => {
    const of = (fate: 'capped' | 'dropped') =>
      outliers.outliers.flatMap((outlier) =>
        outlier.fate === fate ? [countWhile(tokens.length, (index) => int32At(tokens, index) < outlier.token)] : [],
      )
    return [
      { indices: of('capped'), colour: '--band-partly' },
      { indices: of('dropped'), colour: '--bad' },
    ]
  }, [outliers, tokens])
  const selected = selectedToken(view.selection)
  const chosen = selected !== undefined && tokens[placeOf(selected)] === selected ? placeOf(selected) : undefined
  const finding = jump && jumpText(jump)
  const described = pointed ?? chosen
  return (
    <section aria-label="Ratio along the sequence" className="border-line border-b px-3.5 py-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
        <h2 className="font-semibold max-sm:hidden">Ratio along the sequence</h2>
        <span className="text-dim max-lg:hidden">trained tokens, logarithmic; line: mean of {WINDOW}</span>
        <span className="ml-auto flex gap-1.5 max-lg:ml-0">
          {onFold && (
            <Button className="min-h-7 text-xs" aria-expanded={isShown} onClick={onFold}>
              Chart
            </Button>
          )}
          {isShown && reset && (
            <Button className="min-h-7 text-xs" onClick={reset}>
              Reset zoom
            </Button>
          )}
          <Button className="min-h-7 text-xs" disabled={!onFirstJump} onClick={onFirstJump}>
            First jump <kbd>d</kbd>
          </Button>
          <Button className="min-h-7 text-xs" onClick={onLargest}>
            Largest <kbd>n</kbd>
          </Button>
        </span>
      </div>
      <p className="mt-1 min-h-4 text-xs" data-jump={jump?.token}>
        {finding ? (
          <>
            <strong className="font-semibold">{finding.finding}</strong>{' '}
            <span className="text-dim">{finding.numbers}</span>
          </>
        ) : (
          <span className="text-dim">No jump: all ratios are within the thresholds.</span>
        )}
        <span className="ml-3 text-dim tabular-nums">
          {described !== undefined &&
            `token ${countText(int32At(tokens, described))} · ratio ${ratioText(Math.exp(float64At(logRatios, described)))}`}
        </span>
      </p>
      {isShown && (
        <>
          <Plot
            label={`Importance ratio of ${countText(tokens.length)} trained tokens along the sequence${finding ? `; ${finding.finding}` : ''}`}
            x={{ label: '', min: 0, max: Math.max(1, tokenCount({ segments: trajectory.segments }) - 1) }}
            y={{ label: '', min: -OCTAVES - 0.15, max: OCTAVES + 0.15, ticks: Y_TICKS }}
            points={points}
            line={means}
            bands={bands}
            rules={rules}
            marker={jump?.token}
            highlights={highlights}
            zooms="x"
            chosen={chosen}
            height={150}
            onPoint={setPointed}
            onChoose={(index) => onSelect(single(int32At(tokens, index)), 'tokens')}
            onOpen={(index) => onSelect(single(int32At(tokens, index)), 'tokens')}
            onZoom={(way) => setReset(() => way)}
          />
          <div className="max-h-48 overflow-y-auto">
            <TokenList
              title={`Table of ${countText(outliers.outliers.length)} outliers${outliers.outliers.length > MOST_ROWS ? `, the first ${MOST_ROWS}` : ''}`}
              trajectory={trajectory}
              tokens={outliers.outliers.slice(0, MOST_ROWS).map(({ token, logRatio, fate, cause }) => ({
                token,
                numbers: [ratioText(Math.exp(logRatio)), fate, causeText(cause)],
              }))}
              columns={['ratio', 'correction', 'likely cause']}
              onSelect={onSelect}
            />
          </div>
        </>
      )}
    </section>
  )
}

const clamped = (octaves: number): number => Math.max(-OCTAVES, Math.min(OCTAVES, octaves))
