import type { ReactNode } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import type { ReportSummary } from '#lib/analysis/corpus/report.ts'
import { spanCount } from '#lib/analysis/corpus/totals.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { fractionText, rateText, shareText } from './rates.ts'
import { SeverityCounts } from './severity.tsx'

/** Summary of the whole corpus in six figures. */
export function CorpusSummary({ totals }: Pick<ReportSummary, 'totals'>) {
  const { samples, spans, rate, trained, wasted, rows } = totals
  return (
    <dl
      aria-label="Summary"
      className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 xl:grid-cols-6"
    >
      <Figure name="Samples that drift" value={shareText(rate.samples)}>
        {countText(samples.drifting)} of {countText(samples.checked)} checked
        {samples.unchecked > 0 && `, ${countText(samples.unchecked)} not checked`}
        {samples.bySeverity.tail > 0 && (
          <span className="block" title="Usually a newline after the last end-of-turn token: no trained token changes">
            {countText(samples.bySeverity.tail)} more only after the last trained token
          </span>
        )}
      </Figure>
      <Figure
        name="Drift in trained tokens"
        value={fractionText(samples.bySeverity.trained, samples.checked)}
        unit="of samples"
      >
        <SeverityCounts counts={{ ...samples.bySeverity, tail: 0 }} />
        {samples.withCaveats > 0 && (
          <span className="block text-warn">{countText(samples.withCaveats)} with caveats</span>
        )}
      </Figure>
      <Figure name="Drift spans" value={countText(spanCount(spans))}>
        {rateText(rate.per1000Tokens)} per 1,000 tokens, {rateText(rate.perTurn)} per turn
      </Figure>
      <Figure name="Trained tokens in drift" value={fractionText(trained.touched, trained.of)}>
        {countText(trained.touched)} of {countText(trained.of)}
      </Figure>
      <Figure name="Prefix cache lost" value={fractionText(wasted.prefix, wasted.prefixOf)}>
        {countText(wasted.prefix)} of {countText(wasted.prefixOf)} cached tokens
      </Figure>
      <Figure name="Split into rows" value={fractionText(samples.split, samples.checked)} unit="of samples">
        {countWithNoun(rows, 'row')}, {countWithNoun(wasted.rows, 'token')} more
        {wasted.realigned > 0 && (
          <span className="block" title="A later prompt has different tokens here, so these are not trained on">
            {countWithNoun(wasted.realigned, 'sampled token becomes', 'sampled tokens become')} context
          </span>
        )}
      </Figure>
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly unit?: string
  readonly children: ReactNode
}

const Figure = ({ name, value, unit, children }: FigureProps) => (
  <div className="bg-ground px-3.5 py-2.5">
    <dt className="text-dim text-xs">{name}</dt>
    <dd className="tabular-nums">
      <span className="font-semibold text-lg">{value}</span>
      {unit !== undefined && <span className="ml-1.5 text-dim text-xs">{unit}</span>}
      <span className="block text-dim text-xs">{children}</span>
    </dd>
  </div>
)
