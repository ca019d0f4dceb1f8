/** Renders a conversation with a chat template over HTTP, with the source of every token. */
import * as z from 'zod'
import { type LabInput, runToEnd } from '#lib/tasks/task.ts'
import { originOf, type RenderPreview } from '#lib/templates/preview/render-preview.ts'
import { tasks } from '#lib/templates/tasks/tasks.ts'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { conversationShape, labShape, rejectedInput, type TokenizerWithTemplate } from './lab-request.ts'

/** Schema of the body of POST /api/render. */
export const renderRequestSchema = z.strictObject({ ...labShape, ...conversationShape })

const column = (of: string) => z.array(z.int()).describe(`One entry per token: ${of}`)

/** Schema of the answer of POST /api/render. */
export const renderAnswerSchema = z.object({
  text: z.string(),
  ids: column('its id.'),
  starts: column('UTF-16 offset of its first character, which may be partial.'),
  ends: column('UTF-16 offset after its last character.'),
  lines: column('template line that wrote its first character, from 1.'),
  messages: z
    .array(z.int().nullable())
    .describe('One entry per token: index of its message. null: outside all messages.'),
  mask: z
    .array(z.int())
    .nullable()
    .describe('One entry per token: 1 = trained, by `maskBy`. null: unknown for this template.'),
  maskBy: z.string().describe('Origin of the mask, or why there is none.'),
  vocab: z
    .record(z.string(), schemas.vocabEntry)
    .describe('The text of each id; {hex} if its bytes alone are not valid UTF-8.'),
  tokenizer: z.object({ name: z.string(), fingerprint: z.string() }),
})
/** The answer of POST /api/render. */
export type RenderAnswer = z.infer<typeof renderAnswerSchema>

/** Returns the rendered conversation. Throws HttpProblem 422 with Python's words if it cannot be rendered. */
export function renderConversation(texts: Omit<LabInput, 'template'>, chosen: TokenizerWithTemplate): RenderAnswer {
  const preview = runToEnd(tasks.preview({ template: chosen.template, ...texts }, [chosen]))
  if (preview.kind === 'refused') throw rejectedInput(preview.error)
  const { name, fingerprint } = chosen.tokenizer
  return { ...previewAnswer(preview.renderPreview), tokenizer: { name, fingerprint } }
}

function previewAnswer(renderPreview: RenderPreview): Omit<RenderAnswer, 'tokenizer'> {
  const { text, ids, starts, ends, mask, vocab } = renderPreview
  const origins = Array.from(ids, (_, index) => originOf(renderPreview, index))
  return {
    text,
    ids: [...ids],
    starts: [...starts],
    ends: [...ends],
    lines: origins.map((origin) => origin?.line ?? 1),
    messages: origins.map((origin) => origin?.message ?? null),
    mask: mask.kind === 'known' ? [...mask.trained] : null,
    maskBy: mask.kind === 'known' ? mask.by : mask.why,
    vocab,
  }
}
