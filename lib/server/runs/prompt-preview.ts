/** Previews a prompt of text or ids with the same steps as a run, but without the run. */
import * as z from 'zod'
import type { PromptPreview } from '#lib/api/prompt-preview.ts'
import { computeSettled } from '#lib/rollout/prompt/prompt.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { choosePromptEncoder } from './prompt-encoder.ts'
import { promptOfRaw, rawPromptIn } from './raw-prompt.ts'

/** Schema of the body of a request for a preview. */
export const previewRequestSchema = z.strictObject({
  text: z.string().exactOptional(),
  ids: z.array(z.int().min(0)).min(1).exactOptional().describe('They have priority over `text`.'),
  server: z.string().exactOptional().describe('The same as for a run.'),
  tokenizer: z.string().max(4096).exactOptional().describe('The same as for a run.'),
})

const HEAD = 240
const TAIL = 60

/** Returns the ids that a run would send, with their texts and notes. Throws HttpProblem or EngineError. */
export async function previewPrompt(
  request: z.infer<typeof previewRequestSchema>,
  all: Services,
  signal: AbortSignal,
): Promise<PromptPreview> {
  const rawPrompt = rawPromptIn(request)
  if (!rawPrompt) throw new HttpProblem({ status: 422, code: 'BAD_REQUEST', detail: 'expected "text" or "ids"' })
  const name = request.server ?? all.servers.defaultName
  const client = all.servers.client(name)
  const { tokenizerName } = await client.describe(signal)
  const { promptEncoder } = await choosePromptEncoder(
    { tokenizer: request.tokenizer, chatTemplate: undefined, options: {}, hasTools: false, needsTemplate: false },
    { name, tokenizerName },
    all,
    signal,
  )
  const { ids, problems } = await promptOfRaw(rawPrompt, promptEncoder, client, signal)
  const isWhole = ids.length <= HEAD + TAIL
  const head = isWhole ? ids : ids.slice(0, HEAD)
  const tail = isWhole ? [] : ids.slice(-TAIL)
  const shownIds = [...new Set([...head, ...tail])]
  const added = new Set(promptEncoder.tokenizer.addedTokens.map(({ id }) => id))
  const vocab = await computeSettled(
    promptEncoder,
    () => Object.fromEntries(shownIds.map((id) => [id, vocabEntry(promptEncoder.tokenizer.bytes(id))])),
    signal,
  )
  return {
    tokenizer: promptEncoder.tokenizer.name,
    count: ids.length,
    head,
    tail,
    vocab,
    specialIds: shownIds.filter((id) => added.has(id)),
    notes: problems.map(({ message }) => message),
  }
}
