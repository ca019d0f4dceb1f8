/** Prints a drift report for people: a line for each sample, then a summary. */
import { type CorpusReport, missedCallsText, type Rate, type ReportSummary } from '#lib/analysis/corpus/report.ts'
import { type LayerCounts, type Sample, type SpanCounts, sampleOriginText } from '#lib/analysis/corpus/sample.ts'
import { spanCount } from '#lib/analysis/corpus/totals.ts'
import { countsAsDrift } from '#lib/trajectory/drift/report.ts'

/** Returns one line, or more for a sample with caveats, and a final newline. */
export function sampleText(sample: Sample): string {
  const place = sampleOriginText(sample.place)
  if (sample.kind === 'unchecked')
    return `not checked  ${place}  ${sample.why}${sample.detail === undefined ? '' : ` ${sample.detail}`}\n`
  const { severity, kinds, trained, first, rows, caveats, sentence } = sample
  const spans = kinds.reduce((sum, one) => sum + spanCount(one.spans), 0)
  const facts = first
    ? [
        countOf(spans, 'span'),
        `${trained.touched} of ${trained.of} trained tokens`,
        `first at token ${first.token} (${first.kind})`,
        ...(rows.count > 1 ? [`${rows.count} training rows`] : []),
      ]
    : ['no drift']
  const lines = [
    `${(severity ?? 'equal').padEnd(11)}  ${place}  ${facts.join(', ')}`,
    ...(sentence === undefined || (!countsAsDrift(severity) && rows.count === 1) ? [] : [`  > ${sentence}`]),
    ...caveats.map((one) => `  ? ${one}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Returns the totals, rates and tables of all samples and a final newline. */
export function summaryText(summary: ReportSummary): string {
  const { totals, kinds, turns, tools, unchecked } = summary
  const missed = missedCallsText(summary)
  const { samples, trained, wasted, rows, rate } = totals
  return [
    '',
    `${countOf(samples.checked + samples.unchecked, 'sample')}: ${samples.checked} checked, ${samples.unchecked} not. ` +
      `${samples.drifting} with drift (${share(rate.samples)}): ${samples.bySeverity.trained} in trained tokens, ${samples.bySeverity.context} before some.`,
    ...(samples.bySeverity.tail > 0
      ? [
          `${countOf(samples.bySeverity.tail, 'further sample')} ${samples.bySeverity.tail === 1 ? 'differs' : 'differ'} only after the last trained token.`,
        ]
      : []),
    `${countOf(spanCount(totals.spans), 'span')}: ${rateText(rate)}. ${byLayer(totals.layers)}. ${trained.touched} of ${trained.of} trained tokens are in drift.`,
    `Replay of all calls: ${countOf(wasted.prefix, 'token')} of ${wasted.prefixOf} in the prefix cache lost (${share(partOf(wasted.prefix, wasted.prefixOf))}); ${countOf(samples.split, 'sample')} ${samples.split === 1 ? 'breaks' : 'break'} into several training rows ` +
      `(${countOf(rows, 'row')} in total, ${countOf(wasted.rows, 'token')} more), and ${countOf(wasted.realigned, 'sampled token')} ${wasted.realigned === 1 ? 'becomes' : 'become'} context.`,
    ...(samples.withCaveats > 0
      ? [`${samples.withCaveats} of the drifting samples could not be reconstructed exactly: see the lines with "?".`]
      : []),
    ...(missed === undefined ? [] : [missed]),
    ...kinds.flatMap(kindLines),
    ...(turns.some(({ spans }) => spans > 0)
      ? ['', 'By turn (samples with drift in the turn, of the samples that have this turn):']
      : []),
    ...turns.flatMap(({ turn, reached, samples: hit, spans }) =>
      spans === 0
        ? []
        : [
            `  ${turn === undefined ? 'between responses' : `turn ${turn + 1}`}: ${hit} of ${reached}, ${countOf(spans, 'span')}`,
          ],
    ),
    ...(tools.length > 0 ? ['', 'By tool:'] : []),
    ...tools.map(({ tool, calls, spans }) => `  ${tool}: ${countOf(spans, 'span')} in ${countOf(calls, 'call')}`),
    ...(unchecked.length > 0 ? ['', 'Not checked:'] : []),
    ...unchecked.map(
      ({ why, samples: count, hint, example }) =>
        `  ${count} × ${why}${hint === undefined ? '' : ` ${hint}`} For example ${sampleOriginText(example.place)}.`,
    ),
    '',
  ].join('\n')
}

function kindLines({ kind, samples, spans, layers, trained, rate, gravest }: CorpusReport['kinds'][number]): string[] {
  return [
    '',
    `${kind}: ${countOf(spanCount(spans), 'span')} (${bySeverity(spans)}; ${byLayer(layers)}) in ${countOf(samples, 'sample')} (${share(rate.samples)}), ` +
      `${countOf(trained, 'trained token')}, ${rateText(rate)}`,
    `  ${gravest.cause} (${sampleOriginText(gravest.place)}, drift ${gravest.drift + 1})`,
    `  → ${gravest.remedy}`,
  ]
}

const bySeverity = ({ trained, context, tail }: SpanCounts): string =>
  `${trained} trained, ${context} context, ${tail} tail`

const byLayer = ({ structural, content }: LayerCounts): string => `${structural} structural, ${content} content`

const rateText = ({ per1000Tokens, perTurn }: Rate): string =>
  `${decimal(per1000Tokens)} per 1,000 tokens, ${decimal(perTurn)} per turn`

const partOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
const share = (part: number | null): string => (part === null ? '—' : `${(100 * part).toFixed(1)} %`)
const decimal = (value: number | null): string => (value === null ? '—' : value.toFixed(2))
const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
