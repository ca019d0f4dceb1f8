/** Defines the report of a corpus, which the page exports and `rollscope drift --json` prints. */

import * as z from 'zod/mini'
import { DRIFT_KINDS } from '#lib/trajectory/drift/kinds.ts'
import { DRIFT_REPORT_VERSION, DRIFT_SEVERITIES } from '#lib/trajectory/drift/report.ts'
import type { Plain } from '#lib/util/plain.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { callReader, layerCounts, type Sample, sampleSchema } from './sample.ts'
import { spanCount, type Totals } from './totals.ts'

/**
 * The version is raised when a field changes its meaning, but not when a field is added. Since version 2, `drifting` and `withCaveats`
 * leave out samples that differ only after their last trained token, and `wasted` and `rows` are those of the replayed calls. In version 3,
 * the field `doubts` became `caveats`, and `doubtful` became `withCaveats`.
 */
const CORPUS_REPORT_VERSION = 3

const count = z.int().check(z.minimum(0))
const severities = z.object({ trained: count, context: count, tail: count })
const rateSchema = z.object({
  samples: withDescription(
    z.nullable(z.number()),
    'Share of the checked samples with drift. null: no sample was checked.',
  ),
  per1000Tokens: withDescription(z.nullable(z.number()), 'Drift spans per 1,000 tokens of the left sides.'),
  perTurn: withDescription(z.nullable(z.number()), 'Drift spans per response of the model.'),
})
/** How often drift occurs. A rate is null if nothing was counted in its denominator. */
export type Rate = Plain<z.infer<typeof rateSchema>>

const againstSchema = z.object({
  mode: withDescription(
    z.enum(['text', 'structured', 'raw', 'file']),
    'The right sides. file: the samples of another file, matched by id, or by number if one side has no ids.',
  ),
  tokenizer: withDescription(
    z.exactOptional(z.string()),
    'The tokenizer that was chosen. Omitted: the one of each sample.',
  ),
  template: withDescription(
    z.exactOptional(z.string()),
    'The chat template that was chosen, by name. Omitted: the one of each sample.',
  ),
  file: withDescription(z.exactOptional(z.string()), 'Name of the other file.'),
})
/** What the samples were compared with: the mode of the right sides, and the tokenizer, template or file that was chosen. */
export type ComparisonBasis = Plain<z.infer<typeof againstSchema>>

/** Schema of the report as it is exported and printed. */
export const corpusReportSchema = z.object({
  version: z.literal(CORPUS_REPORT_VERSION),
  driftVersion: withDescription(z.literal(DRIFT_REPORT_VERSION), 'Version of the classification.'),
  against: againstSchema,
  partial: withDescription(z.boolean(), 'True: the check ended before all samples were read.'),
  totals: z.object({
    samples: z.object({
      checked: count,
      unchecked: count,
      drifting: withDescription(
        count,
        'Samples with drift in trained tokens or before trained tokens: `trained` and `context` of `bySeverity`.',
      ),
      bySeverity: withDescription(
        severities,
        'Samples by their most severe drift. tail: only after the last trained token, such as a newline after the last end of turn.',
      ),
      structural: withDescription(count, 'Samples with structural drift.'),
      split: withDescription(count, 'Samples that are split into several training rows.'),
      withCaveats: withDescription(count, 'Drifting samples that could not be reconstructed exactly.'),
    }),
    tokens: z.object({ left: count, right: count }),
    trained: z.object({ touched: count, of: count }),
    turns: count,
    spans: withDescription(severities, 'Drift spans by severity.'),
    layers: layerCounts,
    rate: rateSchema,
    wasted: z.object({
      prefix: withDescription(
        count,
        'Tokens in the prefix cache that the prompt of the next call does not begin with.',
      ),
      prefixOf: withDescription(count, 'All tokens that were in the prefix cache before a call.'),
      rows: withDescription(count, 'Tokens of all training rows of a sample except the last.'),
      realigned: withDescription(count, 'Sampled tokens that become context in a training row.'),
    }),
    rows: withDescription(count, 'Training rows of all checked samples.'),
  }),
  kinds: withDescription(
    z.array(
      z.object({
        kind: z.enum(DRIFT_KINDS),
        samples: count,
        spans: severities,
        layers: layerCounts,
        trained: withDescription(count, 'Trained tokens in drift of this kind.'),
        rate: rateSchema,
        gravest: z.object({
          place: sampleSchema.def.options[0].shape.place,
          drift: count,
          severity: z.enum(DRIFT_SEVERITIES),
          trained: count,
          cause: z.string(),
          remedy: z.string(),
        }),
      }),
    ),
    'Most spans first.',
  ),
  turns: withDescription(
    z.array(
      z.object({
        turn: withDescription(z.exactOptional(count), 'Number of the response, from 0. Omitted: between responses.'),
        reached: withDescription(count, 'Checked samples that have this turn.'),
        samples: withDescription(count, 'Of those, samples with drift in it.'),
        spans: count,
      }),
    ),
    'In order; between responses last.',
  ),
  tools: withDescription(
    z.array(z.object({ tool: z.string(), calls: count, samples: count, spans: count })),
    'Most spans first.',
  ),
  unchecked: withDescription(
    z.array(
      z.object({
        why: z.string(),
        samples: count,
        hint: z.exactOptional(z.string()),
        example: z.object({ place: sampleSchema.def.options[0].shape.place, detail: z.exactOptional(z.string()) }),
      }),
    ),
    'Why samples could not be checked, most first.',
  ),
  missedCalls: withDescription(
    z.object({
      samples: withDescription(count, 'Checked samples with such responses.'),
      responses: withDescription(count, 'Responses with the markup of a tool call, but without a parsed call.'),
      readers: withDescription(
        z.array(z.object({ ...callReader, samples: count, responses: count })),
        'Parsers that read them, most responses first. Several parsers may read the same response.',
      ),
    }),
    'Responses whose calls no parser found. A run with a parser that does not fit the template executes no tool and reports no error.',
  ),
  samples: withDescription(z.array(sampleSchema), 'In the order in which they were read.'),
})
/** Report of a corpus: totals, tables by kind, turn and tool, and one row for each sample. */
export type CorpusReport = Plain<z.infer<typeof corpusReportSchema>>

/** The totals and tables of a report, without its samples. */
export type ReportSummary = Omit<CorpusReport, 'samples' | 'version' | 'driftVersion' | 'against' | 'partial'>

/** Returns the report of `samples`, whose totals are `totals`. `partial` is true if the check ended before all samples were read. */
export function corpusReport(
  { against, partial }: Pick<CorpusReport, 'against' | 'partial'>,
  totals: Totals,
  samples: readonly Sample[],
): CorpusReport {
  const head = { version: CORPUS_REPORT_VERSION, driftVersion: DRIFT_REPORT_VERSION } as const
  return { ...head, against, partial, ...reportSummary(totals), samples }
}

/** Returns the totals and tables of a report. The rows that occur most often come first; turns are in order. */
export function reportSummary(all: Totals): ReportSummary {
  const { samples, spans, layers, kinds, byTurn, byTool, reasons, tokens, trained, turns, wasted, rows } = all
  const drifting = samples.bySeverity.trained + samples.bySeverity.context
  const rate = (part: { readonly samples: number; readonly spans: number }): Rate => ({
    samples: ratio(part.samples, samples.checked),
    per1000Tokens: ratio(1000 * part.spans, tokens.left),
    perTurn: ratio(part.spans, turns),
  })
  return {
    totals: {
      samples: { ...samples, drifting },
      tokens,
      trained,
      turns,
      spans,
      layers,
      rate: rate({ samples: drifting, spans: spanCount(spans) }),
      wasted,
      rows,
    },
    kinds: [...kinds]
      .map(([kind, one]) => ({
        kind,
        samples: one.samples,
        spans: one.bySeverity,
        layers: one.layers,
        trained: one.trained,
        rate: rate(one),
        gravest: one.gravest,
      }))
      .sort(
        (a, b) => spanCount(b.spans) - spanCount(a.spans) || DRIFT_KINDS.indexOf(a.kind) - DRIFT_KINDS.indexOf(b.kind),
      ),
    turns: turnRows(byTurn, all.turnCounts),
    tools: [...byTool]
      .map(([tool, { calls, samples, spans }]) => ({ tool, calls, samples, spans }))
      .sort((a, b) => b.spans - a.spans || b.calls - a.calls || (a.tool < b.tool ? -1 : 1)),
    unchecked: [...reasons]
      .map(
        ([
          why,
          {
            samples,
            hint,
            example: { place, detail },
          },
        ]) => ({
          why,
          samples,
          ...(hint !== undefined && { hint }),
          example: { place, ...(detail !== undefined && { detail }) },
        }),
      )
      .sort((a, b) => b.samples - a.samples || (a.why < b.why ? -1 : 1)),
    missedCalls: {
      ...all.missed,
      readers: [...all.missedBy]
        .sort(([one, a], [other, b]) => b.responses - a.responses || (one < other ? -1 : 1))
        .map(([, { reader, samples, responses }]) => ({ ...reader, samples, responses })),
    },
  }
}

/** Returns one sentence on the calls that were not parsed, for the page and the command line; undefined if there are none. */
export function missedCallsText({ missedCalls: { samples, responses, readers } }: ReportSummary): string | undefined {
  if (responses === 0) return undefined
  const who = readers.map(
    ({ kind, name, responses }) =>
      `${kind === 'sglang' ? 'SGLang’s ' : ''}${name} reads ${countWithNoun(responses, 'response')}`,
  )
  const have = responses === 1 ? 'has' : 'have'
  return `${countWithNoun(responses, 'response')} in ${countWithNoun(samples, 'sample')} ${have} the markup of a tool call, and no call was parsed: ${who.join(', ')}.`
}

function turnRows(byTurn: Totals['byTurn'], turnCounts: Totals['turnCounts']): CorpusReport['turns'] {
  const most = Math.max(0, ...turnCounts.keys())
  const all = [...turnCounts]
  const reached = (turn: number): number => all.reduce((sum, [turns, samples]) => sum + (turns > turn ? samples : 0), 0)
  const none = { samples: 0, spans: 0 }
  const between = byTurn.get(undefined)
  return [
    ...Array.from({ length: most }, (_, turn) => ({ turn, reached: reached(turn), ...(byTurn.get(turn) ?? none) })),
    ...(between ? [{ reached: reached(-1), ...between }] : []),
  ]
}

const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
