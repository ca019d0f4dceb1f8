/** This file lists the names of sampling parameters in other programs, and why some of their parameters have no meaning here. */
import { isSamplingName, type SamplingName } from '#lib/sampling/parameters.ts'

/** Names in TorchRL, vLLM, OpenAI, Hugging Face, TRL, slime and lm-eval that differ from SGLang's. */
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

/** Names for the number of replies. */
export const SAMPLE_NAMES: ReadonlySet<string> = new Set([
  'n',
  'num_return_sequences',
  'num_generations',
  'n_samples_per_prompt',
])

/** Names of objects that contain sampling parameters. */
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

/** Names of OpenAI's and vLLM's objects that contain a grammar. */
export const FORMATS: ReadonlySet<string> = new Set(['response_format', 'structured_outputs'])

/** Returns SGLang's name of a parameter, or undefined if SGLang has no such parameter. */
export function sglangName(name: string): SamplingName | undefined {
  if (isSamplingName(name)) return name
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined
}

/** Returns whether a value of this name describes sampling. */
export const isSamplingField = (name: string): boolean =>
  sglangName(name) !== undefined || SAMPLE_NAMES.has(name) || FORMATS.has(name) || name === 'do_sample'

const BEAMS = 'It is for beam search, and beams are not samples of the policy.'
const MODEL = 'The server takes it from its model.'
const RECORDED = 'Logprobs are always requested; the number of alternatives is a field of the setup.'
const NO_SUCH = 'SGLang does not support this way of sampling.'
const REQUEST = 'It belongs to the request, not to its sampling.'

/** Reasons for leaving a parameter out. */
export const IGNORED: Readonly<Record<string, string>> = {
  max_length: 'It counts the prompt too; use max_new_tokens.',
  min_length: 'It counts the prompt too; use min_new_tokens.',
  rollout_max_context_len: 'The server sets the context length; the token limit is a field of the setup.',
  rollout_max_prompt_len: 'Rollscope never truncates prompts.',
  best_of: 'All samples are kept; Rollscope does not choose among them.',
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
  bad_words_ids: 'SGLang has no list of forbidden words; use logit_bias for single ids.',
  suppress_tokens: 'SGLang has no list of forbidden tokens; use logit_bias.',
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
  include_stop_str_in_output: 'Stop texts are always kept, because tokens are recorded whole.',
  detokenize: 'Tokens and text are both recorded.',
  rollout_skip_special_tokens: 'The text contains all tokens.',
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
