/** A file that was dropped on the composer. Loaded with the first one. */
import { ApiError } from '#lib/browser/api.ts'
import { LONGEST_PROMPT } from '#lib/sampling/dialects/text-limits.ts'

/** Throws ApiError where it is larger than the composer takes. */
export async function droppedPrompt(file: Pick<File, 'name' | 'size' | 'text'>): Promise<string> {
  // A character has four bytes at most.
  const text = file.size > 4 * LONGEST_PROMPT ? undefined : await file.text()
  if (text === undefined || text.length > LONGEST_PROMPT)
    throw new ApiError(
      0,
      'TOO_LARGE',
      `${file.name} has ${file.size.toLocaleString('en')} bytes, more than the ${LONGEST_PROMPT.toLocaleString('en')} characters that a prompt may have here.`,
      'Nothing was changed. Send longer prompts over HTTP: POST /api/rollouts.',
    )
  return text
}
