/** Compares two sides over HTTP and returns the drift report of the page and the command line. */
import * as z from 'zod'
import { unpackComparison } from '#lib/analysis/compare/sent-comparison.ts'
import { type RescoreAnswer, rescoreAnswerSchema, rescoreRequestSchema } from '#lib/analysis/rescore/answer.ts'
import { driftReportSchema } from '#lib/trajectory/drift/report.ts'
import { json, jsonTextResponse } from '../http/json-response.ts'
import type { Services } from '../services.ts'
import { runComparison } from './comparing.ts'
import { rescoreOnServer } from './rescore.ts'

const named = z.string().min(1).max(4096)
const tokenizer = named.describe(
  'Hub name, or a folder under ROLLSCOPE_TOKENIZERS. Default: the tokenizer of the trajectory.',
)
const template = z
  .string()
  .max(1_000_000)
  .describe('Chat template, Jinja. Default: the recorded template, or the template of `tokenizer`.')

const asSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal(['recorded', 'read']) }),
    z.strictObject({ kind: z.literal('text'), tokenizer: tokenizer.exactOptional() }),
    z.strictObject({
      kind: z.literal(['structured', 'raw']),
      tokenizer: tokenizer.exactOptional(),
      template: template.exactOptional(),
    }),
  ])
  .describe(
    'recorded: the recorded ids. text: encode(decode(ids)). structured, raw: the messages through the chat template, with tool ' +
      'calls parsed or as text. read: the last prompt that the server of a chat endpoint read. Default: recorded.',
  )

const sideSchema = z
  .union([
    named.describe(
      'The text of a side, as in addresses of the compare page: KEY, KEY~text, KEY~structured~tokenizer=NAME.',
    ),
    z.strictObject({
      trajectory: z.union([
        named.describe('Key of a stored trajectory.'),
        z.looseObject({ format: z.string() }).describe('A trajectory, as in public/trajectory.schema.json.'),
      ]),
      as: asSchema.exactOptional(),
    }),
    z.strictObject({
      ids: z.array(z.int().min(0)).min(1).describe('Token ids of `tokenizer`.'),
      tokenizer: named,
    }),
  ])
  .describe('The content of one side.')
/** One side of a request, as sent. */
export type SideInput = z.infer<typeof sideSchema>

/** Schema of the body of POST /api/compare. */
export const compareRequestSchema = z.strictObject({
  left: sideSchema,
  right: sideSchema,
  alignedRuns: z.boolean().exactOptional().describe('Include the equal parts in the answer.'),
  stretches: z.boolean().exactOptional().describe('The former name of alignedRuns.'),
  rescore: rescoreRequestSchema
    .exactOptional()
    .describe('Score both sides by prefill on saved servers, and compare the scores.'),
  weigh: rescoreRequestSchema.exactOptional().describe('The former name of rescore.'),
})
/** The body of POST /api/compare, after its check. */
export type CompareRequest = z.infer<typeof compareRequestSchema>

const span = z.object({ start: z.int().min(0), end: z.int().min(0) })
const alignedRunsSchema = z.array(z.looseObject({ kind: z.enum(['equal', 'drift']), left: span, right: span }))

/** Schema of the answer of POST /api/compare. */
export const compareAnswerSchema = z.object({
  report: driftReportSchema,
  caveats: z
    .object({ left: z.array(z.string()), right: z.array(z.string()) })
    .describe('Parts that could not be reconstructed as a pipeline creates them: they may cause drift.'),
  doubts: z.object({ left: z.array(z.string()), right: z.array(z.string()) }).describe('The former name of caveats.'),
  alignedRuns: alignedRunsSchema
    .exactOptional()
    .describe('In order, covering both sides completely. The nth drift is the nth span of the report.'),
  stretches: alignedRunsSchema.exactOptional().describe('The former name of alignedRuns, for requests with stretches.'),
  rescored: rescoreAnswerSchema.exactOptional(),
  weighed: rescoreAnswerSchema.exactOptional().describe('The former name of rescored, for requests with weigh.'),
})

/** Answers a checked request. Throws HttpProblem. */
export async function answerCompare(
  { left, right, alignedRuns = false, stretches = false, rescore, weigh }: CompareRequest,
  all: Services,
  signal: AbortSignal,
): Promise<Response> {
  const wants = (rescore ?? weigh) ? 'comparison' : 'answer'
  const request = { kind: 'sides', left, right, alignedRuns: alignedRuns || stretches, stretches, wants } as const
  const answer = await runComparison(request, all, signal)
  if (answer.kind === 'answer') return jsonTextResponse(answer.text)
  const received = unpackComparison(answer.sent, answer.originals)
  // The thread has already refused a side that cannot be made.
  if (!received.ok) throw new Error(received.why)
  const rescored: RescoreAnswer = await rescoreOnServer(received.value, rescore ?? weigh ?? {}, all, signal)
  return json({ ...JSON.parse(answer.text), rescored, ...(weigh && { weighed: rescored }) })
}
