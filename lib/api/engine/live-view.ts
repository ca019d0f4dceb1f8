/**
 * Selects how replies are streamed, so that watching them costs little. Most servers repeat the whole reply in each chunk. With a chunk
 * for every token, 8,000 tokens with five alternatives each would take ten gigabytes on the wire.
 */

import { refusalText } from '#lib/sampling/refusal.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import type { ServerDescription } from '../server-status.ts'
import { whyUnsupported } from './unsupported.ts'
import { isOlderThan } from './version.ts'

/** How replies of a server are streamed. `tokensPerChunk` is the number of tokens by which the reply grows from chunk to chunk. */
export type LiveView =
  /** Chunks contain only new tokens. */
  | { readonly kind: 'incremental'; readonly tokensPerChunk: number }
  /** Chunks repeat the reply so far, so there are few of them. `incrementalTokensPerChunk` is the number for a server that does not repeat. */
  | { readonly kind: 'cumulative'; readonly tokensPerChunk: number; readonly incrementalTokensPerChunk: number }
  /** No interval can be requested, and the reply is short enough to be streamed token by token nevertheless. */
  | { readonly kind: 'token-by-token' }
  /** No interval can be requested, and a long reply would repeat itself too often, so it is fetched whole. `why` is the reason of an engine whose streams lack ids. */
  | { readonly kind: 'none'; readonly mostNewTokens: number; readonly why?: string }

/** What a server says about its streams. */
type StreamingFacts = Partial<Pick<ServerDescription, 'kind' | 'version' | 'incrementalStreaming' | 'capabilities'>>

/** Selects the live view. `maxNewTokens` is the largest length of the reply; `alternatives` is the number of them for each token. */
export function liveViewOf(server: StreamingFacts, maxNewTokens: number, alternatives: number): LiveView {
  const why = whyUnsupported('streaming', server.capabilities)
  if (why) return { kind: 'none', mostNewTokens: 0, why: refusalText(why) }
  if (server.kind === 'router' || !knowsStreamInterval(server)) {
    const mostNewTokens = mostTokensOneByOne(alternatives)
    return maxNewTokens <= mostNewTokens ? { kind: 'token-by-token' } : { kind: 'none', mostNewTokens }
  }
  const incrementalTokensPerChunk = alternatives > 2 ? INCREMENTAL_TOKENS : INCREMENTAL_TOKENS_LIGHT
  if (server.incrementalStreaming) return { kind: 'incremental', tokensPerChunk: incrementalTokensPerChunk }
  return {
    kind: 'cumulative',
    tokensPerChunk: Math.max(LEAST_CUMULATIVE_TOKENS, Math.ceil(maxNewTokens / MOST_CUMULATIVE_CHUNKS)),
    incrementalTokensPerChunk,
  }
}

/**
 * Tokens in a chunk with many alternatives, and with few. A chunk has 600 bytes besides its tokens. A token with five alternatives has
 * 200 bytes, and one without any 45. At these steps, the chunks add about half of the whole (bench/server/stream-bytes.ts).
 */
const INCREMENTAL_TOKENS = 4
const INCREMENTAL_TOKENS_LIGHT = 16

/** k chunks that repeat everything have (k + 1) / 2 times the bytes of the reply: about 16 times at this number. */
const MOST_CUMULATIVE_CHUNKS = 32

/** With fewer tokens in a chunk, even a short reply would have many chunks. */
const LEAST_CUMULATIVE_TOKENS = 256

/** Largest number of bytes of a streamed reply in which every token repeats all tokens before it. */
const MOST_TOKEN_BY_TOKEN_BYTES = 128 << 20
const CHUNK_BYTES = 600
const TOKEN_BYTES = 45
const ALTERNATIVE_BYTES = 31

/** Returns the largest n for which n chunks of 1, 2, … n tokens fit: n × CHUNK_BYTES + n² / 2 × the bytes of a token. */
function mostTokensOneByOne(alternatives: number): number {
  const token = TOKEN_BYTES + alternatives * ALTERNATIVE_BYTES
  return Math.floor((Math.sqrt(CHUNK_BYTES ** 2 + 2 * token * MOST_TOKEN_BY_TOKEN_BYTES) - CHUNK_BYTES) / token)
}

/** Returns true if the server knows `stream_interval`. SGLang before 0.4.10 may fail on an unknown sampling parameter. */
const knowsStreamInterval = ({ version = '', incrementalStreaming }: StreamingFacts): boolean =>
  incrementalStreaming !== undefined || !isOlderThan(version, '0.4.10')

/** Returns a note for the user on a live view with large chunks or none; undefined if tokens arrive nearly one by one. */
export function liveViewNote(view: LiveView): string | undefined {
  switch (view.kind) {
    case 'incremental':
    case 'token-by-token':
      return undefined
    case 'cumulative':
      return `The live view moves every ${countText(view.tokensPerChunk)} tokens: this server repeats the whole reply in each chunk, so few chunks are requested. Start SGLang 0.5.12 or newer with --incremental-streaming-output: its /generate streams then bring only new tokens, to all clients, and the view moves every ${view.incrementalTokensPerChunk} tokens.`
    case 'none':
      if (view.why !== undefined) return `No live view: ${view.why}`
      return `No live view: the server takes no stream_interval (a router drops it), so each reply is fetched whole, and a cancelled one is lost. Lower max_new_tokens to ${countText(view.mostNewTokens)} or less to watch replies.`
  }
}
