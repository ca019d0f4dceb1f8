/** The interface of a server's own tokenizer. */
import type { RenderInput } from '#lib/templates/chat-template.ts'
import type { TextFrame } from '#lib/tokenizer/tokenizer.ts'

/** The tokenizer of a server. */
export interface ServerTokenizer {
  /** Returns the ids of each text. Throws UPSTREAM_REJECTED with status 404 if the server has no tokenizer. */
  tokenize(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>
  /** Returns the tokens that the server adds to texts by default, as to the `text` of /generate. */
  frame(signal: AbortSignal): Promise<TextFrame>
  /** Returns the ids of a conversation in the server's chat template. Older servers and the router cannot do this. */
  tokenizeMessages(input: RenderInput, signal: AbortSignal): Promise<readonly number[]>
  /** Returns the text of each list of ids; invalid UTF-8 becomes U+FFFD. */
  detokenize(
    lists: readonly (readonly number[])[],
    special: 'with special tokens' | 'without special tokens',
    signal: AbortSignal,
  ): Promise<readonly string[]>
}

/** Returns the fields by which servers name a conversation that their chat template renders. */
export const conversationFields = ({
  messages,
  tools,
  addGenerationPrompt,
  continueFinalMessage,
  options,
}: RenderInput): Record<string, unknown> => ({
  messages,
  ...(tools && tools.length > 0 && { tools }),
  add_generation_prompt: addGenerationPrompt,
  ...(continueFinalMessage && { continue_final_message: continueFinalMessage }),
  ...(Object.keys(options).length > 0 && { chat_template_kwargs: options }),
})
