import { countText } from '#components/token-view/numbers.ts'
import type { SpanCounts } from '#lib/analysis/corpus/sample.ts'
import type { DriftSeverity } from '#lib/trajectory/drift/report.ts'

const INKS: Readonly<Record<DriftSeverity, string>> = { trained: 'text-bad', context: 'text-warn', tail: 'text-dim' }

const SEVERITY_TITLES: Readonly<Record<DriftSeverity, string>> = {
  trained: 'Trained tokens differ',
  context: 'Tokens before trained tokens differ',
  tail: 'No trained tokens follow',
}

/** What the severities mean, as a sentence for those who see no tooltip. */
export const SEVERITY_NOTE = `${Object.entries(SEVERITY_TITLES)
  .map(([severity, meaning]) => `${severity}: ${meaning.charAt(0).toLowerCase()}${meaning.slice(1)}`)
  .join('; ')}.`

/** The severity of a sample as a coloured word with a tooltip; `undefined` is shown as “equal”. */
export const SeverityMark = ({ severity }: { readonly severity: DriftSeverity | undefined }) =>
  severity === undefined ? (
    <span className="text-good">equal</span>
  ) : (
    <span className={INKS[severity]} title={SEVERITY_TITLES[severity]}>
      {severity}
    </span>
  )

/** Counts of spans by severity, the most serious first. Severities without spans are omitted. */
export function SeverityCounts({ counts }: { readonly counts: SpanCounts }) {
  const present = (['trained', 'context', 'tail'] as const).filter((severity) => counts[severity] > 0)
  if (present.length === 0) return <span className="text-faint">—</span>
  return (
    <span className="inline-flex flex-wrap gap-x-2">
      {present.map((severity) => (
        <span key={severity} className={`whitespace-nowrap ${INKS[severity]}`} title={SEVERITY_TITLES[severity]}>
          {countText(counts[severity])} {severity}
        </span>
      ))}
    </span>
  )
}
