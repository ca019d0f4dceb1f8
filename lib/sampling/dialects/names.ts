/** What other programs call the sampling parameters, and why some of what they have means nothing here. */
import { isSamplingName, type SamplingName } from '#lib/sampling/parameters.ts'

/** Other names of TorchRL, vLLM, OpenAI, Hugging Face, TRL, slime and lm-eval. */
export const OTHER_NAMES: Readonly<Record<string, SamplingName>> = {
  max_tokens: 'max_new_tokens',
  max_completion_tokens: 'max_new_tokens',
  max_output_tokens: 'max_new_tokens',
  max_completion_length: 'max_new_tokens',
  max_response_len: 'max_new_tokens',
  rollout_max_response_len: 'max_new_tokens',
  max_gen_toks: 'max_new_tokens',
  min_tokens: 'min_new_tokens',
  rollout_temperature: 'temperature',
  rollout_top_p: 'top_p',
  rollout_top_k: 'top_k',
  stop_sequences: 'stop',
  stop_strings: 'stop',
  rollout_stop: 'stop',
  until: 'stop',
  eos_token_id: 'stop_token_ids',
  rollout_stop_token_ids: 'stop_token_ids',
  seed: 'sampling_seed',
  rollout_seed: 'sampling_seed',
  guided_json: 'json_schema',
  guided_regex: 'regex',
  guided_grammar: 'ebnf',
}

/** How many replies are wanted. */
export const SAMPLE_NAMES: ReadonlySet<string> = new Set([
  'n',
  'num_return_sequences',
  'num_generations',
  'n_samples_per_prompt',
])

/** Objects in which others keep their parameters. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  'sampling_params',
  'sampling_parameters',
  'generation_config',
  'generation_kwargs',
  'generate_kwargs',
  'gen_kwargs',
  'extra_body',
  'sampling',
])

/** OpenAI's and vLLM's objects that hold a grammar. */
export const FORMATS: ReadonlySet<string> = new Set(['response_format', 'structured_outputs'])

/** SGLang's name of a parameter; undefined: it is none of its parameters. */
export function sglangName(name: string): SamplingName | undefined {
  if (isSamplingName(name)) return name
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined
}

/** Whether the value of this name says something about sampling here. */
export const isMeant = (name: string): boolean =>
  sglangName(name) !== undefined || SAMPLE_NAMES.has(name) || FORMATS.has(name) || name === 'do_sample'

const BEAMS = 'It is about beams, which are no samples of the policy.'
const MODEL = 'The server takes it from its model.'
const RECORDED = 'Logprobs are always asked for; how many alternatives is a field of the setup.'
const NO_SUCH = 'SGLang has no such way of sampling.'
const REQUEST = 'It is part of a request, not of its sampling.'

/** Why they are left aside. */
export const IGNORED: Readonly<Record<string, string>> = {
  max_length: 'It counts the prompt too: give max_new_tokens.',
  min_length: 'It counts the prompt too: give min_new_tokens.',
  rollout_max_context_len: 'The context is the server’s; a limit on tokens is a field of the setup.',
  rollout_max_prompt_len: 'Prompts are never cut here.',
  best_of: 'All samples are kept; none is chosen for you.',
  num_beams: BEAMS,
  num_beam_groups: BEAMS,
  use_beam_search: BEAMS,
  length_penalty: BEAMS,
  early_stopping: BEAMS,
  diversity_penalty: BEAMS,
  typical_p: NO_SUCH,
  epsilon_cutoff: NO_SUCH,
  eta_cutoff: NO_SUCH,
  top_a: NO_SUCH,
  penalty_alpha: NO_SUCH,
  no_repeat_ngram_size: NO_SUCH,
  encoder_repetition_penalty: NO_SUCH,
  bad_words_ids: 'SGLang has no list of forbidden words: give logit_bias for single ids.',
  suppress_tokens: 'SGLang has no list of forbidden tokens: give logit_bias.',
  bos_token_id: MODEL,
  pad_token_id: MODEL,
  decoder_start_token_id: MODEL,
  transformers_version: MODEL,
  _from_model_config: MODEL,
  cache_implementation: MODEL,
  use_cache: MODEL,
  logprobs: RECORDED,
  top_logprobs: RECORDED,
  prompt_logprobs: RECORDED,
  return_logprob: RECORDED,
  return_log_probs: RECORDED,
  output_scores: RECORDED,
  include_stop_str_in_output: 'Stops are always kept: tokens are recorded whole.',
  detokenize: 'Tokens and text are both recorded.',
  rollout_skip_special_tokens: 'The text has all tokens in it.',
  model: REQUEST,
  messages: REQUEST,
  prompt: REQUEST,
  text: REQUEST,
  input_ids: REQUEST,
  tools: REQUEST,
  tool_choice: REQUEST,
  stream: REQUEST,
  chat_template_kwargs: REQUEST,
}
