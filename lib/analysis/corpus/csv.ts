/** Writes a corpus report as two CSV tables (RFC 4180): one row for each sample, and one row for each kind of drift. */
import { type CsvCell, csv } from '#lib/util/text/csv.ts'
import type { CorpusReport } from './report.ts'
import { type Sample, sampleOriginText } from './sample.ts'
import { spanCount } from './totals.ts'

/** Returns CSV with one row for each sample. Cells without a value are empty; a sample without drift has the severity `none`. */
export function samplesCsv({ samples }: Pick<CorpusReport, 'samples'>): string {
  return csv([
    [
      ...['place', 'id', 'title', 'status', 'severity', 'spans', 'trained_tokens_touched', 'trained_tokens'],
      ...['tokens_left', 'tokens_right', 'turns', 'first_drift_token', 'first_drift_kind', 'kinds', 'prefix_lost'],
      ...['rows', 'extra_row_tokens', 'caveats', 'why_unchecked', 'missed_call_responses', 'missed_call_readers'],
      ...['spans_structural', 'spans_content', 'prefix_kept', 'realigned_tokens', 'sentence'],
    ],
    ...samples.map(sampleCells),
  ])
}

function sampleCells(sample: Sample): readonly CsvCell[] {
  const name = [sampleOriginText(sample.place), sample.id, sample.title, sample.kind]
  if (sample.kind === 'unchecked')
    return [
      ...name,
      ...Array<undefined>(14),
      [sample.why, sample.detail].filter(Boolean).join(' '),
      ...Array<undefined>(7),
    ]
  const {
    severity,
    kinds,
    trained,
    tokens,
    turns,
    first,
    prefixLost,
    prefixKept,
    rows,
    sentence,
    caveats,
    missedCalls,
  } = sample
  return [
    ...name,
    severity ?? 'none',
    kinds.reduce((sum, { spans }) => sum + spanCount(spans), 0),
    trained.touched,
    trained.of,
    tokens.left,
    tokens.right,
    turns,
    first?.token,
    first?.kind,
    kinds.map(({ kind, spans }) => `${kind}=${spanCount(spans)}`).join(' '),
    prefixLost,
    rows.count,
    rows.extra,
    caveats.join(' '),
    undefined,
    missedCalls?.responses ?? 0,
    missedCalls?.readers.map(({ kind, name }) => `${kind}:${name}`).join(' '),
    kinds.reduce((sum, { layers }) => sum + layers.structural, 0),
    kinds.reduce((sum, { layers }) => sum + layers.content, 0),
    prefixKept,
    rows.realigned,
    sentence,
  ]
}

/** Returns CSV with one row for each kind of drift, in the order of the report. Rates without a denominator are empty. */
export function kindsCsv({ kinds }: Pick<CorpusReport, 'kinds'>): string {
  return csv([
    [
      ...['kind', 'samples', 'spans', 'spans_trained', 'spans_context', 'spans_tail', 'trained_tokens_touched'],
      ...['share_of_samples', 'per_1000_tokens', 'per_turn', 'gravest_place', 'gravest_drift', 'cause', 'remedy'],
      ...['spans_structural', 'spans_content'],
    ],
    ...kinds.map(({ kind, samples, spans, layers, trained, rate, gravest }) => [
      kind,
      samples,
      spanCount(spans),
      spans.trained,
      spans.context,
      spans.tail,
      trained,
      rate.samples,
      rate.per1000Tokens,
      rate.perTurn,
      sampleOriginText(gravest.place),
      gravest.drift,
      gravest.cause,
      gravest.remedy,
      layers.structural,
      layers.content,
    ]),
  ])
}
