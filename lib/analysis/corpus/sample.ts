/** Defines the row of one sample of a corpus. A row is small and does not reference the trajectory, so that its memory is released. */
import * as z from 'zod/mini'
import { DRIFT_KINDS } from '#lib/trajectory/drift/kinds.ts'
import { DRIFT_SEVERITIES, type DriftLayer } from '#lib/trajectory/drift/report.ts'
import { titleOrQuestion } from '#lib/trajectory/messages/first-question.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

const count = z.int().check(z.minimum(0))

const placeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('stored'), key: withDescription(z.string(), 'Key of the stored trajectory.') }),
  z.object({
    kind: z.literal('file'),
    file: withDescription(z.string(), 'Name of the file.'),
    record: withDescription(z.int().check(z.minimum(1)), 'Number of its record, counted from 1.'),
    line: withDescription(
      z.exactOptional(z.int().check(z.minimum(1))),
      'Line in a JSON lines file, counted from 1. Omitted: the file is one value.',
    ),
  }),
])
/** Where a sample was read. */
export type SampleOrigin = Plain<z.infer<typeof placeSchema>>

const named = {
  id: withDescription(z.exactOptional(z.string()), 'Id of the trajectory. Omitted: it could not be read.'),
  title: withDescription(z.exactOptional(z.string()), 'Its title, or its first question. Omitted: it has neither.'),
  place: placeSchema,
}

/** Schema fields of a parser that reads a call which the run did not parse. */
export const callReader = {
  kind: withDescription(
    z.enum(['rollscope', 'sglang']),
    'rollscope: a parser of Rollscope. sglang: only SGLang has this parser.',
  ),
  name: withDescription(z.string(), 'Name of the parser. For parsers of SGLang, the value of --tool-call-parser.'),
}

const spanCounts = withDescription(
  z.object({ trained: count, context: count, tail: count }),
  'Drift spans by severity.',
)
/** Numbers of drift spans by severity. */
export type SpanCounts = Plain<z.infer<typeof spanCounts>>

/** Schema of the same spans, counted by layer instead of severity. */
export const layerCounts = withDescription(z.object({ structural: count, content: count }), 'Drift spans by layer.')
/** Numbers of drift spans by layer: structural or content. */
export type LayerCounts = Readonly<Record<DriftLayer, number>>

const checkedSchema = z.object({
  kind: z.literal('checked'),
  ...named,
  tokens: z.object({ left: count, right: count }),
  trained: withDescription(z.object({ touched: count, of: count }), 'Trained tokens in drift, of all trained tokens.'),
  turns: withDescription(count, 'Responses of the model.'),
  severity: withDescription(z.exactOptional(z.enum(DRIFT_SEVERITIES)), 'The most severe drift. Omitted: no drift.'),
  kinds: withDescription(
    z.array(
      z.object({
        kind: z.enum(DRIFT_KINDS),
        spans: spanCounts,
        layers: layerCounts,
        trained: withDescription(count, 'Trained tokens in drift of this kind.'),
        gravest: z.object({
          drift: withDescription(count, 'Number of the span, from 0.'),
          severity: z.enum(DRIFT_SEVERITIES),
          trained: withDescription(count, 'Trained tokens in the span.'),
          cause: z.string(),
          remedy: z.string(),
        }),
      }),
    ),
    'The kinds of drift in the sample.',
  ),
  byTurn: withDescription(
    z.array(z.object({ turn: z.exactOptional(count), spans: count })),
    'Drift spans by the number of the response, from 0. Without a turn: between responses.',
  ),
  byTool: withDescription(
    z.array(z.object({ tool: z.string(), calls: count, spans: count })),
    'For each called tool: its calls, and the drift spans that touch them.',
  ),
  prefixLost: withDescription(
    count,
    'Tokens in the prefix cache that the prompt of the next call does not begin with.',
  ),
  prefixKept: withDescription(count, 'Tokens in the prefix cache that it begins with.'),
  rows: withDescription(
    z.object({ count, extra: count, realigned: count }),
    'Number of training rows of the sample, the tokens of all rows except the last, and the sampled tokens that become context.',
  ),
  sentence: withDescription(
    z.exactOptional(z.string()),
    'The costs in one sentence, for an issue tracker. Omitted: no side was reconstructed.',
  ),
  first: withDescription(
    z.exactOptional(z.object({ token: count, kind: z.enum(DRIFT_KINDS) })),
    'The first drift. Omitted: no drift.',
  ),
  worst: withDescription(z.exactOptional(count), 'Number of the most severe span. Omitted: no drift.'),
  caveats: withDescription(z.array(z.string()), 'Reconstruction problems, which may cause drift.'),
  missedCalls: withDescription(
    z.exactOptional(
      z.object({
        responses: withDescription(count, 'Responses with the markup of a tool call, but without a parsed call.'),
        readers: withDescription(z.array(z.object({ ...callReader, responses: count })), 'Parsers that read them.'),
      }),
    ),
    'Omitted: none.',
  ),
})

const uncheckedSchema = z.object({
  kind: z.literal('unchecked'),
  ...named,
  why: withDescription(z.string(), 'The reason, the same for all samples that share it.'),
  detail: withDescription(z.exactOptional(z.string()), 'Details of this sample.'),
  hint: withDescription(z.exactOptional(z.string()), 'How to fix it.'),
})

/** Schema of one row: a checked sample, or an unchecked one with its reason. */
export const sampleSchema = z.discriminatedUnion('kind', [checkedSchema, uncheckedSchema])
/** Row of one sample of a corpus. */
export type Sample = Plain<z.infer<typeof sampleSchema>>
/** Row of a sample that was compared. */
export type CheckedSample = Extract<Sample, { readonly kind: 'checked' }>
/** Row of a sample that could not be compared: the reason, its details and a hint, for a person. */
export type UncheckedSample = Extract<Sample, { readonly kind: 'unchecked' }>

/** Returns the key, or `file:line`, or `file#record` if the file is one value. It is unique in a report. */
export const sampleOriginText = (place: SampleOrigin): string =>
  place.kind === 'stored'
    ? place.key
    : `${place.file}${place.line === undefined ? `#${place.record}` : `:${place.line}`}`

/** Returns the row of a sample that could not be compared. `recorded` is undefined if the trajectory could not be read. */
export const uncheckedSample = (
  place: SampleOrigin,
  recorded: TrajectoryView | undefined,
  reason: Pick<UncheckedSample, 'why' | 'detail' | 'hint'>,
): UncheckedSample => ({ kind: 'unchecked', ...(recorded && nameOf(recorded)), place, ...reason })

/** Returns the id and the title of a trajectory. Its first question replaces a missing title; the title is omitted if it has neither. */
export function nameOf(trajectory: TrajectoryView): Pick<CheckedSample, 'id' | 'title'> {
  const title = titleOrQuestion(trajectory)
  return { id: trajectory.id, ...(title !== undefined && { title }) }
}
