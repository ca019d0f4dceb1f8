/** What each sampling parameter does, in words: apart from the table, since the page needs them only when they are read. */
import type { OwnName, SamplingName } from './parameters.ts'

export interface ParameterWords {
  /** A sentence or two. */
  readonly explanation: string
  /** What it does to the recorded logprobs or tokens, where a trainer has to know. */
  readonly training?: string
}

const PENALISED = 'Sampled logprobs are after it: a forward pass that knows nothing of it finds others.'
const TRUNCATED =
  'Sampled logprobs are from before this cut: where it takes something away, they are not those of the policy that sampled.'
const MASKED = 'Sampled logprobs are after its mask: a token that it forces has logprob 0.'

export const SAMPLING_WORDS: Readonly<Record<SamplingName, ParameterWords>> = {
  max_new_tokens: {
    explanation: 'Tokens of one response at most. Where it is left out, Rollscope asks for 1,024.',
    training: 'A response that is cut off here has no end-of-turn token.',
  },
  min_new_tokens: {
    explanation: 'Tokens before a stop token may be sampled; at most max_new_tokens.',
    training: PENALISED,
  },
  temperature: {
    explanation: 'Divides the logits before sampling; 0 = greedy.',
    training:
      'Sampled logprobs are after temperature (0 counts as 1); those of prompts are always at 1. A trainer divides by the same.',
  },
  top_p: {
    explanation: 'Keeps the likeliest tokens up to this sum of probability; 1 = all.',
    training: TRUNCATED,
  },
  top_k: {
    explanation: 'Keeps this many of the likeliest tokens; −1 = all.',
    training: TRUNCATED,
  },
  min_p: {
    explanation: 'Keeps tokens at least this likely, as a share of the likeliest; 0 = all.',
    training: TRUNCATED,
  },
  frequency_penalty: {
    explanation: 'Taken from the logit of a token for each time that the response has it already.',
    training: PENALISED,
  },
  presence_penalty: {
    explanation: 'Taken once from the logit of each token that the response has already.',
    training: PENALISED,
  },
  repetition_penalty: {
    explanation:
      'Divides the positive logits of tokens that were there already, and multiplies the negative ones; 1 = none.',
    training: PENALISED,
  },
  logit_bias: {
    explanation: 'Added to the logits of these token ids, all the time.',
    training: PENALISED,
  },
  stop: {
    explanation: 'Texts that end a response.',
    training: 'All tokens through the one that completes the text are kept: they may hold more than it.',
  },
  stop_token_ids: {
    explanation: 'Token ids that end a response, besides the model’s own.',
    training: 'The token stays at the end of the response.',
  },
  stop_regex: {
    explanation: 'Regular expressions (Python’s) that end a response where they match.',
  },
  ignore_eos: {
    explanation: 'Goes on behind the token that ends a turn, up to max_new_tokens: for measurements.',
    training: 'What follows is text that no chat template makes.',
  },
  json_schema: {
    explanation: 'The response becomes JSON that fits this schema. At most one grammar can be set.',
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
      'Schemas that hold between given tags, such as those of tool calls; the rest is free. At most one grammar can be set.',
    training: MASKED,
  },
  sampling_seed: {
    explanation: 'The same seed gives the same reply; SGLang heeds it only with --enable-deterministic-inference.',
    training: 'Several samples of one prompt need seeds of their own.',
  },
  custom_params: {
    explanation: 'What a custom logit processor of the server is given.',
  },
  watermark: {
    explanation:
      'A keyed watermark in the choice of tokens: {"enabled", "key", "context_window"}. It is recorded as sent.',
    training: 'Logprobs are from before it; the choice among likely tokens is no longer random.',
  },
}

/** Why Rollscope sets them itself, or never: a record could not be trusted otherwise. */
export const OWN_WORDS: Readonly<Record<OwnName, string>> = {
  n: 'Several samples of one prompt are requests of their own: SGLang replaces the ids of such a request, so that it could not be stopped.',
  beam_width: 'Beams are no samples of the policy: none of them could be trained on.',
  skip_special_tokens: 'The text has all tokens in it, so that it can be held against them.',
  spaces_between_special_tokens: 'The text is what the tokens say, without additions.',
  no_stop_trim: 'The token that ends a turn is part of it.',
  stream_interval:
    'Rollscope chooses it: 4 or 16 tokens where chunks bring only what is new; 256 or more where the server repeats the reply in each chunk, as SGLang does unless it runs with `--incremental-streaming-output`; none through a router, which drops it.',
}
