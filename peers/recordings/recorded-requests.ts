/**
 * The requests whose answers by SGLang are in lib/sglang/recordings, by file name: streamed chat completions, completions,
 * the effects of their flags, and prompts scored on a busy server. With these prompts the shipped model thinks, calls and
 * answers.
 */

/** A request to SGLang. */
export interface RequestToRecord {
  readonly path: string
  /** The body of a POST; a text is sent unchanged. null: a GET. */
  readonly body: Readonly<Record<string, unknown>> | string | null
  /**
   * Bodies of generating requests that wait with this one while the server is paused. SGLang prefills all of them in one
   * batch.
   */
  readonly batchedWith?: readonly Readonly<Record<string, unknown>>[]
  /**
   * The server. Omitted: one with --incremental-streaming-output. mixture: a mixture of experts with a LoRA adapter, which also streams
   * increments.
   */
  readonly server?: 'cumulative' | 'mixture'
}

const calculator = tool('calculator', 'Evaluate an arithmetic expression.', {
  expression: { type: 'string', description: 'The expression, for example (1 + 2) * 3. Operators: + - * / % **' },
})

const WITHOUT_THINKING = { chat_template_kwargs: { enable_thinking: false } }
const USAGE = { stream_options: { include_usage: true } }

const chat = (question: string, own: object): RequestToRecord => ({
  path: '/v1/chat/completions',
  body: { model: 'tiny-qwen3', temperature: 0, messages: [{ role: 'user', content: question }], ...own },
})
const streamed = (question: string, own: object): RequestToRecord => chat(question, { stream: true, ...own })

const CALL = 'What is 25 * 17?'
const TWO_CALLS = 'What is 12 * 31 and what is 144 / 16?'
const called = { tools: [calculator], max_completion_tokens: 128 }
const clock = tool('clock', 'Tell the time.', { zone: { type: 'string' } })
const strict = { type: 'function', function: { ...clock.function, strict: true } }
const choosing = { tools: [calculator, clock], max_completion_tokens: 128, return_token_ids: true }
const named = (name: string): object => ({ type: 'function', function: { name } })

const chats: Readonly<Record<string, RequestToRecord>> = {
  'chat-stream-thinking': streamed(CALL, { ...called, ...USAGE, logprobs: true }),
  'chat-stream-tool-call': streamed(CALL, { ...called, ...USAGE, ...WITHOUT_THINKING, logprobs: true }),
  'chat-stream-parallel-calls': streamed(TWO_CALLS, { ...called, ...WITHOUT_THINKING }),
  'chat-stream-unknown-tool': streamed(CALL, {
    ...called,
    ...WITHOUT_THINKING,
    tools: [clock],
  }),
  'chat-stream-call-cut': streamed(CALL, { ...called, ...USAGE, ...WITHOUT_THINKING, max_completion_tokens: 16 }),
  'chat-stream-call-forced-cut': streamed(CALL, {
    ...called,
    ...WITHOUT_THINKING,
    max_completion_tokens: 14,
    tools: [calculator, clock],
  }),
  'chat-stream-stop-string': streamed(CALL, { ...called, ...USAGE, ...WITHOUT_THINKING, stop: ['expression'] }),
  'chat-stream-tool-choice-none': streamed(CALL, { ...called, ...WITHOUT_THINKING, tool_choice: 'none' }),
  'chat-stream-thinking-cut': streamed(CALL, { ...called, ...USAGE, max_completion_tokens: 6 }),
  'chat-stream-thinking-kept': streamed(CALL, { ...called, separate_reasoning: false }),
  'chat-stream-thinking-at-once': streamed(CALL, { ...called, stream_reasoning: false }),
  'chat-stream-content': streamed('What is 2 + 2?', {
    ...USAGE,
    ...WITHOUT_THINKING,
    max_completion_tokens: 6,
    logprobs: true,
    top_logprobs: 2,
  }),
  'chat-stream-end': streamed('Hello!', { ...USAGE, ...WITHOUT_THINKING, max_completion_tokens: 48 }),
  'chat-stream-usage-each': streamed('What is 2 + 2?', {
    ...WITHOUT_THINKING,
    max_completion_tokens: 4,
    stream_options: { include_usage: true, continuous_usage_stats: true },
  }),
  'chat-stream-usage-each-calls': streamed(CALL, {
    ...called,
    max_completion_tokens: 24,
    stream_options: { continuous_usage_stats: true },
    logprobs: true,
  }),
  'chat-stream-n2': streamed('What is 2 + 2?', { ...USAGE, ...WITHOUT_THINKING, max_completion_tokens: 3, n: 2 }),
  'chat-stream-ids': streamed('What is 2 + 2?', {
    ...USAGE,
    ...WITHOUT_THINKING,
    max_completion_tokens: 4,
    return_input_ids_in_sglext: true,
    return_output_ids_in_sglext: true,
  }),
  'chat-stream-err-prompt-ids': streamed('hi', { return_prompt_token_ids: true }),
  'chat-stream-err-meta-info': streamed('hi', { return_meta_info: true }),
  'chat-stream-err-temperature': streamed('hi', { temperature: -1 }),
  'chat-stream-err-sum': streamed('hi', { max_completion_tokens: 4095 }),
  'chat-stream-err-options': streamed('hi', { stream_options: 5 }),
  'chat-meta-info': chat('What is 2 + 2?', {
    ...WITHOUT_THINKING,
    max_completion_tokens: 4,
    logprobs: true,
    return_meta_info: true,
    return_prompt_token_ids: true,
  }),
  'chat-sglext-ids': chat('What is 2 + 2?', {
    ...WITHOUT_THINKING,
    max_completion_tokens: 4,
    return_input_ids_in_sglext: true,
    return_output_ids_in_sglext: true,
  }),
  'chat-n2': chat('What is 2 + 2?', { ...WITHOUT_THINKING, max_completion_tokens: 4, n: 2, return_token_ids: true }),
  'chat-regex': chat('What is 2 + 2?', { ...WITHOUT_THINKING, max_completion_tokens: 8, regex: '[0-9]{3}' }),
  'chat-json-schema': chat('What is 2 + 2?', {
    ...WITHOUT_THINKING,
    max_completion_tokens: 32,
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'answer',
        schema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
      },
    },
  }),
  'chat-regex-thinking': chat(CALL, { ...called, regex: '[0-9]{3}', return_token_ids: true }),
  'chat-regex-thinking-kept': chat(CALL, { ...called, regex: '[0-9]{3}', separate_reasoning: false }),
  'chat-tool-choice-required': chat('Hello!', { ...choosing, ...WITHOUT_THINKING, tool_choice: 'required' }),
  'chat-tool-choice-required-thinking': chat(CALL, { ...choosing, tool_choice: 'required' }),
  'chat-tool-choice-named': chat('Hello!', { ...choosing, ...WITHOUT_THINKING, tool_choice: named('clock') }),
  'chat-tool-choice-strict': chat('Hello!', {
    ...choosing,
    ...WITHOUT_THINKING,
    tools: [strict],
    tool_choice: 'required',
  }),
  'chat-tool-choice-unknown': chat('Hello!', { ...choosing, tool_choice: named('sun') }),
  'chat-tool-choice-and-regex': chat('Hello!', { ...choosing, tool_choice: 'required', regex: 'a' }),
  'chat-stream-tool-choice-required': streamed('Hello!', {
    ...choosing,
    return_token_ids: false,
    ...WITHOUT_THINKING,
    tool_choice: 'required',
  }),
}

const PROMPT = '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n'
const QUESTION = '<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n'
/** The ids of the same prompt, which are close enough for the model. */
const IDS = [1, 308, 207, 578, 229, 338, 229, 25, 26, 2, 207, 1, 315, 207]

const completion = (prompt: unknown, own: object = {}): RequestToRecord => ({
  path: '/v1/completions',
  body: { model: 'tiny-qwen3', temperature: 0, max_tokens: 5, prompt, ...own },
})
const flowing = (prompt: unknown, own: object = {}): RequestToRecord => completion(prompt, { stream: true, ...own })

const completions: Readonly<Record<string, RequestToRecord>> = {
  'completion-text': completion(PROMPT),
  'completion-texts': completion([PROMPT, QUESTION]),
  'completion-text-of-one': completion([PROMPT]),
  'completion-ids': completion(IDS),
  'completion-ids-list': completion([IDS, IDS.slice(0, 9)]),
  'completion-n2': completion(PROMPT, { n: 2 }),
  'completion-texts-n2': completion([PROMPT, QUESTION], { n: 2, return_token_ids: true }),
  'completion-token-ids': completion(PROMPT, { return_token_ids: true }),
  'completion-logprobs': completion(PROMPT, { logprobs: 2 }),
  'completion-logprobs-none': completion(PROMPT, { logprobs: 0 }),
  'completion-echo': completion(PROMPT, { echo: true }),
  'completion-echo-ids': completion(IDS, { echo: true }),
  'completion-echo-texts': completion([PROMPT, QUESTION], { echo: true, n: 2, max_tokens: 2 }),
  'completion-echo-logprobs': completion('<|im_start|>user\n', { echo: true, logprobs: 2, max_tokens: 2 }),
  'completion-echo-logprobs-none': completion('<|im_start|>user\n', { echo: true, logprobs: 0, max_tokens: 2 }),
  'completion-bytes': completion('say 🙂 or é', { echo: true, logprobs: 1, max_tokens: 2 }),
  'completion-end': completion(QUESTION, { max_tokens: 64 }),
  'completion-end-special': completion(QUESTION, { max_tokens: 64, skip_special_tokens: false, no_stop_trim: true }),
  'completion-stop': completion(PROMPT, { max_tokens: 24, stop: ['no', 'zzz'] }),
  'completion-stop-token': completion(PROMPT, { max_tokens: 24, stop_token_ids: [229] }),
  'completion-err-null-length': completion(PROMPT, { max_tokens: null }),
  'completion-no-length': { path: '/v1/completions', body: { model: 'tiny-qwen3', temperature: 0, prompt: PROMPT } },
  'completion-sampled': completion(PROMPT, {
    temperature: 0.7,
    top_p: 0.9,
    top_k: 20,
    min_p: 0.01,
    seed: 5,
    frequency_penalty: 0.1,
    presence_penalty: 0.1,
    repetition_penalty: 1.1,
    logit_bias: { 5: -1 },
    min_tokens: 1,
    user: 'someone',
    best_of: 3,
  }),
  'completion-suffix': completion(PROMPT, { suffix: 'the end' }),
  'completion-regex': completion(PROMPT, { regex: '[0-9]{3}' }),
  'completion-rid': completion(PROMPT, { rid: 'mine' }),
  'completion-stream': flowing(PROMPT, USAGE),
  'completion-stream-logprobs': flowing(PROMPT, { logprobs: 2 }),
  'completion-stream-echo': flowing(QUESTION, { echo: true, logprobs: 1, max_tokens: 2 }),
  'completion-stream-token-ids': flowing(PROMPT, { return_token_ids: true }),
  'completion-stream-texts': flowing([PROMPT, QUESTION], { ...USAGE, max_tokens: 3 }),
  'completion-stream-n2': flowing(PROMPT, { ...USAGE, n: 2, max_tokens: 3 }),
  'completion-stream-end': flowing(QUESTION, { max_tokens: 64 }),
  'completion-stream-stop': flowing(PROMPT, { max_tokens: 24, stop: ['no', 'zzz'] }),
  'completion-stream-usage-each': flowing(PROMPT, { stream_options: { continuous_usage_stats: true }, max_tokens: 3 }),
  'completion-stream-err-temperature': flowing(PROMPT, { temperature: -1 }),
  'completion-err-no-prompt': { path: '/v1/completions', body: { model: 'tiny-qwen3' } },
  'completion-err-empty': completion(''),
  'completion-err-empty-list': completion([]),
  'completion-err-empty-texts': completion(['', '']),
  'completion-err-prompt-type': completion(5),
  'completion-err-prompt-mixed': completion(['a', 5]),
  'completion-err-max-tokens': completion(PROMPT, { max_tokens: 0 }),
  'completion-err-max-tokens-type': completion(PROMPT, { max_tokens: 'many' }),
  'completion-err-temperature': completion(PROMPT, { temperature: -1 }),
  'completion-err-top-p': completion(PROMPT, { top_p: 0 }),
  'completion-err-sum': completion(PROMPT, { max_tokens: 4095 }),
  'completion-err-n-type': completion(PROMPT, { n: 'two' }),
  'completion-err-malformed-json': { path: '/v1/completions', body: '{"prompt": ' },
  'completion-err-empty-body': { path: '/v1/completions', body: '' },
  'completion-err-list': { path: '/v1/completions', body: '[]' },
}

const parse = (body: RequestToRecord['body']): RequestToRecord => ({ path: '/parse_function_call', body })
const separate = (body: RequestToRecord['body']): RequestToRecord => ({ path: '/separate_reasoning', body })
const TEXT = '<think>a</think>b<tool_call>\n{"name": "calculator", "arguments": {}}\n</tool_call>'

const parsings: Readonly<Record<string, RequestToRecord>> = {
  'parse-no-tools': parse({ text: TEXT, tool_call_parser: 'qwen25' }),
  'parse-err-parser': parse({ text: TEXT, tools: [calculator], tool_call_parser: 'nonsense' }),
  'parse-err-no-parser': parse({ text: TEXT, tools: [calculator] }),
  'parse-err-no-text': parse({ tools: [calculator], tool_call_parser: 'qwen25' }),
  'parse-err-text-type': parse({ text: 5, tools: [calculator], tool_call_parser: 'qwen25' }),
  'parse-err-tools-type': parse({ text: TEXT, tools: 'calculator', tool_call_parser: 'qwen25' }),
  'parse-err-tool': parse({ text: TEXT, tools: [{ type: 'function' }], tool_call_parser: 'qwen25' }),
  'parse-err-malformed-json': parse('{'),
  'parse-err-empty-body': parse(''),
  'separate-blocks': separate({ text: TEXT, reasoning_parser: 'qwen3', return_blocks: true }),
  'separate-blocks-plain': separate({ text: 'plain', reasoning_parser: 'qwen3', return_blocks: true }),
  'separate-upper-case': separate({ text: TEXT, reasoning_parser: 'QWEN3' }),
  'separate-err-parser': separate({ text: TEXT, reasoning_parser: 'nonsense' }),
  'separate-err-no-parser': separate({ text: TEXT }),
  'separate-err-no-text': separate({ reasoning_parser: 'qwen3' }),
  'separate-err-blocks-type': separate({ text: TEXT, reasoning_parser: 'qwen3', return_blocks: 'yes, please' }),
}

/**
 * Returns a request that scores a prompt (max_new_tokens 0) while other requests generate: the answer has the row of a token
 * that was not requested.
 */
const busyScore = (own: object, server?: 'cumulative'): RequestToRecord => ({
  path: '/generate',
  body: {
    input_ids: IDS,
    sampling_params: { max_new_tokens: 0, temperature: 0 },
    return_logprob: true,
    logprob_start_len: 0,
    ...own,
  },
  batchedWith: [4, 8].map((length) => ({
    input_ids: IDS.slice(0, length),
    sampling_params: { max_new_tokens: 4, temperature: 0 },
    return_logprob: true,
  })),
  ...(server && { server }),
})

const busyScores: Readonly<Record<string, RequestToRecord>> = {
  'busy-score': busyScore({}),
  'busy-score-alternatives': busyScore({ top_logprobs_num: 2 }),
  'busy-score-stream-incremental': busyScore({ top_logprobs_num: 2, stream: true }),
  'busy-score-stream-cumulative': busyScore({ top_logprobs_num: 2, stream: true }, 'cumulative'),
}

/** Returns a request for a greedy reply of a few tokens. */
const generated = (own: object, server?: 'mixture'): RequestToRecord => ({
  path: '/generate',
  body: {
    input_ids: IDS,
    sampling_params: { temperature: 0, max_new_tokens: 6, skip_special_tokens: false, no_stop_trim: true },
    return_logprob: true,
    stream: false,
    ...own,
  },
  ...(server && { server }),
})
const EXPERTS = { return_routed_experts: true, routed_experts_start_len: 0 }

const mixtures: Readonly<Record<string, RequestToRecord>> = {
  'mixture-get_server_info': { path: '/server_info', body: null, server: 'mixture' },
  'mixture-get_v1_models': { path: '/v1/models', body: null, server: 'mixture' },
  'mixture-adapter': generated({ lora_path: 'math' }, 'mixture'),
  'mixture-err-adapter': generated({ lora_path: 'other' }, 'mixture'),
  'mixture-experts': generated(EXPERTS, 'mixture'),
  'mixture-experts-later': generated({ ...EXPERTS, routed_experts_start_len: 3 }, 'mixture'),
  'mixture-experts-stream': generated({ ...EXPERTS, stream: true }, 'mixture'),
  'mixture-experts-score': generated({ ...EXPERTS, sampling_params: { max_new_tokens: 0, temperature: 0 } }, 'mixture'),
  'experts-not-enabled': generated(EXPERTS),
  'adapter-not-enabled': generated({ lora_path: 'math' }),
}

/** All requests, by the name of their file. */
export const recordedRequests: Readonly<Record<string, RequestToRecord>> = {
  ...chats,
  ...completions,
  ...parsings,
  ...busyScores,
  ...mixtures,
}

function tool(name: string, description: string, properties: object) {
  const parameters = { type: 'object', properties, required: Object.keys(properties) }
  return { type: 'function', function: { name, description, parameters } }
}
