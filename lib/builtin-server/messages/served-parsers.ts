/** Which of SGLang's parsers the chat endpoint runs with, as the model's template asks for them. */
import { suggestParser } from '#lib/parsers/suggest.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'

export interface ServedParsers {
  readonly toolCalls: 'qwen' | undefined
  readonly reasoning: 'qwen3' | undefined
}

/** Calls and reasoning of other formats are left in the text, as on a server that was started without parsers. */
export function servedParsers({ template }: Pick<LoadedTokenizer, 'template'>): ServedParsers {
  const chatTemplate = template(true)?.text ?? ''
  const { parser, by } = suggestParser({ chatTemplate })
  return {
    toolCalls: by === 'template' && parser === 'hermes' ? 'qwen' : undefined,
    reasoning: chatTemplate.includes('<think>') ? 'qwen3' : undefined,
  }
}
