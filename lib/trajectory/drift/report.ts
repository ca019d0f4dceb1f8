/**
 * The result of a comparison: every drift with its kind, cause and remedy, and what it costs. This is the schema of the
 * report that is shown, exported, and returned over HTTP and by the command line.
 */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { DRIFT_KINDS, KIND_TEXTS } from './kinds.ts'
import { ROW_STEPS } from './replay.ts'

/**
 * Incremented when the classification or the meaning of a field changes. 2: prefix and rows come from a replay; version
 * 1 cut every earlier history from the last one.
 */
export const DRIFT_REPORT_VERSION = 2

/** Severities of a drift span, the worst first. */
export const DRIFT_SEVERITIES = ['trained', 'context', 'tail'] as const
/** The severity of a drift span. */
export type DriftSeverity = (typeof DRIFT_SEVERITIES)[number]

/**
 * Returns whether a sample or span counts as drifting. A newline after the last end of turn, which most templates write
 * and no model does, changes nothing that is trained.
 */
export const countsAsDrift = (severity: DriftSeverity | undefined): boolean =>
  severity === 'trained' || severity === 'context'

/**
 * What differs. structural: a special token (such as ends of turns and delimiters of think blocks and calls), or the
 * role in a turn header. content: everything else.
 */
export const DRIFT_LAYERS = ['structural', 'content'] as const
/** The layer of a drift span. */
export type DriftLayer = (typeof DRIFT_LAYERS)[number]

const span = z.object({ start: z.int().check(z.minimum(0)), end: z.int().check(z.minimum(0)) })
const count = z.int().check(z.minimum(0))

const driftSpanSchema = z.object({
  left: withDescription(
    span,
    'Half-open range of tokens of the left side, counted from its first token; may be empty.',
  ),
  right: withDescription(span, 'The same for the right side.'),
  kind: withDescription(
    z.enum(DRIFT_KINDS),
    DRIFT_KINDS.map((kind) => `${kind}: ${KIND_TEXTS[kind].meaning}`).join(' '),
  ),
  detail: withDescription(
    z.exactOptional(z.string()),
    `Which form, of kinds that have several. ${DRIFT_KINDS.flatMap((kind) => {
      const names = Object.keys(KIND_TEXTS[kind].details)
      return names.length > 0 ? [`${kind}: ${names.join(', ')}.`] : []
    }).join(' ')} Omitted: the kind has one form.`,
  ),
  cause: withDescription(z.string(), 'The cause in one sentence.'),
  remedy: withDescription(z.string(), 'What usually helps, in one sentence.'),
  severity: withDescription(
    z.enum(DRIFT_SEVERITIES),
    'trained: the span contains trained tokens of the left side; or the left has nothing there, and the right side’s tokens are ' +
      'trained or between two trained tokens of one response. context: trained tokens of the left side follow ' +
      'after it: they would be learnt in a different context. tail: neither.',
  ),
  layer: withDescription(
    z.enum(DRIFT_LAYERS),
    'structural: the tokens of either side contain a special token (an end of a turn, a delimiter of a think block or a ' +
      'call) or the role of a turn. content: those of neither side do.',
  ),
  trained: withDescription(z.object({ left: count, right: count }), 'Trained tokens of the span on each side.'),
  turn: withDescription(
    z.exactOptional(count),
    'Number of the first response that it touches, from 0: on the left, or on the right if it touches none on the left. ' +
      'Omitted: it touches none.',
  ),
  tool: withDescription(
    z.exactOptional(z.string()),
    'Name of the tool whose call it touches, by the same rule. Omitted: none, or a call without a name.',
  ),
})
/** A located difference between two trajectories. */
export type DriftSpan = Plain<z.infer<typeof driftSpanSchema>>

/** Schema of the result of a comparison. */
export const driftReportSchema = z.object({
  version: z.literal(DRIFT_REPORT_VERSION),
  tokens: z.object({ left: count, right: count }),
  spans: withDescription(z.array(driftSpanSchema), 'In order. Empty: the sides are equal.'),
  byKind: withDescription(
    z.partialRecord(z.enum(DRIFT_KINDS), count),
    'Number of spans of each kind; kinds without spans are omitted.',
  ),
  byLayer: withDescription(z.object({ structural: count, content: count }), 'Number of spans of each layer.'),
  severity: withDescription(z.exactOptional(z.enum(DRIFT_SEVERITIES)), 'The worst severity. Omitted: no drift.'),
  trained: withDescription(
    z.object({ touched: count, of: count }),
    'Trained tokens of the left side that are inside of drift spans, and all its trained tokens.',
  ),
  replayed: withDescription(
    z.enum(['rendered', 'encoded', 'read', 'ids']),
    'How the prompt of each call was rebuilt, on the right side, or on the left if only the left is replayed. ' +
      'rendered: its messages before the call through the chat template, with the generation prompt. encoded: the text ' +
      'of all ids before the call. read: as the server tokenized it. ids: both sides are recorded, and the prompts are the ' +
      'right side’s ids before each of its responses. Replies are the recorded ones; with two recorded sides the ' +
      'left’s.',
  ),
  prefix: withDescription(
    z.object({
      kept: withDescription(
        count,
        'Total of the tokens of the prefix cache that each call’s prompt begins with, over all calls but the first. The cache ' +
          'contains the prompt and the reply of the call before.',
      ),
      lost: withDescription(count, 'The rest of these cached tokens, which the server computes again or never uses.'),
    }),
    'Use of the prefix cache if the prompt of every call is rebuilt. One call or none: 0 and 0.',
  ),
  rows: withDescription(
    z.object({
      count: withDescription(
        count,
        'Training rows of the sample, counted like TRL 1.16.0: a call’s prompt that begins with the whole row ' +
          'continues it, and so does one that differs only within the last reply, by fewer than 1,024 tokens. Any other ' +
          'begins a new row.',
      ),
      extra: withDescription(count, 'Tokens of all rows but the last.'),
      realigned: withDescription(
        count,
        'Sampled tokens that are not trained, because the row contains different tokens of a later prompt in their place.',
      ),
    }),
    'The costs if every reply is trained after the rebuilt prompt of its call.',
  ),
  calls: withDescription(
    z.array(
      z.object({
        tokens: withDescription(count, 'Tokens of the prompt.'),
        cached: withDescription(
          z.exactOptional(
            z.object({
              kept: withDescription(count, 'Tokens of the cache that the prompt begins with.'),
              of: withDescription(count, 'Cached tokens of the call before: its prompt and its reply.'),
              step: withDescription(z.enum(ROW_STEPS), 'How the prompt continues the training row.'),
            }),
          ),
          'Omitted for the first call.',
        ),
      }),
    ),
    'In order.',
  ),
  firstRewrite: withDescription(
    z.exactOptional(
      z.object({
        turn: withDescription(count, 'Number of the call, from 0.'),
        line: withDescription(z.exactOptional(count), 'Template line that wrote the first differing token, from 1.'),
      }),
    ),
    'The first call whose prompt does not begin with the prompt and the reply of the call before. Omitted: none.',
  ),
  sentence: withDescription(
    z.exactOptional(z.string()),
    'The costs in one sentence, for a trainer’s issue tracker. Omitted: both sides are recorded.',
  ),
  sameVocabulary: withDescription(
    z.boolean(),
    'False: ids are of different tokenizers, and tokens are equal if their bytes are.',
  ),
})
/** The result of a comparison. */
export type DriftReport = Plain<z.infer<typeof driftReportSchema>>
