/** Defines the row of one sample of a corpus. A row is small and does not reference the trajectory, so that its memory is released. */
import * as z from 'zod'
import { DRIFT_KINDS, DRIFT_SEVERITIES, type DriftLayer } from '#lib/trajectory/drift/report.ts'
import { firstQuestion } from '#lib/trajectory/messages/conversation.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Plain } from '#lib/util/plain.ts'

const count = z.int().min(0)

const placeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('stored'), key: z.string().describe('Key of the stored trajectory.') }),
  z.object({
    kind: z.literal('file'),
    file: z.string().describe('Name of the file.'),
    record: z.int().min(1).describe('Number of its record, counted from 1.'),
    line: z
      .int()
      .min(1)
      .exactOptional()
      .describe('Line in a JSON lines file, counted from 1. Omitted: the file is one value.'),
  }),
])
/** Where a sample was read. */
export type SamplePlace = Plain<z.infer<typeof placeSchema>>

const named = {
  id: z.string().exactOptional().describe('Id of the trajectory. Omitted: it could not be read.'),
  title: z.string().exactOptional().describe('Its title, or its first question. Omitted: it has neither.'),
  place: placeSchema,
}

/** Schema fields of a parser that reads a call which the run did not parse. */
export const callReader = {
  kind: z
    .enum(['rollscope', 'sglang'])
    .describe('rollscope: a parser of Rollscope. sglang: only SGLang has this parser.'),
  name: z.string().describe('Name of the parser. For parsers of SGLang, the value of --tool-call-parser.'),
}

const spanCounts = z.object({ trained: count, context: count, tail: count }).describe('Drift spans by severity.')
/** Numbers of drift spans by severity. */
export type SpanCounts = Plain<z.infer<typeof spanCounts>>

/** Schema of the same spans, counted by layer instead of severity. */
export const layerCounts = z.object({ structural: count, content: count }).describe('Drift spans by layer.')
/** Numbers of drift spans by layer: structural or content. */
export type LayerCounts = Readonly<Record<DriftLayer, number>>

const checkedSchema = z.object({
  kind: z.literal('checked'),
  ...named,
  tokens: z.object({ left: count, right: count }),
  trained: z.object({ touched: count, of: count }).describe('Trained tokens in drift, of all trained tokens.'),
  turns: count.describe('Responses of the model.'),
  severity: z.enum(DRIFT_SEVERITIES).exactOptional().describe('The most severe drift. Omitted: no drift.'),
  kinds: z
    .array(
      z.object({
        kind: z.enum(DRIFT_KINDS),
        spans: spanCounts,
        layers: layerCounts,
        trained: count.describe('Trained tokens in drift of this kind.'),
        gravest: z.object({
          drift: count.describe('Number of the span, from 0.'),
          severity: z.enum(DRIFT_SEVERITIES),
          trained: count.describe('Trained tokens in the span.'),
          cause: z.string(),
          remedy: z.string(),
        }),
      }),
    )
    .describe('The kinds of drift in the sample.'),
  byTurn: z
    .array(z.object({ turn: count.exactOptional(), spans: count }))
    .describe('Drift spans by the number of the response, from 0. Without a turn: between responses.'),
  byTool: z
    .array(z.object({ tool: z.string(), calls: count, spans: count }))
    .describe('For each called tool: its calls, and the drift spans that touch them.'),
  prefixLost: count.describe('Tokens in the prefix cache that the prompt of the next call does not begin with.'),
  prefixKept: count.describe('Tokens in the prefix cache that it begins with.'),
  rows: z
    .object({ count, extra: count, realigned: count })
    .describe(
      'Number of training rows of the sample, the tokens of all rows except the last, and the sampled tokens that become context.',
    ),
  sentence: z
    .string()
    .exactOptional()
    .describe('The costs in one sentence, for an issue tracker. Omitted: no side was reconstructed.'),
  first: z
    .object({ token: count, kind: z.enum(DRIFT_KINDS) })
    .exactOptional()
    .describe('The first drift. Omitted: no drift.'),
  worst: count.exactOptional().describe('Number of the most severe span. Omitted: no drift.'),
  caveats: z.array(z.string()).describe('Reconstruction problems, which may cause drift.'),
  missedCalls: z
    .object({
      responses: count.describe('Responses with the markup of a tool call, but without a parsed call.'),
      readers: z.array(z.object({ ...callReader, responses: count })).describe('Parsers that read them.'),
    })
    .exactOptional()
    .describe('Omitted: none.'),
})

const uncheckedSchema = z.object({
  kind: z.literal('unchecked'),
  ...named,
  why: z.string().describe('The reason, the same for all samples that share it.'),
  detail: z.string().exactOptional().describe('Details of this sample.'),
  hint: z.string().exactOptional().describe('How to fix it.'),
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
export const placeText = (place: SamplePlace): string =>
  place.kind === 'stored'
    ? place.key
    : `${place.file}${place.line === undefined ? `#${place.record}` : `:${place.line}`}`

/** Returns the row of a sample that could not be compared. `recorded` is undefined if the trajectory could not be read. */
export const uncheckedSample = (
  place: SamplePlace,
  recorded: TrajectoryView | undefined,
  reason: Pick<UncheckedSample, 'why' | 'detail' | 'hint'>,
): UncheckedSample => ({ kind: 'unchecked', ...(recorded && nameOf(recorded)), place, ...reason })

/** Returns the id and the title of a trajectory. Its first question replaces a missing title; the title is omitted if it has neither. */
export function nameOf(trajectory: TrajectoryView): Pick<CheckedSample, 'id' | 'title'> {
  const title = trajectory.title ?? firstQuestion(trajectory)
  return { id: trajectory.id, ...(title !== undefined && { title }) }
}
