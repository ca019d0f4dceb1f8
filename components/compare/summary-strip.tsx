import type { ReactNode } from 'react'
import type { DriftKind, DriftReport } from '#lib/core/drift/report.ts'
import { countText, decimalText, percentText } from '../trajectory/numbers.ts'
import { driftAfter } from './drift-steps.ts'
import { KIND_TITLES, kindMeaning, SEVERITY_TEXTS } from './drift-words.ts'
import type { ComparePartProps, WeighedSummary } from './view.ts'

interface SummaryStripProps extends Pick<ComparePartProps, 'pair' | 'view' | 'onView'> {
  /** Undefined until both sides were weighed on a server. */
  readonly weighed: WeighedSummary | undefined
}

/** What the comparison found, in numbers. */
export function SummaryStrip({ pair, view, onView, weighed }: SummaryStripProps) {
  const { report } = pair.compared.comparison
  const { spans, severity, trained, rows } = report
  const first = spans[0]
  const toKind = (kind: DriftKind) => {
    const filter = { kind, severity: undefined }
    onView({ drift: driftAfter(report, view.drift, 1, filter) ?? driftAfter(report, undefined, 1, filter) })
  }
  return (
    <section
      aria-label="Summary"
      data-drift={spans.length}
      className="flex gap-x-6 gap-y-2 overflow-x-auto border-line border-b px-3.5 py-2 tabular-nums lg:flex-wrap"
    >
      {first && severity ? (
        <>
          <Cell
            value={countText(spans.length)}
            name={spans.length === 1 ? 'drift span' : 'drift spans'}
            ink="text-(--mark-hit)"
          />
          <Cell value={SEVERITY_TEXTS[severity].title} name="gravest severity" ink={SEVERITY_TEXTS[severity].ink} />
          <Cell value={<Kinds report={report} onKind={toKind} />} name="by kind" />
          <Cell
            value={
              <button
                type="button"
                title="Show it"
                className="rounded-sm underline decoration-line-strong decoration-dotted underline-offset-4 hover:text-accent"
                onClick={() => onView({ drift: 0 })}
              >
                {countText(first.left.start)}
              </button>
            }
            name="first drift at token"
          />
          <Cell
            value={`${countText(trained.touched)} / ${countText(trained.of)}`}
            name="trained tokens touched"
            title="Trained tokens of the left side that stand in drift, of all its trained tokens"
          />
          <PrefixCell report={report} />
          <Cell
            value={rows.count <= 1 ? '1' : countText(rows.count)}
            name={rows.count <= 1 ? 'training row' : `training rows · ${countText(rows.extra)} extra tokens`}
            title="What becomes of the sample when every response is trained on behind the right side’s history"
          />
        </>
      ) : (
        <Cell value="No drift" name={sameText(report)} ink="text-good" />
      )}
      {weighed && <Weighed weighed={weighed} />}
    </section>
  )
}

const sameText = ({ tokens, sameVocabulary }: DriftReport): string =>
  sameVocabulary
    ? `All ${countText(tokens.left)} tokens of the left are the same ids on the right.`
    : `All ${countText(tokens.left)} tokens of the left spell the same bytes on the right; the ids are of different tokenizers.`

interface CellProps {
  readonly value: ReactNode
  readonly name: string
  readonly ink?: string
  readonly title?: string
}

function Cell({ value, name, ink = '', title }: CellProps) {
  return (
    <div className="shrink-0" title={title}>
      <p className={`font-semibold text-base ${ink}`}>{value}</p>
      <p className="whitespace-nowrap text-dim text-xs">{name}</p>
    </div>
  )
}

/** Each leads to the next of its kind. */
function Kinds({ report, onKind }: { readonly report: DriftReport; readonly onKind: (kind: DriftKind) => void }) {
  const kinds = (Object.entries(report.byKind) as [DriftKind, number][]).sort(([, a], [, b]) => b - a)
  return (
    <span className="flex flex-wrap gap-x-3">
      {kinds.map(([kind, count]) => (
        <button
          key={kind}
          type="button"
          title={`${kindMeaning({ kind })} Shows the next one.`}
          className="whitespace-nowrap rounded-sm underline decoration-line-strong decoration-dotted underline-offset-4 hover:text-accent"
          onClick={() => onKind(kind)}
        >
          {countText(count)} {KIND_TITLES[kind]}
        </button>
      ))}
    </span>
  )
}

function PrefixCell({ report: { prefix } }: { readonly report: DriftReport }) {
  const held = prefix.kept + prefix.lost
  return (
    <Cell
      value={held === 0 ? '—' : `${percentText(prefix.kept / held)}`}
      name={held === 0 ? 'prefix cache: one call only' : `of the prefix cache kept · ${countText(prefix.kept)} tokens`}
      title="What the prefix cache is worth when every call after the first sends the right side’s history instead of the left’s ids"
    />
  )
}

function Weighed({ weighed: { meanLogprob, minImportanceRatio, noiseFloor } }: { readonly weighed: WeighedSummary }) {
  return (
    <>
      {meanLogprob && (
        <Cell
          value={`${decimalText(meanLogprob.left, 2)} → ${decimalText(meanLogprob.right, 2)}`}
          name="mean logprob of trained tokens"
        />
      )}
      {minImportanceRatio !== undefined && (
        <Cell value={decimalText(minImportanceRatio, 2)} name="min importance ratio" />
      )}
      {noiseFloor !== undefined && (
        <Cell
          value={decimalText(noiseFloor)}
          name="noise floor"
          title="Mean of |prefill − sampled| on the recorded side"
        />
      )}
    </>
  )
}
