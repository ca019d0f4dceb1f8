/** Test double: a server's tokenizer, computed by a tokenizer and template of ours, with counts of its calls. */

import { EngineError } from '#lib/engine/http/errors.ts'
import type { ServerTokenizer } from '#lib/engine/tokenizer/server-tokenizer.ts'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'

/** The tokenizer, and how often each endpoint was called with work to do. */
export interface ScriptedTokenizer extends ServerTokenizer {
  readonly calls: { tokenize: number; tokenizeMessages: number; detokenize: number }
}

/** Returns the tokenizer. `decode` joins pieces to a text; the default joins their bytes as byte-level tokenizers do. */
export function scriptedTokenizer(
  { tokenizer, template }: PromptEncoder,
  decode: (pieces: readonly Uint8Array[]) => string = joinedText,
): ScriptedTokenizer {
  const calls = { tokenize: 0, tokenizeMessages: 0, detokenize: 0 }
  const special = new Set(tokenizer.addedTokens.filter((token) => token.special).map(({ id }) => id))
  return {
    calls,
    async tokenize(texts) {
      if (texts.length > 0) calls.tokenize++
      return texts.map((text) => tokenizer.encode(text))
    },
    async frame() {
      return tokenizer.frame ?? { before: [], after: [] }
    },
    async tokenizeMessages(input) {
      calls.tokenizeMessages++
      try {
        return tokenizer.encode(template.render(input))
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error
        throw new EngineError('UPSTREAM_REJECTED', error.message, { status: 400 })
      }
    },
    async detokenize(lists, shown) {
      if (lists.length > 0) calls.detokenize++
      const isShown = (id: number) => shown === 'with special tokens' || !special.has(id)
      return lists.map((ids) => decode(ids.filter(isShown).map((id) => tokenizer.bytes(id))))
    },
  }
}

const joinedText = (pieces: readonly Uint8Array[]): string => new TextDecoder().decode(Buffer.concat(pieces))
