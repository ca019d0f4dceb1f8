/**
 * How the replies of a server are watched while they are written, so that it costs little. Most servers repeat the whole
 * reply in each chunk: asked for every token, 8,000 tokens with five alternatives each are ten gigabytes on the wire.
 */

import { isOlderThan } from '#lib/util/version.ts'
import type { ServerDescription } from './server-status.ts'

export type LiveView =
  /** Chunks bring only what is new. */
  | { readonly kind: 'fine'; readonly tokensAStep: number }
  /** Chunks repeat everything so far: few of them. `fineTokensAStep`: what a step would be if they did not. */
  | { readonly kind: 'coarse'; readonly tokensAStep: number; readonly fineTokensAStep: number }
  /** No interval can be requested, and the reply is short enough to be streamed token by token all the same. */
  | { readonly kind: 'unpaced' }
  /** No interval can be requested, and a reply of this length could repeat itself too often: it is fetched whole. */
  | { readonly kind: 'none'; readonly mostNewTokens: number }

type Told = Partial<Pick<ServerDescription, 'kind' | 'version' | 'incrementalStreaming'>>

/** `maxNewTokens`: the longest that the reply can become; `alternatives`: kept for each token. */
export function liveViewOf(server: Told, maxNewTokens: number, alternatives: number): LiveView {
  if (server.kind === 'router' || !knowsStreamInterval(server)) {
    const mostNewTokens = longestUnpaced(alternatives)
    return maxNewTokens <= mostNewTokens ? { kind: 'unpaced' } : { kind: 'none', mostNewTokens }
  }
  const fineTokensAStep = alternatives > 2 ? FINE : FINE_LIGHT
  if (server.incrementalStreaming) return { kind: 'fine', tokensAStep: fineTokensAStep }
  return {
    kind: 'coarse',
    tokensAStep: Math.max(LEAST_COARSE, Math.ceil(maxNewTokens / MOST_COARSE_CHUNKS)),
    fineTokensAStep,
  }
}

/**
 * A chunk weighs 600 bytes beside its tokens, a token with five alternatives 200 and one without any 45: at these steps
 * the chunks add about half of the whole (bench/stream-bytes.ts).
 */
const FINE = 4
const FINE_LIGHT = 16

/** k chunks that repeat everything weigh (k + 1) / 2 times the whole reply: 16 times at this many. */
const MOST_COARSE_CHUNKS = 32

/** Below it even a short reply would come in many chunks. */
const LEAST_COARSE = 256

/** Bytes that a reply may take on the wire where every token repeats all before it. */
const MOST_UNPACED_BYTES = 128 << 20
const CHUNK_BYTES = 600
const TOKEN_BYTES = 45
const ALTERNATIVE_BYTES = 31

/** n chunks of 1, 2, … n tokens weigh n × CHUNK_BYTES + n² / 2 × the bytes of a token. */
function longestUnpaced(alternatives: number): number {
  const token = TOKEN_BYTES + alternatives * ALTERNATIVE_BYTES
  return Math.floor((Math.sqrt(CHUNK_BYTES ** 2 + 2 * token * MOST_UNPACED_BYTES) - CHUNK_BYTES) / token)
}

/** SGLang before 0.4.10 may fail on a sampling parameter that it does not know. */
const knowsStreamInterval = ({ version = '', incrementalStreaming }: Told): boolean =>
  incrementalStreaming !== undefined || !isOlderThan(version, '0.4.10')

/** What a person should know of it, and what changes it; undefined where tokens arrive nearly one by one. */
export function liveViewNote(view: LiveView): string | undefined {
  switch (view.kind) {
    case 'fine':
    case 'unpaced':
      return undefined
    case 'coarse':
      return `The live view moves every ${count(view.tokensAStep)} tokens: this server repeats the whole reply in each chunk, so few chunks are requested. Start SGLang 0.5.12 or newer with --incremental-streaming-output: its /generate streams then bring only new tokens, to all clients, and the view moves every ${view.fineTokensAStep} tokens.`
    case 'none':
      return `No live view: the server takes no stream_interval (a router drops it), so each reply is fetched whole, and a cancelled one is lost. Lower max_new_tokens to ${count(view.mostNewTokens)} or less to watch replies.`
  }
}

const count = (tokens: number): string => tokens.toLocaleString('en')
