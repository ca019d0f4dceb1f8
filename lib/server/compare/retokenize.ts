/** Answers over HTTP which ids a pipeline that keeps text or messages would have for a trajectory or for plain ids. */
import * as z from 'zod'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { jsonTextResponse } from '../http/json-response.ts'
import { HttpProblem } from '../http/problem.ts'
import { noTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { labShape } from '../templates/lab-request.ts'
import { answered } from './comparing.ts'

/** Schema of the body of POST /api/retokenize. */
export const retokenizeRequestSchema = z
  .strictObject({
    ids: z.array(z.int().min(0)).min(1).exactOptional().describe('Token ids of the tokenizer named. With mode text.'),
    trajectory: z.string().exactOptional().describe('Key of a stored trajectory, in the place of `ids`.'),
    mode: z
      .enum(['text', 'structured', 'raw'])
      .describe(
        'text: encode(decode(ids)). structured, raw: the messages through the chat template, tool calls parsed or left as text.',
      ),
    tokenizer: labShape.tokenizer.describe(
      'Hub name, or a folder under ROLLSCOPE_TOKENIZERS. Default: that of the trajectory; of ids, built-in.',
    ),
    template: labShape.template.describe(
      'Chat template, Jinja. Default: the recorded one, or that of the `tokenizer` named. Not with mode text.',
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
  ids: z.array(count).describe('In the place of those that were read and written.'),
  vocab: z.record(z.string(), schemas.vocabEntry).describe('The text of each id; {hex} where it is no UTF-8 alone.'),
  text: z.string(),
  mask: z
    .array(z.int())
    .nullable()
    .describe('One entry per token: 1 = trained, where the original’s text is. null: of ids alone it is not known.'),
  firstDrift: count.nullable().describe('Index of the first token that is another one; null: none is.'),
  segments: z
    .array(z.object({ kind: z.enum(['prompt', 'response']), start: count, end: count }))
    .describe('Half-open ranges of `ids`. Of ids alone: one.'),
  perSegment: z
    .array(
      z.object({
        kind: z.enum(['prompt', 'response']),
        tokens: count.describe('As recorded.'),
        alone: count.describe('As encoded alone.'),
        drifted: count.describe('Recorded tokens that stand otherwise; or the new ones where none of those do.'),
      }),
    )
    .exactOptional()
    .describe('Each segment encoded by itself, as pipelines do that encode every message alone. With mode text.'),
  caveats: z
    .array(z.string())
    .describe('What could not be made as a pipeline would make it: a difference may come from that.'),
  doubts: z.array(z.string()).describe('The former name of caveats.'),
  tokenizer: z.object({ name: z.string(), fingerprint: z.string() }),
})
/** The answer of POST /api/retokenize. */
export type RetokenizeAnswer = z.infer<typeof retokenizeAnswerSchema>

/** Answers a checked request. Throws HttpProblem. */
export async function retokenize(request: RetokenizeRequest, all: Services, signal: AbortSignal): Promise<Response> {
  const told = await answered({ kind: 'retokenize', request }, all, signal).catch((error: unknown) => {
    if (!(error instanceof HttpProblem) || error.details.code !== 'NO_TRAJECTORY') throw error
    throw noTrajectory(request.trajectory ?? '', all.store)
  })
  return jsonTextResponse(told.text)
}
