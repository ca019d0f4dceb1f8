'use client'
import { useMemo, useState } from 'react'
import { COLUMN_PREFIX } from '#components/token-view/colour/number-modes.ts'
import { extentOf } from '#components/token-view/colour/scale.ts'
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { single } from '#components/token-view/selection.ts'
import { Select } from '#components/ui/field.tsx'
import { klEstimates } from '#lib/analysis/ratios/totals.ts'
import { compareKinds, kindText, logprobKind } from '#lib/trajectory/scoring/comparable.ts'
import { OWN_LOGPROBS } from '#lib/trajectory/tokens/column-roles.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { float64At } from '#lib/util/element-at.ts'
import { Button } from '../../ui/button.tsx'
import { Fact, Facts, Heading } from '../../ui/facts.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { KlFacts } from '../ratios/kl-facts.tsx'
import { padExtent } from './extent.ts'
import { logRatiosOf, mismatchOf, type Pairs, pairSeries, worstPairs } from './mismatch.ts'
import { Plot } from './plot.tsx'
import { quantities, seriesNamed } from './series.ts'
import { TokenList } from './token-list.tsx'

const WORST = 20

/** Plots one number of the trained tokens against another, such as the trainer's logprobs against the sampler's. */
export function MismatchChart({ inspection }: InspectorPartProps) {
  const { trajectory, view, onView, onSelect } = inspection
  const [x, y] = axesOf(trajectory, view.scatter)
  const [pointed, setPointed] = useState<number>()
  const [reset, setReset] = useState<() => void>()
  const pairs = useMemo(
    () => y !== undefined && pairSeries(seriesNamed(trajectory, x), seriesNamed(trajectory, y)),
    [trajectory, x, y],
  )
  const worst = useMemo(() => (pairs ? worstPairs(pairs, WORST) : []), [pairs])
  const choices = quantities(trajectory)
  if (y === undefined || !pairs)
    return (
      <section aria-label="Compare two values">
        <Heading>Compare two values</Heading>
        <p className="py-4 text-faint">
          This file has no other column. Add the trainer’s logprobs as a column (trainerLogprobs) to see the mismatch
          between sampler and trainer.
        </p>
      </section>
    )
  const titleOf = (name: string) => choices.find((choice) => choice.name === name)?.title ?? name
  const select = (which: 0 | 1) => (
    <Select
      aria-label={which === 0 ? 'Horizontal value' : 'Vertical value'}
      className="max-w-48 text-ink text-xs"
      value={which === 0 ? x : y}
      onChange={({ target }) => onView({ scatter: which === 0 ? `${target.value},${y}` : `${x},${target.value}` })}
    >
      {choices.map((choice) => (
        <option key={choice.name} value={choice.name}>
          {choice.title}
        </option>
      ))}
    </Select>
  )
  const point = (index: number) =>
    `token ${countText(float64At(pairs.tokens, index))} · ${decimalText(float64At(pairs.x, index))} → ${decimalText(float64At(pairs.y, index))}`
  return (
    <section aria-label="Compare two values">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5 [&>h2]:m-0">
        <Heading>Compare two values</Heading>
        {select(0)}
        <span className="text-dim text-xs">against</span>
        {select(1)}
        {reset && (
          <Button className="min-h-7 text-xs" onClick={reset}>
            Reset zoom
          </Button>
        )}
        <span className="basis-full truncate text-dim text-xs tabular-nums">
          {pointed === undefined ? 'drag to zoom, click a point' : point(pointed)}
        </span>
      </div>
      {pairs.x.length === 0 ? (
        <p className="py-6 text-faint">
          No trained token has both {titleOf(x)} and {titleOf(y)}.
        </p>
      ) : (
        <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_220px]">
          <ScatterPlot
            pairs={pairs}
            titles={[titleOf(x), titleOf(y)]}
            onPoint={setPointed}
            onZoom={(way) => setReset(() => way)}
            onChoose={(token) => onSelect(single(token))}
            onOpen={(token) => onSelect(single(token), 'tokens')}
          />
          <div>
            {isLogprob(x) && isLogprob(y) && <KindNote trajectory={trajectory} names={[x, y]} />}
            <MismatchFacts pairs={pairs} areLogprobs={isLogprob(x) && isLogprob(y)} />
          </div>
        </div>
      )}
      <TokenList
        title={`Largest differences, ${worst.length}`}
        trajectory={trajectory}
        tokens={worst.map((index) => ({
          token: float64At(pairs.tokens, index),
          numbers: [pairs.x, pairs.y]
            .map((column) => float64At(column, index))
            .concat(float64At(pairs.y, index) - float64At(pairs.x, index))
            .map((value) => decimalText(value)),
        }))}
        columns={[titleOf(x), x === y ? `${titleOf(y)} again` : titleOf(y), 'difference']}
        onSelect={onSelect}
      />
    </section>
  )
}

interface ScatterPlotProps {
  readonly pairs: Pairs
  readonly titles: readonly [string, string]
  readonly onPoint: (index: number | undefined) => void
  readonly onZoom: (reset: (() => void) | undefined) => void
  readonly onChoose: (token: number) => void
  readonly onOpen: (token: number) => void
}

function ScatterPlot({ pairs, titles, onPoint, onZoom, onChoose, onOpen }: ScatterPlotProps) {
  const ranges = useMemo(() => [padExtent(extentOf(pairs.x)), padExtent(extentOf(pairs.y))] as const, [pairs])
  return (
    <Plot
      label={`${titles[0]} against ${titles[1]} of ${countText(pairs.x.length)} trained tokens, with the diagonal`}
      x={{ label: titles[0], ...ranges[0] }}
      y={{ label: titles[1], ...ranges[1] }}
      points={pairs}
      hasDiagonal
      zooms="xy"
      height={320}
      onPoint={onPoint}
      onZoom={onZoom}
      onChoose={(index) => onChoose(float64At(pairs.tokens, index))}
      onOpen={(index) => onOpen(float64At(pairs.tokens, index))}
    />
  )
}

function MismatchFacts({ pairs, areLogprobs }: { readonly pairs: Pairs; readonly areLogprobs: boolean }) {
  const mismatch = useMemo(() => mismatchOf(pairs), [pairs])
  const divergence = useMemo(() => (areLogprobs ? klEstimates(logRatiosOf(pairs)) : undefined), [pairs, areLogprobs])
  if (!mismatch) return null
  return (
    <Facts>
      <Fact name="tokens with both">{countText(mismatch.count)}</Fact>
      <Fact name="mean difference" title="Vertical value minus horizontal value">
        {decimalText(mismatch.meanDifference, 4)}
      </Fact>
      <Fact name="mean |Δ|">{decimalText(mismatch.meanAbsolute, 4)}</Fact>
      <Fact name="largest |Δ|">{decimalText(mismatch.largestAbsolute, 4)}</Fact>
      <Fact name="correlation" title="Pearson">
        {decimalText(mismatch.correlation, 4)}
      </Fact>
      {divergence && <KlFacts estimates={divergence} ratio="exp(vertical − horizontal)" />}
    </Facts>
  )
}

interface KindNoteProps {
  readonly trajectory: TrajectoryView
  /** Names of the two quantities. */
  readonly names: readonly [string, string]
}

/** Warns if the columns are not of the same kind: this chart shows the numbers of the file, without a conversion. */
function KindNote({ trajectory, names }: KindNoteProps) {
  const segment = trajectory.segments.find(({ kind, columns }) => kind === 'response' && columns)
  if (!segment) return null
  const [x, y] = names.map((name) =>
    logprobKind(trajectory, name === 'logprob' ? OWN_LOGPROBS : name.replace(COLUMN_PREFIX, ''), segment),
  )
  if (!x || !y || compareKinds(y, x).kind === 'same') return null
  return (
    <p className="mb-2 text-warn text-xs">
      {kindText(x)} against {kindText(y)}: the numbers of the file, not converted.
    </p>
  )
}

const isLogprob = (name: string): boolean => /logprob/i.test(name)

/** Returns the axes of the address (`x,y`), or else the sampled logprobs and the first column of logprobs or the first column. */
function axesOf(trajectory: TrajectoryView, scatter: string | undefined): readonly [string, string | undefined] {
  const names = quantities(trajectory).map(({ name }) => name)
  const columns = names.filter((name) => name.startsWith('column:'))
  // The name of a column may contain a comma.
  const chosenPair = names.flatMap((x) => names.map((y) => [x, y] as const)).find((pair) => pair.join(',') === scatter)
  return chosenPair ?? ['logprob', columns.find(isLogprob) ?? columns[0]]
}
