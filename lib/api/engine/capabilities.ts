/** Defines what an inference server can do. The page disables, and the server refuses, what is missing. */
import * as z from 'zod/mini'
import { ENGINE_NAMES, ENGINES } from '#lib/sampling/engine.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Schema of the capabilities of a server. Every engine takes and returns token ids. */
export const capabilitiesSchema = z.object({
  engine: z.enum(ENGINES),
  logprobs: withDescription(
    z.enum(['raw', 'processed']),
    'Of sampled tokens. raw: of the logits as the model gives them. processed: after temperature, penalties and grammars.',
  ),
  mostAlternatives: withDescription(
    z.optional(z.int()),
    'Largest number of alternatives for each token. Omitted: the size of the vocabulary.',
  ),
  promptLogprobs: withDescription(z.boolean(), 'Whether prompts can be scored, and with them any recorded ids.'),
  streaming: withDescription(z.boolean(), 'Whether streams contain every token id. If not, replies are fetched whole.'),
  abort: withDescription(z.boolean(), 'Whether the server stops generating when the connection closes.'),
  cachedTokens: withDescription(z.boolean(), 'Whether replies report the tokens that came from the prefix cache.'),
  chatIds: withDescription(z.boolean(), 'Whether the chat endpoint returns the ids that it read and wrote.'),
  parsers: withDescription(z.boolean(), 'Whether the server parses given texts into tool calls and reasoning.'),
})
/** What an inference server can do. */
export type Capabilities = z.infer<typeof capabilitiesSchema>

/** A capability that a server may lack. */
export type Capability = 'promptLogprobs' | 'streaming' | 'abort' | 'cachedTokens' | 'chatIds' | 'parsers'

/** The known capabilities of each engine. */
export const ENGINE_CAPABILITIES = {
  sglang: {
    engine: 'sglang',
    logprobs: 'processed',
    promptLogprobs: true,
    streaming: true,
    abort: true,
    cachedTokens: true,
    chatIds: true,
    parsers: true,
  },
  'llama.cpp': {
    engine: 'llama.cpp',
    logprobs: 'raw',
    promptLogprobs: false,
    streaming: false,
    abort: false,
    cachedTokens: true,
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
  cachedTokens: 'does not report cached tokens. Choose a server with another engine.',
  chatIds: 'returns no token ids from its chat endpoint in a form that Rollscope reads. Choose a server with SGLang.',
  parsers: 'parses no given texts. Choose a server with SGLang, or use Rollscope’s parsers.',
}

/** Returns why a number of alternatives is too large and what to do; undefined if it is not. */
export function whyTooManyAlternatives(count: number, capabilities: Capabilities | undefined): string | undefined {
  if (capabilities?.mostAlternatives === undefined || count <= capabilities.mostAlternatives) return undefined
  const { engine, mostAlternatives: most } = capabilities
  return `${ENGINE_NAMES[engine]} returns at most ${most} alternatives for each token. Lower the number.`
}
