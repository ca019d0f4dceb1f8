/** Defines what an inference server can do. Every page loads this file. */
import * as z from 'zod/mini'

/**
 * Schema of the capabilities of a server.
 * Every engine takes and returns token ids, and reports cached tokens. The descriptions are comments, because every page loads it.
 */
export const serverCapabilitiesSchema = z.object({
  engine: z.enum(['sglang', 'llama.cpp', 'vllm', 'openai']),
  /** Of sampled tokens. raw: of the logits as the model gives them. processed: after temperature, penalties and grammars. */
  logprobs: z.enum(['raw', 'processed']),
  /** The largest number of alternatives for each token. Omitted: any number. */
  mostAlternatives: z.optional(z.int()),
  /** Whether prompts can be scored, and with them any recorded ids. */
  promptLogprobs: z.boolean(),
  /** Whether streams contain every token id. If not, replies are fetched whole. */
  streaming: z.boolean(),
  /** Whether the server stops generating when the connection closes. */
  abort: z.boolean(),
  /** Whether the chat endpoint returns the ids that it read and wrote. */
  chatIds: z.boolean(),
  /** Whether the model reads images, and requests can contain them beside token ids or in messages. */
  images: z.boolean(),
  /** True if images are taken in messages only, which the server renders itself. Omitted: they are taken beside token ids. */
  imagesInMessages: z.optional(z.boolean()),
  /** Whether requests can choose a LoRA adapter that the server has loaded. */
  adapters: z.boolean(),
  /** Whether the server returns which experts of a mixture read each token. */
  routedExperts: z.boolean(),
  /** Whether the server parses given texts into tool calls and reasoning. */
  parsers: z.boolean(),
})
/** What an inference server can do. */
export type ServerCapabilities = z.infer<typeof serverCapabilitiesSchema>
