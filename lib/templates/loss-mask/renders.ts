/** Renders of parts of a conversation, and how one of them fails to begin with another. */

import type { RenderInput } from '#lib/templates/chat-template.ts'
import { commonIds, commonText } from '#lib/util/common-prefix.ts'
import { type InputError, orTemplateFailure, type ReadInput } from '../document/input.ts'
import type { ConversationTokens } from './conversation.ts'
import { type MaskedTokens, quoteTokens } from './masked-tokens.ts'
import type { Break, TokenRange } from './report.ts'

/** Tokens that a way composes from several renders. */
export interface OwnTokens extends MaskedTokens {
  readonly breaks: readonly Break[]
  /** Tokens that contain both the end of a generation prompt and the start of the reply. */
  readonly merged: readonly TokenRange[]
}

/** A rendered part of a conversation. */
export interface RenderedPart {
  readonly input: RenderInput
  readonly text: string
  readonly ids: readonly number[]
}

/** Renders a part of the conversation, or returns the error of the template. */
export function renderPart(
  { input, template, tokenizer }: ConversationTokens,
  messages: RenderInput['messages'],
  addGenerationPrompt: boolean,
): ReadInput<RenderedPart> {
  const part = { ...input, messages, addGenerationPrompt }
  return orTemplateFailure(() => {
    const text = template.render(part)
    return { input: part, text, ids: tokenizer.encode(text) }
  })
}

/** Numbers of tokens that are shown before and after a difference. */
const BEFORE = 4
const AFTER = 12

/** Returns the break of a render: `found` should begin with `expected`. */
export function brokenPrefix(
  conversation: ConversationTokens,
  message: number,
  text: string,
  expected: RenderedPart,
  found: RenderedPart,
): Break {
  const tokenIndex = commonIds(expected.ids, found.ids)
  const bytes = (id: number): Uint8Array => conversation.tokenizer.bytes(id)
  const around = ({ ids }: RenderedPart): string =>
    quoteTokens({ ids, bytes }, Math.max(0, tokenIndex - BEFORE), Math.min(ids.length, tokenIndex + AFTER))
  const line = lineAt(conversation, found, commonText(expected.text, found.text))
  return {
    message,
    text,
    difference: { tokenIndex, expected: around(expected), found: around(found) },
    ...(line !== undefined && { line }),
  }
}

/** Returns the break of a render that failed. */
export const failedRender = (message: number, text: string, { message: why, line }: InputError): Break => ({
  message,
  text: `${text}: ${why}`,
  ...(line !== undefined && { line }),
})

/** Returns the line that wrote a character; the last line if the text ends there. */
function lineAt({ template }: ConversationTokens, { input }: RenderedPart, offset: number): number | undefined {
  const { pieces } = template.trace(input)
  return (pieces.find(({ end }) => end > offset) ?? pieces.at(-1))?.line
}
