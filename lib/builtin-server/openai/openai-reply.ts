/** Writes the parts that answers of OpenAI's form share: counts, logprobs and ends. */
import type { ReplyEntry, ReplyJson } from '#lib/builtin-server/generate/reply.ts'
import { decodeIds, type Vocabulary, vocabularyBytes } from '#lib/builtin-server/models/vocabulary.ts'

/** Token counts of one reply. */
export interface Counts {
  readonly prompt: number
  readonly completion: number
  readonly reasoning: number
}

/** Returns the counts as OpenAI's `usage`. */
export const usage = ({ prompt, completion, reasoning }: Counts): object => ({
  prompt_tokens: prompt,
  total_tokens: prompt + completion,
  completion_tokens: completion,
  prompt_tokens_details: null,
  reasoning_tokens: reasoning,
  completion_tokens_details: reasoning > 0 ? { reasoning_tokens: reasoning } : null,
})

/** Returns the counts of all replies, which are sorted by prompt. A prompt with several samples counts once. */
export function totalUsage(counts: readonly Counts[], samples: number): object {
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
  return usage({
    prompt: sum(counts.filter((_, index) => index % samples === 0).map(({ prompt }) => prompt)),
    completion: sum(counts.map(({ completion }) => completion)),
    reasoning: sum(counts.map(({ reasoning }) => reasoning)),
  })
}

/** Returns the current time in seconds since 1970. */
export const createdSeconds = (): number => Math.floor(Date.now() / 1000)

/** Returns the fields that say how a reply ended; null while it has not. */
export function ending({ meta_info: { finish_reason: finish } }: ReplyJson): object {
  return { finish_reason: finish?.type ?? null, matched_stop: finish?.type === 'stop' ? finish.matched : null }
}

/** Returns the versions of the weights that generated each output token. */
export const weights = ({ meta_info: { weight_version, weight_versions = [] } }: ReplyJson): object => ({
  weight_version,
  weight_versions,
})

/** Returns the logprobs of a chat reply: one entry per output token, with its bytes. */
export function chatLogprobs({ meta_info: meta }: ReplyJson, vocabulary: Vocabulary): { readonly content: object[] } {
  const logprobEntry = (logprob: number | null, id: number) => ({
    token: decodeIds(vocabulary, [id], 'all'),
    bytes: Array.from(vocabularyBytes(vocabulary, id)),
    logprob,
  })
  const content = (meta.output_token_logprobs ?? []).map(([logprob, id], index) => ({
    ...logprobEntry(logprob, id),
    top_logprobs: (meta.output_top_logprobs?.[index] ?? []).map(([top, topId]) => logprobEntry(top, topId)),
  }))
  return { content }
}

/** Returns the logprobs of a completion as parallel lists. Two alternatives with the same text become one member, as in SGLang. */
export function completionLogprobs(
  entries: readonly ReplyEntry[],
  alternatives: readonly (readonly ReplyEntry[] | null)[],
  vocabulary: Vocabulary,
): object {
  return {
    text_offset: entries.map(() => -1),
    token_logprobs: entries.map(([logprob]) => logprob),
    tokens: entries.map(([, id]) => writtenToken(id, vocabulary)),
    top_logprobs: alternatives.map(
      (row) => row && Object.fromEntries(row.map(([logprob, id]) => [writtenToken(id, vocabulary), logprob])),
    ),
  }
}

/**
 * Returns the text of a token. A piece of a character has one character for each of its bytes, so that different pieces have different
 * texts.
 */
function writtenToken(id: number, vocabulary: Vocabulary): string {
  const bytes = vocabularyBytes(vocabulary, id)
  const text = decodeIds(vocabulary, [id], 'all')
  if (!text.includes('\ufffd') || new TextEncoder().encode(text).length === bytes.length) return text
  return String.fromCharCode(...bytes)
}
