/** Reads a file that is dropped on the composer. This module is loaded with the first such file. */
import { countText } from '#components/token-view/numbers.ts'
import { ApiError } from '#lib/browser/api.ts'
import { LONGEST_PROMPT } from '#lib/sampling/dialects/text-limits.ts'

/** Returns the text of the file. Throws ApiError if it is larger than the composer accepts. */
export async function droppedPrompt(file: Pick<File, 'name' | 'size' | 'text'>): Promise<string> {
  // A character has at most four bytes, so a larger file need not be read.
  const text = file.size > 4 * LONGEST_PROMPT ? undefined : await file.text()
  if (text === undefined || text.length > LONGEST_PROMPT)
    throw new ApiError(
      0,
      'TOO_LARGE',
      `${file.name} has ${countText(file.size)} bytes, more than the ${countText(LONGEST_PROMPT)} characters that a prompt may have here.`,
      'Nothing was changed. Send longer prompts over HTTP: POST /api/rollouts.',
    )
  return text
}
