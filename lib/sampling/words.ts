/** This file explains the sampling parameters. It is separate from the table because the page loads it on demand. */
import type { OwnName, SamplingName } from './parameters.ts'

/** Explanation of one parameter. */
export interface ParameterWords {
  /** One or two sentences. */
  readonly explanation: string
  /** Effect on the recorded logprobs or tokens that a trainer must consider. */
  readonly training?: string
}

const PENALISED = 'Sampled logprobs include its effect: a plain forward pass computes different ones.'
const TRUNCATED =
  'Sampled logprobs are from before this truncation: where it removes tokens, they are not those of the policy that sampled.'
const MASKED = 'Sampled logprobs include its mask: a token that it forces has logprob 0.'

/** Explanations by parameter. The page and docs/playground.md show them. */
export const SAMPLING_WORDS: Readonly<Record<SamplingName, ParameterWords>> = {
  max_new_tokens: {
    explanation: 'Maximum number of tokens of one response. If it is empty, Rollscope requests 1,024.',
    training: 'A response that is cut off at this limit has no end-of-turn token.',
  },
  min_new_tokens: {
    explanation: 'Minimum number of tokens before a stop token may be sampled; at most max_new_tokens.',
    training: PENALISED,
  },
  temperature: {
    explanation: 'Divides the logits before sampling; 0 = greedy.',
    training:
      'Sampled logprobs include the temperature (0 counts as 1); those of prompts always have temperature 1. A trainer must divide by the same temperature.',
  },
  top_p: {
    explanation: 'Keeps the most likely tokens up to this total probability; 1 = all.',
    training: TRUNCATED,
  },
  top_k: {
    explanation: 'Keeps this many of the most likely tokens; −1 = all.',
    training: TRUNCATED,
  },
  min_p: {
    explanation: 'Keeps tokens whose probability is at least this share of the most likely token’s; 0 = all.',
    training: TRUNCATED,
  },
  frequency_penalty: {
    explanation: 'Subtracted from the logit of a token for each time that it is already in the response.',
    training: PENALISED,
  },
  presence_penalty: {
    explanation: 'Subtracted once from the logit of each token that is already in the response.',
    training: PENALISED,
  },
  repetition_penalty: {
    explanation:
      'Divides the positive logits of tokens that already occurred, and multiplies the negative ones; 1 = none.',
    training: PENALISED,
  },
  logit_bias: {
    explanation: 'Added to the logits of these token ids at every position.',
    training: PENALISED,
  },
  stop: {
    explanation: 'Texts that end a response.',
    training: 'All tokens up to the one that completes the text are kept: they may contain more than the text.',
  },
  stop_token_ids: {
    explanation: 'Token ids that end a response, in addition to the model’s own.',
    training: 'The token stays at the end of the response.',
  },
  stop_regex: {
    explanation: 'Regular expressions (in Python’s syntax) that end a response when they match.',
  },
  ignore_eos: {
    explanation: 'Continues after the end-of-turn token, up to max_new_tokens; useful for measurements.',
    training: 'Text after that token is text that no chat template renders.',
  },
  json_schema: {
    explanation: 'The response is JSON that matches this schema. At most one grammar can be set.',
    training: MASKED,
  },
  regex: {
    explanation: 'The whole response matches this regular expression. At most one grammar can be set.',
    training: MASKED,
  },
  ebnf: {
    explanation: 'The response follows this grammar, whose start is `root`. At most one grammar can be set.',
    training: MASKED,
  },
  structural_tag: {
    explanation:
      'Schemas that apply between given tags, such as those of tool calls; the rest is free. At most one grammar can be set.',
    training: MASKED,
  },
  sampling_seed: {
    explanation: 'The same seed gives the same reply. SGLang uses it only with --enable-deterministic-inference.',
    training: 'Several samples of one prompt need different seeds.',
  },
  custom_params: {
    explanation: 'Parameters of the server’s custom logit processor.',
  },
  watermark: {
    explanation:
      'A keyed watermark in the choice of tokens: {"enabled", "key", "context_window"}. It is recorded as sent.',
    training: 'Logprobs are from before the watermark; the choice among likely tokens is no longer random.',
  },
}

/** Reasons why Rollscope sets these parameters itself or never: otherwise a trajectory could not be trusted. */
export const OWN_WORDS: Readonly<Record<OwnName, string>> = {
  n: 'Several samples of one prompt are separate requests: SGLang replaces the ids of a request with several samples, so it could not be stopped.',
  beam_width: 'Beams are not samples of the policy and could not be trained on.',
  skip_special_tokens: 'The text contains all tokens, so it can be compared with them.',
  spaces_between_special_tokens: 'The text is the decoded tokens without additions.',
  no_stop_trim: 'The token that ends a turn is part of the turn.',
  stream_interval:
    'Rollscope chooses it: 4 or 16 tokens where chunks contain only new tokens; 256 or more where the server repeats the reply in each chunk, as SGLang does unless it runs with `--incremental-streaming-output`; none through a router, which drops it.',
}
