import { percentText } from '#components/token-view/numbers.ts'
import type { FitReport, RankedParser } from '#lib/templates/tool-parsing/fit.ts'

/** Ranking of the parsers, each with its score and the reasons. */
export function ParserRanking({ report }: { readonly report: FitReport }) {
  const { verdict, ranking, template } = report
  return (
    <div data-ranking={ranking[0]?.parser}>
      <p role="status" className="font-medium">
        {verdict}
      </p>
      <ol className="mt-2 grid gap-2">
        {ranking.map((ranked) => (
          <RankedRow key={ranked.parser} ranked={ranked} />
        ))}
      </ol>
      {template && template.text.trim() !== '' && (
        <details className="mt-2 text-xs">
          <summary className="text-faint hover:text-ink">
            {template.evidence === 'written'
              ? `what the template writes for two calls${template.argumentForm === 'text' ? ', arguments given as text' : ''}`
              : 'the template’s instructions to the model'}
          </summary>
          <pre className="mt-1 max-h-60 overflow-auto whitespace-pre-wrap rounded-sm bg-panel p-2 font-mono [overflow-wrap:anywhere]">
            {template.text}
          </pre>
        </details>
      )}
    </div>
  )
}

function RankedRow({ ranked }: { readonly ranked: RankedParser }) {
  const { parser, score, template, completions } = ranked
  return (
    <li className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 text-xs" data-ranked={parser}>
      <span className="font-mono font-semibold">{parser}</span>
      <span className="flex items-center gap-2">
        <meter className="alternative max-w-40" min={0} max={1} value={score} aria-label={`Score of ${parser}`} />
        <span className="tabular-nums">{percentText(score)}</span>
      </span>
      <div className="col-start-2 text-dim">
        {template && <Reasons of={completions ? 'Template' : undefined} reasons={template.reasons} />}
        {completions && <Reasons of={template ? 'Completions' : undefined} reasons={completions.reasons} />}
      </div>
    </li>
  )
}

const Reasons = ({ of, reasons }: { readonly of: string | undefined; readonly reasons: readonly string[] }) => (
  <p className="[overflow-wrap:anywhere]">
    {of !== undefined && <span className="text-faint">{of}: </span>}
    {reasons.join('; ')}
  </p>
)
