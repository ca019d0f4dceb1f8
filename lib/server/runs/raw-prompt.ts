/** The first prompt of a rollout whose request gives text or ids in place of messages. */

import { type Prompt, type PromptEncoder, settled } from '#lib/rollout/prompt/prompt.ts'
import { encodeRawPrompt, type RawPrompt } from '#lib/rollout/prompt/raw-prompt.ts'
import type { ServerTokenizer } from '#lib/sglang/server/server-tokenizer.ts'
import { HttpProblem } from '../http/problem.ts'

/** Undefined where it gives neither. The ids win over a text beside them. */
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

/** Throws Problem, SglangError. */
export async function promptOfGiven(
  given: RawPrompt,
  codec: PromptEncoder,
  client: Pick<ServerTokenizer, 'frame'>,
  signal: AbortSignal,
): Promise<Prompt> {
  const { tokenizer } = codec
  const asksServer = codec.fetchesBytes && (given.kind === 'text' || given.text !== undefined)
  const frame = tokenizer.frame ?? (asksServer ? await client.frame(signal) : { before: [], after: [] })
  const derive = () => {
    const made = encodeRawPrompt(given, tokenizer, frame)
    // The vocabulary that is recorded with the prompt is asked for here, where it can still be fetched.
    if (made.kind === 'prompt') for (const id of made.prompt.ids) tokenizer.bytes(id)
    return made
  }
  const made = await settled(codec, derive, signal)
  switch (made.kind) {
    case 'prompt':
      return made.prompt
    case 'empty':
      throw new HttpProblem({
        status: 422,
        code: 'EMPTY_PROMPT',
        detail: 'no token comes of this text, and SGLang needs one to go on from',
        hint: 'Give a text, or the id of a beginning-of-sequence token.',
        field: 'text',
      })
    case 'unknown-id':
      throw new HttpProblem({
        status: 422,
        code: 'UNKNOWN_ID',
        detail: `ids[${made.index}] is ${made.id}, and the ids of the tokenizer ${tokenizer.name} end at ${tokenizer.vocabularySize - 1}`,
        hint: 'The ids may be those of another tokenizer.',
        field: `ids.${made.index}`,
      })
  }
}
