'use client'
import { useMemo, useState } from 'react'
import { extentOf } from '#components/token-view/colour/scale.ts'
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { isSingle, single } from '#components/token-view/selection.ts'
import { Select } from '#components/ui/field.tsx'
import { segmentIndexAt, segmentStarts, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, float64At } from '#lib/util/element-at.ts'
import { Button } from '../../ui/button.tsx'
import { Heading } from '../../ui/facts.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { padExtent } from './extent.ts'
import { Plot } from './plot.tsx'
import { largestIndices, movingMean, quantities, quantityOf, seriesNamed, type TokenSeries } from './series.ts'
import { TokenList } from './token-list.tsx'

const WINDOWS = [16, 64, 256, 1024] as const
const WORST = 8

/** Plots a number of every trained token along the trajectory: the number of the colour mode, or logprobs if it has none. */
export function AlongChart({ inspection }: InspectorPartProps) {
  const { trajectory, colouring, view, onView, onSelect } = inspection
  const name = quantityOf(colouring.mode)
  const series = seriesNamed(trajectory, name)
  const [window, setWindow] = useState<number>(64)
  const [pointed, setPointed] = useState<number>()
  const [reset, setReset] = useState<() => void>()
  const points = useMemo(() => ({ x: series.tokens, y: series.values }), [series])
  const means = useMemo(() => movingMean(series.values, window), [series, window])
  const range = useMemo(() => extentOf(series.values), [series])
  const bands = useMemo(() => responseBands(trajectory.segments), [trajectory.segments])
  const chosen = view.selection && isSingle(view.selection) ? placeOf(series.tokens, view.selection.focus) : undefined
  const described = pointed ?? chosen
  const tokenOf = (index: number) => float64At(series.tokens, index)
  return (
    <section aria-label="Along the trajectory">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 [&>h2]:m-0">
        <Heading>Along the trajectory</Heading>
        <label className="flex items-center gap-1.5 text-dim text-xs">
          number
          <Select
            className="text-ink"
            value={name}
            onChange={({ target }) => onView({ colour: target.value, limit: undefined })}
          >
            {quantities(trajectory).map((quantity) => (
              <option key={quantity.name} value={quantity.name}>
                {quantity.title}
              </option>
            ))}
          </Select>
        </label>
        <label className="flex items-center gap-1.5 text-dim text-xs">
          moving mean over
          <Select className="text-ink" value={window} onChange={({ target }) => setWindow(Number(target.value))}>
            {WINDOWS.map((size) => (
              <option key={size} value={size}>
                {countText(size)} trained tokens
              </option>
            ))}
          </Select>
        </label>
        {reset && (
          <Button className="min-h-7 text-xs" onClick={reset}>
            Reset zoom
          </Button>
        )}
        {/* This line has a fixed height, so that the plot does not move between the clicks of a double click. */}
        <div className="flex min-h-8 basis-full items-center text-dim text-xs tabular-nums">
          <span className="truncate">
            {described === undefined ? 'drag to zoom, click a point' : pointText(trajectory, series, described)}
          </span>
          {chosen !== undefined && (
            <Button className="ml-2 shrink-0 text-xs" onClick={() => onSelect(single(tokenOf(chosen)), 'tokens')}>
              Show in Tokens
            </Button>
          )}
        </div>
      </div>
      {series.values.length === 0 ? (
        <p className="py-6 text-faint">No trained token has a {series.title}: nothing to draw.</p>
      ) : (
        <>
          <Plot
            label={`${series.title} of ${countText(series.values.length)} trained tokens along the trajectory, ${numberText(range.min)} to ${numberText(range.max)}`}
            x={{ label: 'token', min: 0, max: Math.max(1, tokenCount({ segments: trajectory.segments }) - 1) }}
            y={{ label: series.unit ? `${series.title}, ${series.unit}` : series.title, ...padExtent(range) }}
            points={points}
            line={means}
            bands={bands}
            zooms="x"
            chosen={chosen}
            height={260}
            onPoint={setPointed}
            onChoose={(index) => onSelect(single(tokenOf(index)))}
            onOpen={(index) => onSelect(single(tokenOf(index)), 'tokens')}
            onZoom={(way) => setReset(() => way)}
          />
          <p className="text-faint text-xs">
            Trained tokens only; shaded: responses; the line is the moving mean.
            {series.unknown > 0 && ` ${countText(series.unknown)} trained tokens have no value.`}
          </p>
          <TokenList
            title={`Farthest from the mean, ${WORST}`}
            trajectory={trajectory}
            tokens={farthest(series).map((index) => ({
              token: tokenOf(index),
              numbers: [numberText(float64At(series.values, index))],
            }))}
            columns={[series.title]}
            onSelect={onSelect}
          />
        </>
      )}
    </section>
  )
}

function farthest({ values }: TokenSeries): readonly number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return largestIndices(values.length, WORST, (index) => Math.abs(float64At(values, index) - mean))
}

function pointText({ segments, vocab }: TrajectoryView, { tokens, values, title }: TokenSeries, index: number): string {
  const token = float64At(tokens, index)
  const starts = segmentStarts({ segments })
  const segmentIndex = segmentIndexAt(starts, token)
  const id = segments[segmentIndex]?.ids[token - elementAt(starts, segmentIndex)]
  const entry = id === undefined ? undefined : vocab[id]
  const text = typeof entry === 'string' ? ` ${JSON.stringify(entry.slice(0, 24))}` : ''
  return `token ${countText(token)}${text} · ${title} ${numberText(float64At(values, index))}`
}

const numberText = (value: number): string => decimalText(value)

/** Returns the positions of the responses, as shaded ranges of a plot. */
export function responseBands(segments: TrajectoryView['segments']) {
  const starts = segmentStarts({ segments })
  return segments.flatMap(({ kind }, index) =>
    kind === 'response' ? [{ from: elementAt(starts, index), to: elementAt(starts, index + 1) }] : [],
  )
}

/** Returns the index of a token in a sorted list; undefined if the list does not contain it. */
function placeOf(tokens: Float64Array, token: number): number | undefined {
  const place = countWhile(tokens.length, (index) => float64At(tokens, index) < token)
  return tokens[place] === token ? place : undefined
}
