/** What each engine can do, and why not. The page disables, and the server refuses, what is missing. */
import { ENGINE_NAMES } from '#lib/sampling/engine-names.ts'
import type { Capabilities } from './capabilities.ts'

/** A capability that a server may lack. */
export type Capability = 'promptLogprobs' | 'streaming' | 'abort' | 'chatIds' | 'parsers'

/** The known capabilities of each engine. */
export const ENGINE_CAPABILITIES = {
  sglang: {
    engine: 'sglang',
    logprobs: 'processed',
    promptLogprobs: true,
    streaming: true,
    abort: true,
    chatIds: true,
    parsers: true,
  },
  'llama.cpp': {
    engine: 'llama.cpp',
    logprobs: 'raw',
    promptLogprobs: false,
    streaming: false,
    abort: false,
    chatIds: false,
    parsers: false,
  },
} as const satisfies Readonly<Record<Capabilities['engine'], Capabilities>>

/** Returns why a server cannot do something and what to do, as two sentences; undefined if it can. */
export function whyUnsupported(capability: Capability, capabilities: Capabilities | undefined): string | undefined {
  if (!capabilities || capabilities[capability]) return undefined
  return `${ENGINE_NAMES[capabilities.engine]} ${LACKS[capability]}`
}

const LACKS: Readonly<Record<Capability, string>> = {
  promptLogprobs: 'returns no logprobs of prompts, so it cannot score given ids. Choose a server with SGLang.',
  streaming:
    'leaves out ids in its streams where a token ends inside a character, so replies are fetched whole. Choose a server with SGLang for a live view.',
  abort:
    'generates a whole reply to its end after its run is stopped. Choose a smaller max_new_tokens, or a server with SGLang.',
  chatIds: 'returns no token ids from its chat endpoint in a form that Rollscope reads. Choose a server with SGLang.',
  parsers: 'parses no given texts. Choose a server with SGLang, or use Rollscope’s parsers.',
}
