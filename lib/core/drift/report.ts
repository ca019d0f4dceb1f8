/**
 * What a comparison finds: every drift with its kind, its cause and its remedy, and what it costs. The schema of the report
 * as it is shown, exported, told over HTTP and by the command line.
 */
import * as z from 'zod'
import type { Plain } from '../trajectory.ts'
import { KIND_TEXTS } from './kinds.ts'

/** Raised when the classification changes. */
export const DRIFT_REPORT_VERSION = 1

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
  severity: z.enum(DRIFT_SEVERITIES).exactOptional().describe('The gravest. Omitted: no drift.'),
  trained: z
    .object({ touched: count, of: count })
    .describe('Trained tokens of the left side that stand in drift, of all its trained tokens.'),
  prefix: z
    .object({
      kept: count.describe(
        'Of those that a server holds before each call but the first, the tokens that it need not read again, added up over ' +
          'the calls. Before a call it holds all tokens of the left side up to the end of the response before. What is ' +
          'served of them are those before the first that differs.',
      ),
      lost: count.describe('The rest of them: held in vain, since the history is told with other tokens.'),
    })
    .describe(
      'What the prefix cache is worth when every call after the first sends the right side’s history instead of the ' +
        'left’s ids. One response or none: 0 and 0. No drift: 0 lost.',
    ),
  rows: z
    .object({
      count: count.describe(
        'Training rows that the sample becomes. A row goes on as long as the next response’s history begins with the row: ' +
          'so a new one begins behind every response, but the last, whose tokens the right side has otherwise.',
      ),
      extra: count.describe(
        'Tokens of all rows but the last. Each of them is the right side’s history before a response, and that response.',
      ),
    })
    .describe('What becomes of the sample when every response is trained on behind the right side’s history.'),
  sameVocabulary: z
    .boolean()
    .describe('False: ids are of different tokenizers; tokens are equal where their bytes are.'),
})
export type DriftReport = Plain<z.infer<typeof driftReportSchema>>
