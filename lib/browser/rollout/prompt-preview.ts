/** Previews how text or ids would be sent. */
import { type PreviewQuestion, type PromptPreview, promptPreviewSchema } from '#lib/api/prompt-preview.ts'
import { fetchJson } from '../api.ts'

/** Returns the preview of a prompt. Throws ApiError. */
export async function fetchPromptPreview(question: PreviewQuestion, signal: AbortSignal): Promise<PromptPreview> {
  return fetchJson('/api/tokenize', promptPreviewSchema, { method: 'POST', json: question, signal })
}
