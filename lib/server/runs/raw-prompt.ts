/** Creates the first prompt of a rollout whose request has text or ids instead of messages. */

import type { ServerTokenizer } from '#lib/engine/tokenizer/server-tokenizer.ts'
import { computeSettled, type Prompt, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { encodeRawPrompt, type RawPrompt } from '#lib/rollout/prompt/raw-prompt.ts'
import { HttpProblem } from '../http/problem.ts'

/** Returns the text or the ids of a request; undefined if it has neither. Ids take precedence over a text. */
export function rawPromptIn({
  text,
  ids,
}: {
  readonly text?: string
  readonly ids?: readonly number[]
}): RawPrompt | undefined {
  if (ids !== undefined) return { kind: 'ids', ids, ...(text !== undefined && { text }) }
  return text === undefined ? undefined : { kind: 'text', text }
}

/** Returns the prompt of a text or of ids. Throws HttpProblem or EngineError. */
export async function promptOfRaw(
  given: RawPrompt,
  promptEncoder: PromptEncoder,
  client: Pick<ServerTokenizer, 'frame'>,
  signal: AbortSignal,
): Promise<Prompt> {
  const { tokenizer } = promptEncoder
  const asksServer = promptEncoder.fetchesBytes && (given.kind === 'text' || given.text !== undefined)
  const frame = tokenizer.frame ?? (asksServer ? await client.frame(signal) : { before: [], after: [] })
  const derive = () => {
    const encodedPrompt = encodeRawPrompt(given, tokenizer, frame)
    // The bytes of the ids are requested here, where missing ones can still be fetched; the record needs them later.
    if (encodedPrompt.kind === 'prompt') for (const id of encodedPrompt.prompt.ids) tokenizer.bytes(id)
    return encodedPrompt
  }
  const placement = await computeSettled(promptEncoder, derive, signal)
  switch (placement.kind) {
    case 'prompt':
      return placement.prompt
    case 'empty':
      throw new HttpProblem({
        status: 422,
        code: 'EMPTY_PROMPT',
        detail: 'this text has no tokens, and SGLang needs at least one token to continue from',
        hint: 'Send a text, or the id of a beginning-of-sequence token.',
        field: 'text',
      })
    case 'unknown-id':
      throw new HttpProblem({
        status: 422,
        code: 'UNKNOWN_ID',
        detail: `ids[${placement.index}] is ${placement.id}, and the ids of the tokenizer ${tokenizer.name} end at ${tokenizer.vocabularySize - 1}`,
        hint: 'The ids may belong to another tokenizer.',
        field: `ids.${placement.index}`,
      })
  }
}
