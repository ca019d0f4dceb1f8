import { Copy } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { countText, decimalText, percentText, rewardText } from '#components/token-view/numbers.ts'
import { copyAndDescribe } from '#components/ui/copy-text.ts'
import { ExplainedName } from '#components/ui/facts.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { outcomeWord } from '#lib/api/sample-progress.ts'
import type { DriftKind } from '#lib/trajectory/drift/kinds.ts'
import type { DriftReport } from '#lib/trajectory/drift/report.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { ComparePartProps, RescoreSummary } from '../view.ts'
import { driftAfter, NO_FILTER } from './drift-steps.ts'
import { type DriftVocabulary, driftVocabularyOf, kindMeaning, SEVERITY_TEXTS } from './drift-words.ts'

interface SummaryStripProps extends Pick<ComparePartProps, 'pair' | 'view' | 'onView'> {
  /** Undefined until both sides are rescored on a server. */
  readonly rescored: RescoreSummary | undefined
}

/** Summary of the comparison in figures. */
export function SummaryStrip({ pair, view, onView, rescored }: SummaryStripProps) {
  const { report } = pair.compared.comparison
  const { spans, severity, trained } = report
  const vocabulary = driftVocabularyOf(pair)
  const first = spans[0]
  const toKind = (kind: DriftKind) => {
    const filter = { ...NO_FILTER, kind }
    onView({ drift: driftAfter(report, view.drift, 1, filter) ?? driftAfter(report, undefined, 1, filter) })
  }
  return (
    <section
      aria-label="Summary"
      data-drift={spans.length}
      className="flex flex-wrap gap-x-5 gap-y-2 border-line border-b px-3.5 py-2 tabular-nums max-sm:items-baseline max-sm:gap-x-4 max-sm:gap-y-0.5"
    >
      {!vocabulary.costs && <SampleCells pair={pair} onView={onView} />}
      {vocabulary.costs && first && severity && (
        <>
          <Cell
            value={countText(spans.length)}
            name={spans.length === 1 ? 'drift span' : 'drift spans'}
            ink="text-(--mark-hit)"
          />
          <Cell value={SEVERITY_TEXTS[severity].title} name="highest severity" ink={SEVERITY_TEXTS[severity].ink} />
          <Cell value={<Kinds report={report} vocabulary={vocabulary} onKind={toKind} />} name="by kind" />
          <Cell value={<First report={report} onView={onView} />} name="first drift at token" />
          <Cell
            value={`${countText(trained.touched)} / ${countText(trained.of)}`}
            name="trained tokens touched"
            title="Trained tokens of the left side in drift spans, of all its trained tokens"
          />
        </>
      )}
      {!first && <Cell value={`No ${vocabulary.noun}`} name={sameText(report)} ink="text-good" />}
      {vocabulary.costs && report.replayed !== 'ids' && <Costs report={report} />}
      {rescored && <Rescored rescored={vocabulary.costs ? rescored : { ...rescored, minImportanceRatio: undefined }} />}
    </section>
  )
}

const sameText = ({ tokens, sameVocabulary }: DriftReport): string =>
  sameVocabulary
    ? `All ${countText(tokens.left)} tokens of the left side have the same ids on the right.`
    : `All ${countText(tokens.left)} tokens of the left side have the same bytes on the right; the ids belong to different tokenizers.`

interface CellProps {
  readonly value: ReactNode
  readonly name: string
  readonly ink?: string
  readonly title?: string
}

function Cell({ value, name, ink = '', title }: CellProps) {
  const [isExplained, setIsExplained] = useState(false)
  return (
    <div className="max-sm:flex max-sm:flex-wrap max-sm:items-baseline max-sm:gap-x-1.5" title={title}>
      <p className={`font-semibold text-base max-sm:text-sm ${ink}`}>{value}</p>
      <p className="text-dim text-xs sm:whitespace-nowrap">
        {title === undefined ? (
          name
        ) : (
          <ExplainedName name={name} isExplained={isExplained} onExplained={setIsExplained} />
        )}
      </p>
      {isExplained && <p className="max-w-60 text-faint text-xs">{title}</p>}
    </div>
  )
}

/** Figure with the first token of the left side at which the sides differ. A click shows it. */
function First({ report, onView }: { readonly report: DriftReport } & Pick<ComparePartProps, 'onView'>) {
  return (
    <button
      type="button"
      title="Show it"
      className="rounded-sm underline decoration-line-strong decoration-dotted underline-offset-4 hover:text-accent"
      onClick={() => onView({ drift: 0 })}
    >
      {countText(report.spans[0]?.left.start ?? 0)}
    </button>
  )
}

/** Figures of two samples: where they diverge, and their outcomes. They have no costs, because neither is made from the other. */
function SampleCells({ pair, onView }: Pick<ComparePartProps, 'pair' | 'onView'>) {
  const { left, right, comparison } = pair.compared
  const { report } = comparison
  const [ours, theirs] = [left.trajectory, right.trajectory]
  const turn = report.spans[0]?.turn
  return (
    <>
      {report.spans.length > 0 && (
        <>
          <Cell
            value={<First report={report} onView={onView} />}
            name={`first divergence at token${turn === undefined ? '' : ` · response ${countText(turn + 1)}`}`}
          />
          <Cell
            value={countText(report.spans.length)}
            name={report.spans.length === 1 ? 'difference' : 'differences'}
            ink="text-(--mark-hit)"
          />
        </>
      )}
      <Cell
        value={`${rewardText(ours.reward ?? null)} · ${rewardText(theirs.reward ?? null)}`}
        name="rewards, left · right"
      />
      <Cell value={`${outcomeWord(ours.outcome)} · ${outcomeWord(theirs.outcome)}`} name="outcomes, left · right" />
      <Cell
        value={`${countText(responseCount(ours))} · ${countText(responseCount(theirs))}`}
        name="responses, left · right"
      />
      <Cell
        value={`${countText(report.tokens.left)} · ${countText(report.tokens.right)}`}
        name="tokens, left · right"
      />
    </>
  )
}

const responseCount = ({ segments }: TrajectoryView): number =>
  segments.filter(({ kind }) => kind === 'response').length

interface KindsProps {
  readonly report: DriftReport
  readonly vocabulary: DriftVocabulary
  readonly onKind: (kind: DriftKind) => void
}

/** Counts of spans by kind. A click shows the next span of the kind. */
function Kinds({ report, vocabulary, onKind }: KindsProps) {
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
          {countText(count)} {vocabulary.kindText({ kind })}
        </button>
      ))}
    </span>
  )
}

/** What drift costs a pipeline that renders the prompt of every call again. Two recorded sides have no such costs. */
function Costs({ report: { prefix, rows, sentence } }: { readonly report: DriftReport }) {
  const cached = prefix.kept + prefix.lost
  return (
    <>
      <Cell
        value={cached === 0 ? '—' : percentText(prefix.kept / cached)}
        name={
          cached === 0
            ? 'prefix cache: one call only'
            : `prefix cache kept · ${countText(prefix.lost)} of ${countText(cached)} lost`
        }
        title="Every prompt is rendered again and compared with the prompt and reply of the previous call, which are in the cache"
      />
      <Cell
        value={
          <span className="flex items-center gap-1">
            {countText(rows.count)}
            {sentence !== undefined && <CopySentence sentence={sentence} />}
          </span>
        }
        name={rowsText(rows)}
        title="Rows as in TRL: a prompt that changes tokens before the last reply begins a new row; a prompt that changes only that reply turns its changed tokens into context"
      />
    </>
  )
}

function rowsText({ count, extra, realigned }: DriftReport['rows']): string {
  const name = count === 1 ? 'training row' : `training rows · ${countText(extra)} extra tokens`
  return realigned === 0 ? name : `${name} · ${countWithNoun(realigned, 'token becomes', 'tokens become')} context`
}

function Rescored({
  rescored: { meanLogprob, minImportanceRatio, noiseFloor },
}: {
  readonly rescored: RescoreSummary
}) {
  return (
    <div className="flex flex-wrap gap-x-5 max-sm:gap-x-4">
      {meanLogprob && (
        <Cell
          value={`${decimalText(meanLogprob.left, 2)} → ${decimalText(meanLogprob.right, 2)}`}
          name="mean logprob"
          title="Per trained token, left → right"
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
    </div>
  )
}

/** Button that copies the findings as one sentence, for a trainer's issue tracker, and reports whether that succeeded. */
function CopySentence({ sentence }: { readonly sentence: string }) {
  const [copied, setCopied] = useState<{ readonly sentence: string; readonly message: string }>()
  const copy = async () => setCopied({ sentence, message: await copyAndDescribe(sentence, 'Copied.') })
  return (
    <span className="-my-1 flex shrink-0 items-center gap-1">
      <IconButton label="Copy a sentence for an issue" onClick={copy}>
        <Copy size={14} aria-hidden />
      </IconButton>
      <span role="status" className="whitespace-nowrap font-normal text-dim text-xs">
        {copied?.sentence === sentence && copied.message}
      </span>
    </span>
  )
}
