'use client'
import { useState } from 'react'
import { countText, decimalText, percentText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { hasSameIds } from '#lib/analysis/compare/compare-sides.ts'
import type { ClipRule } from '#lib/analysis/rescore/clipping.ts'
import { DELTA_COLUMN, RATIO_COLUMN } from '#lib/analysis/rescore/columns.ts'
import { deltaHistogram } from '#lib/analysis/rescore/histogram.ts'
import type { RescoreTotals } from '#lib/analysis/rescore/rescoring.ts'
import type { ScoringResult } from '#lib/trajectory/scoring/gathered.ts'
import { servedFacts } from '#lib/trajectory/scoring/served.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { float64At } from '#lib/util/element-at.ts'
import type { ComparePartProps } from '../view.ts'
import { ClipPreview, FIRST_RULE } from './clip-preview.tsx'
import { DeltaChart } from './delta-chart.tsx'
import { LargestChanges, SpansWithoutRatio } from './largest-changes.tsx'
import { NoiseNote } from './noise-note.tsx'
import { deltaText, ratioTextOfDelta } from './rescore-texts.ts'
import { ServerDifferenceReport } from './server-difference-report.tsx'
import type { RescoreResult } from './use-rescoring.ts'

interface RescoreReportProps extends Pick<ComparePartProps, 'pair' | 'view' | 'onView'> {
  readonly found: RescoreResult
  /** Shows a token of the left side in the lanes. */
  readonly onToken: (token: number) => void
}

/** Findings of rescoring: totals with the noise floor, what a correction would clip, and the largest changes. */
export function RescoreReport({ found, pair, view, onView, onToken }: RescoreReportProps) {
  const { rescoring, order, scored, difference, choice } = found
  const { servers } = choice
  const { totals, units, noise, unknown, unpaired } = rescoring
  const [rule, setRule] = useState<ClipRule>(FIRST_RULE)
  const recorded = noise.left.differences.length > 0 || noise.left.apart.length > 0 ? 'left' : 'right'
  const isOneServer = servers.left === servers.right
  const isTrivial = isOneServer && totals.units > 0 && totals.delta === 0 && hasSameIds(pair.compared)
  return (
    <div className="grid gap-3 text-xs" data-units={totals.units}>
      {totals.trainedTokens === 0 && (
        <p className="text-dim">
          The left side has no trained tokens: there are no totals, only values of drift spans. Swap the sides if the
          right side has trained tokens.
        </p>
      )}
      {isTrivial && (
        <p className="text-dim">
          Both sides have the same ids on one server, scored once: every ratio is 1. Choose another server for the right
          side to compare two checkpoints.
        </p>
      )}
      {difference && !isOneServer && (
        <ServerDifferenceReport
          difference={difference}
          servers={servers}
          tokens={tokenCount(pair.compared.left.trajectory)}
          onToken={onToken}
        />
      )}
      {totals.units > 0 && <Totals totals={totals} deltas={units.deltas} unknown={unknown} unpaired={unpaired} />}
      <NoiseNote noise={noise[recorded]} side={recorded} />
      {totals.units > 0 && !isTrivial && (
        <>
          <DeltaChart histogram={deltaHistogram(units, noise[recorded].differences)} />
          <ClipPreview order={order} rule={rule} onRule={setRule} />
          <LargestChanges
            pair={pair}
            rescoring={rescoring}
            order={order}
            rule={rule}
            view={view}
            onView={onView}
            floor={difference?.floor ?? 0}
            onToken={onToken}
          />
        </>
      )}
      <SpansWithoutRatio rescoring={rescoring} view={view} onView={onView} />
      {scored && <Served pair={pair} left={scored.left} right={scored.right} />}
      <p className="flex flex-wrap gap-1.5">
        <Button className="text-xs" onClick={() => onView({ colour: `column:${DELTA_COLUMN}` })}>
          Colour by difference
        </Button>
        <Button className="text-xs" onClick={() => onView({ colour: `column:${RATIO_COLUMN}` })}>
          Colour by ratio
        </Button>
      </p>
    </div>
  )
}

function Totals({
  totals,
  deltas,
  unknown,
  unpaired,
}: {
  readonly totals: RescoreTotals
  readonly deltas: Float64Array
  readonly unknown: number
  readonly unpaired: { readonly left: number; readonly right: number }
}) {
  const { trainedTokens, rescoredTokens, meanLogprob, delta, least, greatest, k1, k3, effectiveShare } = totals
  const ratioAt = (unit: number | undefined) => (unit === undefined ? '—' : ratioTextOfDelta(float64At(deltas, unit)))
  return (
    <Facts>
      {meanLogprob && (
        <Fact name="mean logprob" title="Per token of each side, over trained text that both sides have">
          {decimalText(meanLogprob.left)} → {decimalText(meanLogprob.right)}
        </Fact>
      )}
      <Fact name="ratio, min · max" title="p right / p left: per token, or per span of the same text">
        {ratioAt(least)} · {ratioAt(greatest)}
      </Fact>
      {delta !== undefined && (
        <Fact name="ratio of the sequence" title={`The product of all; its logarithm is ${deltaText(delta)}`}>
          {ratioTextOfDelta(delta)}
        </Fact>
      )}
      <Fact
        name="KL k1 · k3"
        title="Estimates of KL(left ‖ right), means over tokens and spans: k1 = −log r, k3 = (r − 1) − log r"
      >
        {decimalText(k1 ?? null, 4)} · {decimalText(k3 ?? null, 4)}
      </Fact>
      {effectiveShare !== undefined && (
        <Fact name="effective sample share" title="(Σr)² / (n Σr²): 100 % where all weights are equal">
          {percentText(effectiveShare)}
        </Fact>
      )}
      <Fact name="trained tokens rescored">
        {countText(rescoredTokens)} of {countText(trainedTokens)}
      </Fact>
      {unpaired.left + unpaired.right > 0 && (
        <Fact name="only on one side" title="Trained tokens in text that the other side does not have: no ratio">
          {countText(unpaired.left)} left · {countText(unpaired.right)} right
        </Fact>
      )}
      {unknown > 0 && <Fact name="without a score">{countText(unknown)}</Fact>}
    </Facts>
  )
}

interface ServedProps extends Pick<ComparePartProps, 'pair'> {
  readonly left: ScoringResult | undefined
  readonly right: ScoringResult | undefined
}

/** The servers that scored, compared with those that sampled. */
function Served({ pair, left, right }: ServedProps) {
  const isOne = left?.server.name === right?.server.name
  const changed = isOne && left && right && left.versions.join() !== right.versions.join()
  return (
    <div className="grid gap-2">
      {changed && (
        <p className="border-warn border-l-3 bg-warn-soft px-2.5 py-1.5">
          The weights of {left.server.name} changed between the sides: part of the difference is that.
        </p>
      )}
      {left && (
        <ServedSide
          title={isOne ? 'Both sides' : 'Left side'}
          trajectory={pair.compared.left.trajectory}
          gathered={left}
        />
      )}
      {right && !isOne && (
        <ServedSide title="Right side" trajectory={pair.compared.right.trajectory} gathered={right} />
      )}
    </div>
  )
}

function ServedSide({
  title,
  trajectory,
  gathered: { server, versions },
}: {
  readonly title: string
  readonly trajectory: TrajectoryView
  readonly gathered: ScoringResult
}) {
  return (
    <Facts>
      <Fact name={title}>{server.name}</Fact>
      {servedFacts(trajectory, server, versions).map(({ name, verdict, text }) => (
        <Fact key={name} name={name}>
          <span className={verdict === 'other' ? 'text-warn' : verdict === 'same' ? '' : 'text-faint'}>{text}</span>
        </Fact>
      ))}
    </Facts>
  )
}
