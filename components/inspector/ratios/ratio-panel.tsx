'use client'
import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { single } from '#components/token-view/selection.ts'
import { CopyChoices } from '#components/ui/copy-button.tsx'
import { ExplainedName } from '#components/ui/facts.tsx'
import { type RatioColumns, ratioPairText } from '#lib/trajectory/scoring/log-ratios.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { Banner } from '../../ui/banner.tsx'
import { useMedia } from '../../ui/use-media.ts'
import { toNextLargest } from '../commands/command-steps.ts'
import type { InspectorPartProps } from '../inspection.ts'
import { RatioChart } from './ratio-chart.tsx'
import { RatioLegend } from './ratio-legend.tsx'
import { type ColumnBadge, columnBadges, columnChoices, comparisonText, withPairColumn } from './ratio-text.ts'
import { sendingCurl, sendingPython } from './sending-code.ts'
import type { RatiosState } from './use-ratios.ts'

interface RatioPanelProps extends InspectorPartProps {
  readonly state: RatiosState
}

/** Shows above the tokens what is compared, and the ratios along them. */
export function RatioPanel({ inspection, state }: RatioPanelProps) {
  // In a narrow window all of it would leave no space for the tokens.
  const isNarrow = useMedia('(max-width: 1023px)')
  const [isUnfolded, setIsUnfolded] = useState(false)
  const isShown = isUnfolded || !isNarrow
  if (state.kind === 'off') return null
  if (state.kind === 'failed')
    return <Banner tone="bad" title="The ratios could not be computed." hint={state.message} />
  if (state.kind === 'absent') return <NoTrainer inspection={inspection} />
  if (state.kind !== 'shown')
    return (
      <p role="status" className="min-h-27.5 border-line border-b p-3.5 text-faint text-xs lg:min-h-69.5">
        Computing the ratios…
      </p>
    )
  const { ratios } = state
  const { jump, report } = ratios
  return (
    <div data-ratios={report.tokens.length}>
      <Compared inspection={inspection} ratios={ratios} isShown={isShown || report.tokens.length === 0} />
      {report.tokens.length > 0 && isShown && (
        // Wide windows show it beside the colours, which narrow ones hide.
        <div className="border-line border-b px-3.5 py-1.5 lg:hidden">
          <RatioLegend ratios={ratios} onView={inspection.onView} />
        </div>
      )}
      {report.tokens.length > 0 && (
        <RatioChart
          inspection={inspection}
          ratios={ratios}
          onLargest={() => toNextLargest(inspection)}
          onFirstJump={jump && (() => inspection.onSelect(single(jump.token), 'tokens'))}
          isShown={isShown}
          onFold={isNarrow ? () => setIsUnfolded(!isUnfolded) : undefined}
        />
      )}
    </div>
  )
}

const TONES = { good: 'text-good', warn: 'text-warn', bad: 'text-bad' } as const

interface ComparedProps extends InspectorPartProps {
  readonly ratios: Extract<RatiosState, { kind: 'shown' }>['ratios']
  /** Whether the columns are shown besides what is done so that they can be compared. */
  readonly isShown: boolean
}

function Compared({ inspection, ratios: { report }, isShown }: ComparedProps) {
  const { comparison, unknown } = report
  const [explained, setExplained] = useState<ColumnBadge['side']>()
  const badges = isShown ? columnBadges(inspection.trajectory, comparison) : []
  const { tone, text } = comparisonText(comparison.comparison)
  return (
    <section
      aria-label="Compared columns"
      className="flex flex-wrap items-center gap-x-2.5 gap-y-1 border-line border-b px-3.5 py-1.5 text-xs"
    >
      {badges.map((badge, index) => (
        <span key={badge.side} className="contents">
          {index > 0 && <span className="text-dim">compared with</span>}
          <span title={badge.title} className="rounded-md border border-line bg-panel px-2 py-0.5">
            <BadgeName inspection={inspection} badge={badge} columns={comparison.columns} />
            <span className="text-dim">
              <ExplainedName
                name={badge.text}
                isExplained={explained === badge.side}
                onExplained={(isExplained) => setExplained(isExplained ? badge.side : undefined)}
              />
            </span>
          </span>
        </span>
      ))}
      {badges.map(
        ({ side, title }) =>
          side === explained && (
            <span key={side} className="order-last basis-full text-faint [overflow-wrap:anywhere]">
              {title}
            </span>
          ),
      )}
      <span className={TONES[tone]} data-comparison={comparison.comparison?.kind ?? 'none'}>
        {tone === 'good' && '✓ '}
        {text}
      </span>
      {comparison.leftOut.length > 0 && comparison.comparison?.kind !== 'refused' && (
        <span className="text-warn">
          {comparison.leftOut.map(({ why, tokens }) => `${countWithNoun(tokens, 'token')} left out: ${why}`).join('; ')}
        </span>
      )}
      {unknown > 0 && report.tokens.length > 0 && (
        <span className="text-dim">{countText(unknown)} trained tokens have no ratio</span>
      )}
    </section>
  )
}

interface BadgeNameProps extends InspectorPartProps {
  readonly badge: ColumnBadge
  readonly columns: RatioColumns
}

/** Shows the name of a column, as a choice if other columns can be compared. */
function BadgeName({ inspection: { trajectory, onView }, badge: { side, column, name }, columns }: BadgeNameProps) {
  const choices = columnChoices(trajectory)
  if (columns.kind === 'given' || side === 'given' || choices.length < 3)
    return <strong className="mr-1.5 font-semibold">{name}</strong>
  return (
    <select
      aria-label={side === 'numerator' ? 'Logprobs that are compared' : 'Logprobs that they are compared with'}
      value={column}
      onChange={({ target }) => onView({ pair: ratioPairText(withPairColumn(columns, side, target.value)) })}
      className="mr-1.5 min-h-6 rounded bg-panel font-semibold"
    >
      {choices.map((choice) => (
        <option key={choice.column} value={choice.column}>
          {choice.title}
        </option>
      ))}
    </select>
  )
}

/** Says how the trainer’s logprobs get here. */
function NoTrainer({ inspection }: InspectorPartProps) {
  const { storedKey, trajectory } = inspection
  return (
    <section
      aria-label="No trainer logprobs"
      className="grid justify-items-start gap-2 border-line border-b px-3.5 py-3 text-xs"
    >
      <h2 className="font-semibold">No trainer logprobs in this trajectory</h2>
      <p className="max-w-prose text-dim">
        Send them from the training script. The ids are compared, so a shifted or padded column is refused with the
        first difference.
      </p>
      <pre className="w-full whitespace-pre-wrap rounded-md border border-line bg-raised p-2 font-mono [overflow-wrap:anywhere]">
        {sendingPython(storedKey ?? 'KEY', trajectory)}
      </pre>
      <CopyChoices
        choices={[
          { name: 'Python', text: () => sendingPython(storedKey ?? 'KEY', trajectory) },
          { name: 'cURL', text: () => sendingCurl(storedKey ?? 'KEY', trajectory) },
        ]}
      />
    </section>
  )
}
