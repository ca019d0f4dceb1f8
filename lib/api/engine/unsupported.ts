/** What each engine can do, and why not. The page disables, and the server refuses, what is missing. */
import { engineSubject } from '#lib/sampling/engine-names.ts'
import type { Refusal } from '#lib/sampling/refusal.ts'
import type { ServerCapabilities } from './capabilities.ts'

/** A capability that a server may lack. */
export type Capability =
  | 'promptLogprobs'
  | 'streaming'
  | 'abort'
  | 'chatIds'
  | 'images'
  | 'adapters'
  | 'routedExperts'
  | 'parsers'

/** The known capabilities of each engine. */
export const ENGINE_CAPABILITIES = {
  sglang: {
    engine: 'sglang',
    logprobs: 'processed',
    promptLogprobs: true,
    streaming: true,
    abort: true,
    chatIds: true,
    images: true,
    adapters: true,
    routedExperts: true,
    parsers: true,
  },
  'llama.cpp': {
    engine: 'llama.cpp',
    logprobs: 'raw',
    promptLogprobs: false,
    streaming: false,
    abort: false,
    chatIds: false,
    images: false,
    adapters: true,
    routedExperts: false,
    parsers: false,
  },
  // The best case. Its client asks the server for the rest.
  vllm: {
    engine: 'vllm',
    logprobs: 'raw',
    promptLogprobs: true,
    streaming: true,
    abort: true,
    chatIds: true,
    images: true,
    adapters: true,
    routedExperts: false,
    parsers: false,
  },
  // The least that a server must do. Its client asks for more.
  openai: {
    engine: 'openai',
    logprobs: 'processed',
    promptLogprobs: false,
    streaming: false,
    abort: false,
    chatIds: false,
    images: false,
    adapters: false,
    routedExperts: false,
    parsers: false,
  },
} as const satisfies Readonly<Record<ServerCapabilities['engine'], ServerCapabilities>>

/** Returns why a server cannot do something and what to do; undefined if it can. */
export function whyUnsupported(
  capability: Capability,
  capabilities: ServerCapabilities | undefined,
): Refusal | undefined {
  if (!capabilities || capabilities[capability]) return undefined
  const { lacks, hint } = LACKS[capability]
  const own = OWN_LACKS[capabilities.engine]?.[capability] ?? lacks
  return { detail: `${engineSubject(capabilities.engine)} ${own}.`, hint }
}

/** Returns why a server cannot read given ids with images; undefined if it can, or reads no images at all. */
export function whyImagesInMessagesOnly(capabilities: ServerCapabilities | undefined): Refusal | undefined {
  if (!capabilities?.images || !capabilities.imagesInMessages) return undefined
  return {
    detail: `${engineSubject(capabilities.engine)} takes images in messages only here, so it cannot read given ids with images.`,
    hint: 'Start vLLM with --enable-scale-out, or choose a server with SGLang.',
  }
}

/** Returns why a server cannot return so many alternatives for each token; undefined if it can. */
export function tooManyAlternatives(
  alternatives: number,
  capabilities: ServerCapabilities | undefined,
): Refusal | undefined {
  const most = capabilities?.mostAlternatives
  if (!capabilities || most === undefined || alternatives <= most) return undefined
  return {
    detail: `${engineSubject(capabilities.engine)} returns at most ${most} alternatives for each token, and ${alternatives} are requested.`,
    hint: `Choose ${most} or fewer${capabilities.engine === 'vllm' ? ', or start vLLM with a larger --max-logprobs' : ''}.`,
  }
}

/** What one engine lacks for a reason of its own. */
const OWN_LACKS: Readonly<Partial<Record<ServerCapabilities['engine'], Partial<Record<Capability, string>>>>> = {
  sglang: { images: 'serves a model that reads no images' },
  vllm: { images: 'serves a model that reads no images' },
  'llama.cpp': {
    streaming: 'leaves out ids in its streams where a token ends inside a character, so replies are fetched whole',
  },
}

/** What an engine without the capability lacks, after its name, and what to do. */
const LACKS: Readonly<Record<Capability, { readonly lacks: string; readonly hint: string }>> = {
  promptLogprobs: {
    lacks: 'returns no logprobs of prompts, so it cannot score given ids',
    hint: 'Choose a server with SGLang or vLLM.',
  },
  streaming: {
    lacks: 'returns no token ids in its streams, so replies are fetched whole',
    hint: 'Choose a server with SGLang or vLLM for a live view.',
  },
  abort: {
    lacks: 'may generate a whole reply to its end after its run is stopped',
    hint: 'Choose a smaller max_new_tokens, or a server with SGLang or vLLM.',
  },
  chatIds: {
    lacks: 'returns no token ids from its chat endpoint in a form that Rollscope reads',
    hint: 'Choose a server with SGLang or vLLM.',
  },
  images: {
    lacks: 'takes no images beside token ids',
    hint: 'Choose a server with SGLang or vLLM and a model that reads images, or remove the images.',
  },
  adapters: {
    lacks: 'runs without LoRA adapters here',
    hint: 'Choose no adapter, or start the server with adapters (SGLang: --lora-paths, vLLM: --lora-modules, llama.cpp: --lora).',
  },
  routedExperts: {
    lacks: 'returns no routed experts here',
    hint: 'Choose SGLang with a mixture of experts, started with --enable-return-routed-experts.',
  },
  parsers: { lacks: 'parses no given texts', hint: 'Choose a server with SGLang, or use Rollscope’s parsers.' },
}
