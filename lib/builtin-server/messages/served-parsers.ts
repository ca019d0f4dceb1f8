/** Chooses the SGLang parsers of the chat endpoint by the model's template. */
import { suggestParser } from '#lib/parsers/suggest.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'

/** SGLang's names of the parsers; undefined: the text is not parsed. */
export interface ServedParsers {
  readonly toolCalls: 'qwen' | undefined
  readonly reasoning: 'qwen3' | undefined
}

/** Returns the parsers of a model. Calls and reasoning of other formats stay in the text, as on a server without parsers. */
export function servedParsers({ template }: Pick<LoadedTokenizer, 'template'>): ServedParsers {
  const chatTemplate = template(true)?.text ?? ''
  const { parser, by } = suggestParser({ chatTemplate })
  return {
    toolCalls: by === 'template' && parser === 'hermes' ? 'qwen' : undefined,
    reasoning: chatTemplate.includes('<think>') ? 'qwen3' : undefined,
  }
}
