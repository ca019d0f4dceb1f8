/** What text or ids would be sent as. */
import { type PreviewQuestion, type PromptPreview, promptPreviewSchema } from '#lib/api/prompt-preview.ts'
import { callApi } from '../api.ts'

/** Throws ApiError. */
export async function askPreview(question: PreviewQuestion, signal: AbortSignal): Promise<PromptPreview> {
  const answer = await callApi('/api/tokenize', { method: 'POST', json: question, signal })
  return promptPreviewSchema.parse(await answer.json())
}
