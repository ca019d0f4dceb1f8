/** Answers over HTTP which ids a pipeline that keeps text or messages would have for a trajectory or for plain ids. */
import * as z from 'zod'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { jsonTextResponse } from '../http/json-response.ts'
import { HttpProblem } from '../http/problem.ts'
import { noTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { labShape } from '../templates/lab-request.ts'
import { runComparison } from './comparing.ts'

/** Schema of the body of POST /api/retokenize. */
export const retokenizeRequestSchema = z
  .strictObject({
    ids: z.array(z.int().min(0)).min(1).exactOptional().describe('Token ids of `tokenizer`. Only with mode text.'),
    trajectory: z.string().exactOptional().describe('Key of a stored trajectory, instead of `ids`.'),
    mode: z
      .enum(['text', 'structured', 'raw'])
      .describe(
        'text: encode(decode(ids)). structured, raw: the messages through the chat template, with tool calls parsed or as text.',
      ),
    tokenizer: labShape.tokenizer.describe(
      'Hub name, or a folder under ROLLSCOPE_TOKENIZERS. Default: the tokenizer of the trajectory; built-in for ids.',
    ),
    template: labShape.template.describe(
      'Chat template, Jinja. Default: the recorded template, or the template of `tokenizer`. Not with mode text.',
    ),
  })
  .refine(({ ids, trajectory }) => (ids === undefined) !== (trajectory === undefined), {
    message: 'either "ids" or "trajectory"',
  })
  .refine(({ ids, mode }) => ids === undefined || mode === 'text', { message: '"mode" text with ids' })
  .refine(({ template, mode }) => template === undefined || mode !== 'text', {
    message: 'no "template" with mode text',
  })
/** The body of POST /api/retokenize, after its check. */
export type RetokenizeRequest = z.infer<typeof retokenizeRequestSchema>

const count = z.int().min(0)

/** Schema of the answer of POST /api/retokenize. */
export const retokenizeAnswerSchema = z.object({
  ids: z.array(count).describe('The ids after retokenization.'),
  vocab: z
    .record(z.string(), schemas.vocabEntry)
    .describe('The text of each id; {hex} if its bytes alone are not valid UTF-8.'),
  text: z.string(),
  mask: z
    .array(z.int())
    .nullable()
    .describe(
      'One entry per token: 1 = its text is trained in the original. null: unknown, because only ids were sent.',
    ),
  firstDrift: count.nullable().describe('Index of the first token that differs. null: no token differs.'),
  segments: z
    .array(z.object({ kind: z.enum(['prompt', 'response']), start: count, end: count }))
    .describe('Segments as half-open ranges of `ids`. One segment if only ids were sent.'),
  perSegment: z
    .array(
      z.object({
        kind: z.enum(['prompt', 'response']),
        tokens: count.describe('As recorded.'),
        alone: count.describe('Number of tokens if the segment is encoded separately.'),
        drifted: count.describe(
          'Number of recorded tokens that change, or of new tokens if no recorded token changes.',
        ),
      }),
    )
    .exactOptional()
    .describe(
      'Each segment encoded separately, like in pipelines that encode each message separately. Only with mode text.',
    ),
  caveats: z
    .array(z.string())
    .describe('Parts that could not be reconstructed as a pipeline creates them: they may cause differences.'),
  doubts: z.array(z.string()).describe('The former name of caveats.'),
  tokenizer: z.object({ name: z.string(), fingerprint: z.string() }),
})
/** The answer of POST /api/retokenize. */
export type RetokenizeAnswer = z.infer<typeof retokenizeAnswerSchema>

/** Answers a checked request. Throws HttpProblem. */
export async function answerRetokenize(
  request: RetokenizeRequest,
  all: Services,
  signal: AbortSignal,
): Promise<Response> {
  const answer = await runComparison({ kind: 'retokenize', request }, all, signal).catch((error: unknown) => {
    if (!(error instanceof HttpProblem) || error.details.code !== 'NO_TRAJECTORY') throw error
    throw noTrajectory(request.trajectory ?? '', all.store)
  })
  return jsonTextResponse(answer.text)
}
