/** Sampling parameters by SGLang's names, with their ranges: the only ones that go out. */
import * as z from 'zod'

const penalty = z.number().min(-2).max(2)

export const samplingSchema = z
  .strictObject({
    max_new_tokens: z.int().min(1).max(1_000_000).describe('Tokens of one response at most. SGLang’s default is 128.'),
    min_new_tokens: z.int().min(0).describe('Tokens before a stop token may be sampled.'),
    temperature: z.number().min(0).max(100).describe('0 = greedy.'),
    top_p: z.number().gt(0).max(1).describe('Keep the likeliest tokens up to this sum of probability.'),
    top_k: z
      .int()
      .refine((k) => k === -1 || k >= 1, { message: '-1 (all) or at least 1' })
      .describe('Keep this many tokens; -1 = all.'),
    min_p: z.number().min(0).max(1).describe('Keep tokens at least this likely, as a share of the likeliest.'),
    frequency_penalty: penalty,
    presence_penalty: penalty,
    repetition_penalty: z.number().gt(0).max(2),
    stop: z.array(z.string().min(1)).max(32).describe('Texts that end a response.'),
    stop_token_ids: z.array(z.int().min(0)).max(1000),
    stop_regex: z.array(z.string().min(1).max(256)).max(32),
    ignore_eos: z.boolean(),
    sampling_seed: z
      .int()
      .describe('Repeatable sampling, where the server supports it (SGLang: --enable-deterministic-inference).'),
    logit_bias: z.record(z.string().regex(/^\d+$/, 'a token id'), z.number().min(-100).max(100)),
    json_schema: z.string(),
    regex: z.string(),
    ebnf: z.string(),
    structural_tag: z.string(),
  })
  .partial()

export type Sampling = z.infer<typeof samplingSchema>
