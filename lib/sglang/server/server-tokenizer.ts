/**
 * The server's own tokenizer: /tokenize and /detokenize of SGLang 0.5.5 and newer. The router has them only under /v1. Texts
 * are encoded unchanged: no beginning-of-sequence token is added.
 */
import type { PostForReply } from '#lib/engine/connection.ts'
import { EngineError, isUnknownPath } from '#lib/engine/http/errors.ts'
import { conversationFields, type ServerTokenizer } from '#lib/engine/tokenizer/server-tokenizer.ts'
import { textFrame } from '#lib/rollout/prompt/raw-prompt.ts'
import { detokenizeListReplySchema, tokenizeListReplySchema, tokenizeReplySchema } from './schema.ts'

/** Creates the tokenizer from a function that posts JSON. */
export function serverTokenizer(ask: PostForReply): ServerTokenizer {
  let prefix = ''
  const post: PostForReply = async (path, json, schema, signal) => {
    try {
      return await ask(`${prefix}${path}`, json, schema, signal)
    } catch (error) {
      if (prefix !== '' || !isUnknownPath(error)) throw error
      const answer = await ask(`/v1${path}`, json, schema, signal)
      prefix = '/v1'
      return answer
    }
  }
  const tokenize: ServerTokenizer['tokenize'] = async (texts, signal) => {
    if (texts.length === 0) return []
    // The empty text shows the tokens of a server that ignores add_special_tokens.
    const json = { prompt: ['', ...texts], add_special_tokens: false }
    const { tokens } = await post('/tokenize', json, tokenizeListReplySchema, signal)
    checkCount('/tokenize', tokens.length, texts.length + 1)
    const [added = [], ...lists] = tokens
    return added.length === 0 ? lists : lists.map((ids) => withoutAdded(ids, added))
  }
  return {
    tokenize,
    async frame(signal) {
      const json = { prompt: ['a'], add_special_tokens: true }
      const { tokens } = await post('/tokenize', json, tokenizeListReplySchema, signal)
      checkCount('/tokenize', tokens.length, 1)
      const [plain = []] = await tokenize(['a'], signal)
      return textFrame(tokens[0] ?? [], plain)
    },
    async tokenizeMessages(conversation, signal) {
      const json = conversationFields(conversation)
      return (await post('/tokenize', json, tokenizeReplySchema, signal)).tokens
    },
    async detokenize(lists, special, signal) {
      if (lists.length === 0) return []
      const json = { tokens: lists, skip_special_tokens: special === 'without special tokens' }
      const { text } = await post('/detokenize', json, detokenizeListReplySchema, signal)
      checkCount('/detokenize', text.length, lists.length)
      return text
    },
  }
}

/**
 * Removes the tokens that a server adds before or around every text, always the same ids in the same order. Throws
 * INCONSISTENT if they differ.
 */
function withoutAdded(ids: readonly number[], added: readonly number[]): readonly number[] {
  let before = 0
  while (before < added.length && ids[before] === added[before]) before++
  const after = added.length - before
  const isAround = after === 0 || added.slice(before).every((id, i) => ids[ids.length - after + i] === id)
  if (!isAround || ids.length < added.length)
    throw new EngineError(
      'INCONSISTENT',
      `the server adds [${added}] to an empty text but other tokens to other texts, so its /tokenize cannot be used`,
    )
  return ids.slice(before, ids.length - after)
}

function checkCount(path: string, found: number, expected: number): void {
  if (found !== expected)
    throw new EngineError('INCONSISTENT', `the server answered ${found} of ${expected} parts of a request to ${path}`)
}
