'use client'
import { useMemo, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { selectedToken, single } from '#components/token-view/selection.ts'
import { Button } from '#components/ui/button.tsx'
import type { ValueEstimate } from '#lib/api/forest/value.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { responseBands } from '../charts/along-chart.tsx'
import { Plot } from '../charts/plot.tsx'
import { TokenList } from '../charts/token-list.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { answersText, intervalText, pointText } from './value-text.ts'

interface ValueChartProps extends InspectorPartProps {
  readonly estimate: ValueEstimate
}

/** Draws the mean reward at each position along the tokens, and lists the same numbers. */
export function ValueChart({ inspection, estimate }: ValueChartProps) {
  const { trajectory, view, onSelect } = inspection
  const { points, cliff, n } = estimate
  const [pointed, setPointed] = useState<number>()
  const [reset, setReset] = useState<() => void>()
  const known = useMemo(
    () => points.flatMap((point) => (point.value ? [{ ...point, value: point.value }] : [])),
    [points],
  )
  const data = useMemo(
    () => ({
      x: Float64Array.from(known, ({ at }) => at),
      y: Float64Array.from(known, ({ value }) => value.mean),
    }),
    [known],
  )
  const drop = cliff ? known.findIndex(({ at }) => at === cliff.from) : undefined
  const curve = useMemo(
    () => ({
      low: Float64Array.from(known, ({ value }) => value.low),
      high: Float64Array.from(known, ({ value }) => value.high),
      drop,
    }),
    [known, drop],
  )
  const highlights = useMemo(
    () => [
      { indices: known.map((_, index) => index), colour: '--accent' },
      { indices: drop === undefined ? [] : [drop, drop + 1], colour: '--bad' },
    ],
    [known, drop],
  )
  const bands = useMemo(() => responseBands(trajectory.segments), [trajectory.segments])
  const selected = selectedToken(view.selection)
  const chosen = known.findIndex(({ at }) => at === selected)
  const described = known[pointed ?? chosen]
  const last = Math.max(1, tokenCount(trajectory) - 1)
  return (
    <>
      {known.length > 0 && (
        <Plot
          label={`Mean reward of ${n} samples at ${countText(known.length)} tokens. The table below has the numbers.`}
          x={{ label: '', min: 0, max: last }}
          y={{ label: '', min: -0.06, max: 1.06, ticks: REWARDS }}
          points={data}
          curve={curve}
          highlights={highlights}
          bands={bands}
          zooms="x"
          chosen={chosen < 0 ? undefined : chosen}
          height={132}
          onPoint={setPointed}
          onChoose={(index) => onSelect(single(elementAt(known, index).at))}
          onOpen={(index) => onSelect(single(elementAt(known, index).at), 'tokens')}
          onZoom={(way) => setReset(() => way)}
        />
      )}
      <div className="flex min-h-6 flex-wrap items-center gap-x-2 text-dim text-xs tabular-nums">
        <span className="min-w-0 flex-1" data-value-point={described?.at}>
          {described ? pointText(trajectory, described) : 'Click a point to pin its token; drag to zoom.'}
        </span>
        {reset && (
          <Button className="min-h-6 text-xs" onClick={reset}>
            Reset zoom
          </Button>
        )}
      </div>
      <TokenList
        title={`All ${countText(points.length)} positions as a table`}
        trajectory={trajectory}
        columns={['mean reward', 'interval', 'samples', 'answers', 'tokens', 'tool calls']}
        tokens={points.map((point) => ({
          token: point.at,
          numbers: [
            point.value ? point.value.mean.toFixed(2) : '—',
            point.value ? intervalText(point.value) : '—',
            `${point.rewarded} of ${n}`,
            answersText(point),
            point.spread ? countText(Math.round(point.spread.sampledTokens.mean)) : '—',
            point.spread ? point.spread.toolCalls.mean.toFixed(1) : '—',
          ],
        }))}
        onSelect={onSelect}
      />
    </>
  )
}

const REWARDS = [
  { value: 0, text: '0' },
  { value: 0.5, text: '0.5' },
  { value: 1, text: '1' },
]
