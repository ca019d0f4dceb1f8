/**
 * What a comparison finds: every drift with its kind, its cause and its remedy, and what it costs. The schema of the report
 * as it is shown, exported, told over HTTP and by the command line.
 */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'
import { KIND_TEXTS } from './kinds.ts'
import { ROW_STEPS } from './replay.ts'

/**
 * Raised when the classification or the meaning of a field changes. 2: prefix and rows are of a replay, where version 1 cut
 * every earlier history from the last one.
 */
export const DRIFT_REPORT_VERSION = 2

export const DRIFT_KINDS = [
  'split',
  'normalisation',
  'partial-utf8',
  'call-json',
  'call-rewritten',
  'think-stripped',
  'think-inserted',
  'end-of-turn',
  'separator',
  'special-tokens',
  'context-changed',
  'truncation',
  'content',
  'unknown',
] as const
export type DriftKind = (typeof DRIFT_KINDS)[number]

/** Who is hit, the gravest first. */
export const DRIFT_SEVERITIES = ['trained', 'context', 'tail'] as const
export type DriftSeverity = (typeof DRIFT_SEVERITIES)[number]

/**
 * Whether a sample, or a span, counts where the drifting ones are counted: a newline behind the last end of turn, which most
 * templates write and no model does, changes nothing that is trained.
 */
export const countsAsDrift = (severity: DriftSeverity | undefined): boolean =>
  severity === 'trained' || severity === 'context'

/**
 * What differs. structural: a special token (ends of turns and the delimiters of think blocks and calls are such), or the
 * role in a turn's header. content: everything else.
 */
export const DRIFT_LAYERS = ['structural', 'content'] as const
export type DriftLayer = (typeof DRIFT_LAYERS)[number]

const span = z.object({ start: z.int().min(0), end: z.int().min(0) })
const count = z.int().min(0)

const driftSpanSchema = z.object({
  left: span.describe('Half-open range of tokens of the left side, counted from its first; may be empty.'),
  right: span.describe('The same of the right side.'),
  kind: z.enum(DRIFT_KINDS).describe(DRIFT_KINDS.map((kind) => `${kind}: ${KIND_TEXTS[kind].meaning}`).join(' ')),
  detail: z
    .string()
    .exactOptional()
    .describe(
      `Which form, of kinds that have several. ${DRIFT_KINDS.flatMap((kind) => {
        const names = Object.keys(KIND_TEXTS[kind].details)
        return names.length > 0 ? [`${kind}: ${names.join(', ')}.`] : []
      }).join(' ')} Omitted: the kind has one form.`,
    ),
  cause: z.string().describe('One sentence, for a person: what made it.'),
  remedy: z.string().describe('One sentence: what usually helps.'),
  severity: z
    .enum(DRIFT_SEVERITIES)
    .describe(
      'trained: the span holds trained tokens of the left side; or the left has nothing there, and what the right has is ' +
        'trained, or stands between two trained tokens of one response. context: trained tokens of the left stand ' +
        'behind it: they would be learnt in another context. tail: none of these.',
    ),
  layer: z
    .enum(DRIFT_LAYERS)
    .describe(
      'structural: the tokens of either side hold a special token (an end of a turn, a delimiter of a think block or a ' +
        'call) or the role of a turn. content: neither side’s do.',
    ),
  trained: z.object({ left: count, right: count }).describe('Trained tokens of the span on each side.'),
  turn: count
    .exactOptional()
    .describe(
      'Number of the first response that it touches, from 0: of the left, or of the right where the left has none there. ' +
        'Omitted: it touches none.',
    ),
  tool: z
    .string()
    .exactOptional()
    .describe('Name of the tool whose call it touches, by the same rule. Omitted: none, or a call without a name.'),
})
export type DriftSpan = Plain<z.infer<typeof driftSpanSchema>>

export const driftReportSchema = z.object({
  version: z.literal(DRIFT_REPORT_VERSION),
  tokens: z.object({ left: count, right: count }),
  spans: z.array(driftSpanSchema).describe('In order. Empty: the sides are equal.'),
  byKind: z.partialRecord(z.enum(DRIFT_KINDS), count).describe('Spans of each kind; none: left out.'),
  byLayer: z.object({ structural: count, content: count }).describe('Spans of each layer.'),
  severity: z.enum(DRIFT_SEVERITIES).exactOptional().describe('The gravest. Omitted: no drift.'),
  trained: z
    .object({ touched: count, of: count })
    .describe('Trained tokens of the left side that stand in drift, of all its trained tokens.'),
  replayed: z
    .enum(['rendered', 'encoded', 'read', 'ids'])
    .describe(
      'How the prompt of each call was made again, of the right side, or of the left where only the left is made again. ' +
        'rendered: its messages before the call through the chat template, with the generation prompt. encoded: the text ' +
        'of all ids before the call. read: as the server read it. ids: both sides are recorded, and the prompts are the ' +
        'right side’s ids before each of its responses. Replies are those that were recorded; with two recorded sides the ' +
        'left’s.',
    ),
  prefix: z
    .object({
      kept: count.describe(
        'Tokens of the prefix cache that each call’s prompt begins with, added up over all calls but the first. The cache ' +
          'holds the prompt and the reply of the call before.',
      ),
      lost: count.describe('The rest of these caches: tokens that a server reads again, or for nothing.'),
    })
    .describe('What the prefix cache is worth when the prompt of every call is made again. One call or none: 0 and 0.'),
  rows: z
    .object({
      count: count.describe(
        'Training rows that the sample becomes, counted as TRL 1.16.0 does: a call’s prompt that begins with all of the row ' +
          'continues it, and so does one that differs only within the last reply, by fewer than 1,024 tokens. Any other ' +
          'begins a new row.',
      ),
      extra: count.describe('Tokens of all rows but the last.'),
      realigned: count.describe(
        'Sampled tokens that are not trained on, since the row holds other tokens of a later prompt in their place.',
      ),
    })
    .describe(
      'What becomes of the sample when every reply is trained on behind the prompt that was made for its call.',
    ),
  calls: z
    .array(
      z.object({
        tokens: count.describe('Tokens of the prompt.'),
        cached: z
          .object({
            kept: count.describe('Tokens of the cache that the prompt begins with.'),
            of: count.describe('Tokens that the call before has left there: its prompt and its reply.'),
            step: z.enum(ROW_STEPS).describe('How the prompt continues the training row.'),
          })
          .exactOptional()
          .describe('Omitted: the first call.'),
      }),
    )
    .describe('In order.'),
  firstRewrite: z
    .object({
      turn: count.describe('Number of the call, from 0.'),
      line: count.exactOptional().describe('Line of the template that wrote the first token that differs, from 1.'),
    })
    .exactOptional()
    .describe(
      'The first call whose prompt does not begin with the prompt and the reply of the call before. Omitted: none.',
    ),
  sentence: z
    .string()
    .exactOptional()
    .describe('The costs in one sentence, for a trainer’s issue tracker. Omitted: both sides are recorded.'),
  sameVocabulary: z
    .boolean()
    .describe('False: ids are of different tokenizers; tokens are equal where their bytes are.'),
})
export type DriftReport = Plain<z.infer<typeof driftReportSchema>>
