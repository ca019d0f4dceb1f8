/**
 * How the replies of a server are watched while they are written, so that it costs little. Most servers repeat the whole
 * reply in each chunk: asked for every token, 8,000 tokens with five alternatives each are ten gigabytes on the wire.
 */
import type { ServerDescription } from './server-status.ts'
import { isOlderThan } from './version.ts'

export type LiveView =
  /** Chunks bring only what is new. */
  | { readonly kind: 'fine'; readonly tokensAStep: number }
  /** Chunks repeat everything so far: few of them. */
  | { readonly kind: 'coarse'; readonly tokensAStep: number }
  /** It cannot be told to send few chunks, or it is not known how it streams: the reply is fetched whole. */
  | { readonly kind: 'none' }

type Told = Partial<Pick<ServerDescription, 'kind' | 'version' | 'incrementalStreaming'>>

/** `maxNewTokens`: the longest that the reply can become; `alternatives`: kept for each token. */
export function liveViewOf(server: Told, maxNewTokens: number, alternatives: number): LiveView {
  if (server.kind === 'router' || !knowsStreamInterval(server)) return { kind: 'none' }
  if (server.incrementalStreaming) return { kind: 'fine', tokensAStep: alternatives > 2 ? FINE : FINE_LIGHT }
  return { kind: 'coarse', tokensAStep: Math.max(LEAST_COARSE, Math.ceil(maxNewTokens / MOST_COARSE_CHUNKS)) }
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

/** SGLang before 0.4.10 may fail on a sampling parameter that it does not know. */
const knowsStreamInterval = ({ version = '', incrementalStreaming }: Told): boolean =>
  incrementalStreaming !== undefined || !isOlderThan(version, '0.4.10')

/** What a person should know of it; undefined where tokens arrive nearly one by one. */
export function liveViewNote(view: LiveView): string | undefined {
  switch (view.kind) {
    case 'fine':
      return undefined
    case 'coarse':
      return `Live view is coarse: this server repeats everything in each chunk (${view.tokensAStep.toLocaleString('en')} tokens a step).`
    case 'none':
      return 'No live view: it is not known how this server streams, so each reply is fetched whole.'
  }
}
