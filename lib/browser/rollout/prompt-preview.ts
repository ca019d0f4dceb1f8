/** What text or ids would be sent as. */
import { type PreviewQuestion, type PromptPreview, promptPreviewSchema } from '#lib/api/prompt-preview.ts'
import { fetchJson } from '../api.ts'

/** Throws ApiError. */
export async function askPreview(question: PreviewQuestion, signal: AbortSignal): Promise<PromptPreview> {
  return fetchJson('/api/tokenize', promptPreviewSchema, { method: 'POST', json: question, signal })
}
