/** Model families. Each has a real chat template, the ids of the delimiters from its configuration, and its stop tokens. */

import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteTokenizerWith } from '#testing/byte-tokenizer.ts'

/** A model family, as the tests run it. */
export interface Family {
  readonly name: string
  readonly parser: string
  /** The file in the package that ships it; peers/set-up/requirements-chat-templates.txt has the versions. */
  readonly template: { readonly package: 'trl' | 'llama-cpp-python'; readonly file: string }
  /** The values of bos_token and eos_token in templates. */
  readonly specialTokens: Readonly<Record<string, string>>
  /** Added tokens that decoding skips. */
  readonly special: Readonly<Record<string, number>>
  /** Added tokens that decoding keeps; most of them delimit thinking and calls. */
  readonly plain?: Readonly<Record<string, number>>
  /** The tokens of `eos_token_id` in the model's generation_config.json. */
  readonly stops: readonly string[]
  /** True if the stop token of a reply with calls is not the one that ends the turn. */
  readonly callsLeaveTurnOpen?: boolean
  /** Variables of the template. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly thinks: boolean
  /** The template's name for the thinking of a message. Omitted: `reasoning_content`. */
  readonly reasoningField?: string
  /** True if the template leaves the tools out, which the run reports. */
  readonly leavesToolsOut?: boolean
  /** True if a reply may contain two calls. */
  readonly parallel: boolean
  /** True if the template prints only the calls of messages without content. */
  readonly omitsContent?: boolean
  /** True if the template prints arguments unchanged, so they must be JSON text already. */
  readonly argumentsAsText?: boolean
  /** Ids of the three calls, in formats where the model writes ids. */
  readonly callIds?: readonly [string, string, string]
  /** The last reply of the model, if the template writes it differently: without thinking, or without its stop token. */
  readonly answer?: string
  /** How the template breaks a run so that no continuation is possible. Omitted: it is prefix-preserving. */
  readonly breaks?: {
    /** Replies of the model, which cannot be derived from the template. */
    readonly replies: readonly string[]
    /** The continuations that the trajectory records as broken, by the index of their request. */
    readonly at: readonly number[]
  }
}

const qwen3 = {
  specialTokens: { eos_token: '<|im_end|>' },
  special: { '<|endoftext|>': 151643, '<|im_start|>': 151644, '<|im_end|>': 151645 },
  plain: {
    '<tool_call>': 151657,
    '</tool_call>': 151658,
    '<tool_response>': 151665,
    '</tool_response>': 151666,
    '<think>': 151667,
    '</think>': 151668,
  },
  stops: ['<|im_end|>', '<|endoftext|>'],
} as const

const mistral = {
  specialTokens: { bos_token: '<s>', eos_token: '</s>' },
  special: {
    '<s>': 1,
    '</s>': 2,
    '[INST]': 3,
    '[/INST]': 4,
    '[AVAILABLE_TOOLS]': 5,
    '[/AVAILABLE_TOOLS]': 6,
    '[TOOL_RESULTS]': 7,
    '[/TOOL_RESULTS]': 8,
    '[TOOL_CALLS]': 9,
  },
  stops: ['</s>'],
  thinks: false,
  parallel: true,
  callIds: ['flour0001', 'twice0001', 'yeast0001'],
} as const

const deepseek = {
  specialTokens: { bos_token: '<｜begin▁of▁sentence｜>', eos_token: '<｜end▁of▁sentence｜>' },
  special: { '<｜begin▁of▁sentence｜>': 0, '<｜end▁of▁sentence｜>': 1, '<｜▁pad▁｜>': 2 },
  plain: {
    '<think>': 128798,
    '</think>': 128799,
    '<｜User｜>': 128803,
    '<｜Assistant｜>': 128804,
    '<｜tool▁calls▁begin｜>': 128806,
    '<｜tool▁calls▁end｜>': 128807,
    '<｜tool▁call▁begin｜>': 128808,
    '<｜tool▁call▁end｜>': 128809,
    '<｜tool▁outputs▁begin｜>': 128810,
    '<｜tool▁outputs▁end｜>': 128811,
    '<｜tool▁output▁begin｜>': 128812,
    '<｜tool▁output▁end｜>': 128813,
    '<｜tool▁sep｜>': 128814,
  },
  stops: ['<｜end▁of▁sentence｜>'],
} as const

const llama3 = {
  specialTokens: { bos_token: '<|begin_of_text|>', eos_token: '<|eot_id|>' },
  special: {
    '<|begin_of_text|>': 128000,
    '<|end_of_text|>': 128001,
    '<|start_header_id|>': 128006,
    '<|end_header_id|>': 128007,
    '<|eom_id|>': 128008,
    '<|eot_id|>': 128009,
    '<|python_tag|>': 128010,
  },
  stops: ['<|end_of_text|>', '<|eom_id|>', '<|eot_id|>'],
  thinks: false,
} as const

const llamaCpp = (file: string) => ({ package: 'llama-cpp-python', file: `${file}.jinja` }) as const

const lfm = {
  template: llamaCpp('LFM2.5-8B-A1B'),
  specialTokens: { bos_token: '<|startoftext|>', eos_token: '<|im_end|>' },
  special: {
    '<|startoftext|>': 1,
    '<|endoftext|>': 2,
    '<|im_start|>': 6,
    '<|im_end|>': 7,
    '<|tool_call_start|>': 10,
    '<|tool_call_end|>': 11,
  },
  stops: ['<|im_end|>'],
  thinks: true,
  parallel: true,
} as const

/** The texts of the tokens are those of the model, their ids are invented. */
const gigachat = {
  parser: 'gigachat3',
  specialTokens: { bos_token: '<s>', eos_token: '</s>' },
  special: {
    '<s>': 1,
    '</s>': 2,
    '<|role_sep|>\n': 128000,
    '<|message_sep|>\n\n': 128001,
    '<|function_call|>': 128002,
  },
  thinks: false,
  // A message has one call.
  parallel: false,
} as const

/** All families that the tests run. */
export const families: readonly Family[] = [
  {
    name: 'Qwen3',
    parser: 'hermes',
    template: llamaCpp('Qwen-Qwen3-0.6B'),
    ...qwen3,
    thinks: true,
    parallel: true,
  },
  {
    name: 'Qwen3 that stops at the end of a call',
    parser: 'hermes',
    template: llamaCpp('Qwen-Qwen3-0.6B'),
    ...qwen3,
    stops: ['</tool_call>', ...qwen3.stops],
    callsLeaveTurnOpen: true,
    thinks: true,
    parallel: false,
  },
  {
    name: 'Qwen3-Coder',
    parser: 'qwen_xml',
    template: llamaCpp('Qwen3-Coder'),
    ...qwen3,
    thinks: false,
    parallel: true,
  },
  {
    name: 'Qwen3.5',
    parser: 'qwen_xml',
    template: llamaCpp('Qwen3.5-4B'),
    specialTokens: { eos_token: '<|im_end|>' },
    special: { '<|endoftext|>': 248044, '<|im_start|>': 248045, '<|im_end|>': 248046 },
    plain: {
      '<tool_call>': 248058,
      '</tool_call>': 248059,
      '<tool_response>': 248066,
      '</tool_response>': 248067,
      '<think>': 248068,
      '</think>': 248069,
    },
    stops: ['<|im_end|>', '<|endoftext|>'],
    thinks: true,
    parallel: true,
  },
  {
    name: 'GLM-4.6',
    parser: 'glm',
    template: llamaCpp('GLM-4.6'),
    specialTokens: { eos_token: '<|endoftext|>' },
    special: {
      '<|endoftext|>': 151329,
      '[gMASK]': 151331,
      '<sop>': 151333,
      '<|system|>': 151335,
      '<|user|>': 151336,
      '<|assistant|>': 151337,
      '<|observation|>': 151338,
    },
    plain: {
      '<think>': 151350,
      '</think>': 151351,
      '<tool_call>': 151352,
      '</tool_call>': 151353,
      '<tool_response>': 151354,
      '</tool_response>': 151355,
      '<arg_key>': 151356,
      '</arg_key>': 151357,
      '<arg_value>': 151358,
      '</arg_value>': 151359,
    },
    stops: ['<|endoftext|>', '<|user|>', '<|observation|>'],
    thinks: true,
    parallel: true,
    answer: '\n<think>That is all.</think>\nFlour costs 2.4 francs, yeast 0.95.<|user|>',
  },
  {
    name: 'Kimi-K2',
    parser: 'kimi_k2',
    template: llamaCpp('moonshotai-Kimi-K2'),
    specialTokens: { bos_token: '[BOS]', eos_token: '[EOS]' },
    special: {
      '[BOS]': 163584,
      '[EOS]': 163585,
      '<|im_end|>': 163586,
      '<|im_user|>': 163587,
      '<|im_assistant|>': 163588,
      '<|im_system|>': 163594,
      '<|im_middle|>': 163601,
    },
    plain: {
      '<|tool_calls_section_begin|>': 163595,
      '<|tool_calls_section_end|>': 163596,
      '<|tool_call_begin|>': 163597,
      '<|tool_call_argument_begin|>': 163598,
      '<|tool_call_end|>': 163599,
    },
    stops: ['<|im_end|>'],
    thinks: false,
    parallel: true,
    // The template numbers calls within a message.
    callIds: ['functions.price:0', 'functions.calculator:0', 'functions.price:1'],
  },
  {
    name: 'Llama 3.1',
    parser: 'llama3',
    template: llamaCpp('meta-llama-Llama-3.1-8B-Instruct'),
    ...llama3,
    parallel: false,
  },
  { name: 'Mistral Nemo', parser: 'mistral', template: llamaCpp('mistralai-Mistral-Nemo-Instruct-2407'), ...mistral },
  {
    name: 'Mistral Small 3.2',
    parser: 'mistral',
    template: llamaCpp('Mistral-Small-3.2-24B-Instruct-2506'),
    ...mistral,
    special: {
      ...mistral.special,
      '[SYSTEM_PROMPT]': 17,
      '[/SYSTEM_PROMPT]': 18,
      '[TOOL_CONTENT]': 19,
      '[ARGS]': 32,
      '[CALL_ID]': 33,
    },
  },
  {
    name: 'DeepSeek V3',
    parser: 'deepseek_v3',
    template: { package: 'trl', file: 'deepseekv3.jinja' },
    ...deepseek,
    thinks: true,
    leavesToolsOut: true,
    parallel: true,
    breaks: {
      replies: [
        'First the flour.\n</think>\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>price\n```json\n{"item": "flour \\"405\\"", "city": "Zürich", "grams": 500, "organic": true}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>calculator\n```json\n{"expression": "2*1.20"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>price\n```json\n{"item": "dry yeast", "city": "Zürich", "grams": 7, "organic": false}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
        'Flour costs 2.4 francs, yeast 0.95.<｜end▁of▁sentence｜>',
      ],
      at: [2],
    },
  },
  {
    name: 'DeepSeek V3.1',
    parser: 'deepseek_v31',
    template: llamaCpp('deepseek-ai-DeepSeek-V3.1'),
    ...deepseek,
    thinks: false,
    leavesToolsOut: true,
    parallel: true,
  },
  {
    name: 'DeepSeek V3.2',
    parser: 'deepseek_v32',
    template: llamaCpp('deepseek-ai-DeepSeek-V3.2'),
    ...deepseek,
    options: { enable_thinking: true },
    thinks: true,
    parallel: true,
  },
  {
    name: 'gpt-oss',
    parser: 'gpt-oss',
    template: llamaCpp('openai-gpt-oss-120b'),
    specialTokens: { bos_token: '<|startoftext|>', eos_token: '<|return|>' },
    special: {
      '<|startoftext|>': 199998,
      '<|endoftext|>': 199999,
      '<|return|>': 200002,
      '<|constrain|>': 200003,
      '<|channel|>': 200005,
      '<|start|>': 200006,
      '<|end|>': 200007,
      '<|message|>': 200008,
      '<|call|>': 200012,
    },
    stops: ['<|return|>', '<|endoftext|>', '<|call|>'],
    thinks: true,
    parallel: false,
    answer:
      '<|channel|>analysis<|message|>That is all.<|end|><|start|>assistant<|channel|>final<|message|>Flour costs 2.4 francs, yeast 0.95.<|return|>',
  },
  { name: 'LFM2.5', parser: 'lfm2', ...lfm },
  { name: 'LFM2.5 on a server that reads pythonic', parser: 'pythonic', ...lfm },
  {
    name: 'Command R7B',
    parser: 'cohere_command4',
    template: llamaCpp('CohereForAI-c4ai-command-r7b-12-2024-tool_use'),
    specialTokens: { bos_token: '<BOS_TOKEN>', eos_token: '<|END_OF_TURN_TOKEN|>' },
    special: {
      '<BOS_TOKEN>': 5,
      '<|START_OF_TURN_TOKEN|>': 255000,
      '<|END_OF_TURN_TOKEN|>': 255001,
      '<|USER_TOKEN|>': 255006,
      '<|CHATBOT_TOKEN|>': 255007,
      '<|SYSTEM_TOKEN|>': 255008,
      '<|START_THINKING|>': 255019,
      '<|END_THINKING|>': 255020,
      '<|START_RESPONSE|>': 255021,
      '<|END_RESPONSE|>': 255022,
      '<|START_ACTION|>': 255023,
      '<|END_ACTION|>': 255024,
      '<|START_TOOL_RESULT|>': 255025,
      '<|END_TOOL_RESULT|>': 255026,
    },
    stops: ['<|END_OF_TURN_TOKEN|>'],
    options: { enable_thinking: true },
    thinks: true,
    parallel: true,
    callIds: ['0', '1', '2'],
    // The template numbers the calls of the whole conversation.
    breaks: {
      replies: [
        '<|START_THINKING|>First the flour.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "price", "parameters": {"item": "flour \\"405\\"", "city": "Zürich", "grams": 500, "organic": true}}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>',
        '<|START_THINKING|>Twice that, and the yeast.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "1", "tool_name": "calculator", "parameters": {"expression": "2*1.20"}},\n    {"tool_call_id": "2", "tool_name": "price", "parameters": {"item": "dry yeast", "city": "Zürich", "grams": 7, "organic": false}}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>',
        '<|START_RESPONSE|>Flour costs 2.4 francs, yeast 0.95.<|END_RESPONSE|><|END_OF_TURN_TOKEN|>',
      ],
      at: [2],
    },
  },
  {
    name: 'Apertus',
    parser: 'apertus2509',
    template: llamaCpp('Apertus-8B-Instruct'),
    specialTokens: { bos_token: '<s>', eos_token: '<|assistant_end|>' },
    special: {
      '<s>': 1,
      '</s>': 2,
      '<|system_start|>': 61,
      '<|system_end|>': 62,
      '<|developer_start|>': 63,
      '<|developer_end|>': 64,
      '<|user_start|>': 65,
      '<|user_end|>': 66,
      '<|assistant_start|>': 67,
      '<|assistant_end|>': 68,
      '<|inner_prefix|>': 69,
      '<|inner_suffix|>': 70,
      '<|tools_prefix|>': 71,
      '<|tools_suffix|>': 72,
    },
    stops: ['</s>', '<|assistant_end|>', '<|tools_suffix|>'],
    callsLeaveTurnOpen: true,
    thinks: false,
    parallel: true,
    breaks: {
      replies: [
        '<|tools_prefix|>[{"price": {"item": "flour \\"405\\"", "city": "Zürich", "grams": 500, "organic": true}}]<|tools_suffix|>',
        '<|tools_prefix|>[{"calculator": {"expression": "2*1.20"}}, {"price": {"item": "dry yeast", "city": "Zürich", "grams": 7, "organic": false}}]<|tools_suffix|>',
        'Flour costs 2.4 francs, yeast 0.95.<|assistant_end|>',
      ],
      at: [],
    },
  },
  {
    name: 'Gemma 4',
    parser: 'gemma4',
    template: { package: 'trl', file: 'gemma4_v5.jinja' },
    specialTokens: { bos_token: '<bos>', eos_token: '<eos>' },
    special: {
      '<eos>': 1,
      '<bos>': 2,
      '<|tool>': 46,
      '<tool|>': 47,
      '<|tool_call>': 48,
      '<tool_call|>': 49,
      '<|tool_response>': 50,
      '<tool_response|>': 51,
      '<|"|>': 52,
      '<|think|>': 98,
      '<|channel>': 100,
      '<channel|>': 101,
      '<|turn>': 105,
      '<turn|>': 106,
    },
    stops: ['<eos>', '<turn|>', '<|tool_response>'],
    options: { enable_thinking: true },
    thinks: true,
    parallel: true,
  },
  {
    name: 'MiniMax-M2',
    parser: 'minimax-m2',
    template: llamaCpp('MiniMax-M2'),
    specialTokens: { bos_token: ']~!b[', eos_token: '[e~[' },
    special: { ']~b]': 200019, '[e~[': 200020, ']~!b[': 200034 },
    plain: {
      '<think>': 200050,
      '</think>': 200051,
      '<minimax:tool_call>': 200052,
      '</minimax:tool_call>': 200053,
    },
    stops: ['[e~['],
    thinks: true,
    parallel: true,
  },
  {
    name: 'DeepSeek-V4',
    parser: 'deepseek_v4',
    template: llamaCpp('deepseek-ai-DeepSeek-V4'),
    ...deepseek,
    options: { thinking: true },
    thinks: true,
    parallel: true,
  },
  {
    name: 'Kimi-K3',
    parser: 'kimi_k3',
    template: llamaCpp('Kimi-K3'),
    specialTokens: { bos_token: '[BOS]', eos_token: '[EOS]' },
    special: {
      '[BOS]': 163584,
      '[EOS]': 163585,
      '<|end_of_msg|>': 163586,
      '<|open|>': 163587,
      '<|close|>': 163588,
      '<|sep|>': 163589,
    },
    stops: ['<|end_of_msg|>'],
    thinks: true,
    parallel: true,
  },
  {
    name: 'Muse-Glimmer',
    parser: 'muse',
    template: { package: 'trl', file: 'muse_glimmer.jinja' },
    specialTokens: { bos_token: '<|begin_of_text|>', eos_token: '<|eot|>' },
    special: {
      '<|begin_of_text|>': 200000,
      '<|end_of_text|>': 200001,
      '<|eom|>': 200007,
      '<|eot|>': 200008,
      '<|start|>': 200022,
      '<|message|>': 200023,
    },
    stops: ['<|eot|>', '<|end_of_text|>'],
    thinks: true,
    parallel: true,
  },
  { name: 'GigaChat 3.1', template: llamaCpp('GigaChat3.1-10B-A1.8B'), ...gigachat, stops: ['<|message_sep|>\n\n'] },
  {
    name: 'GigaChat 3',
    template: llamaCpp('GigaChat3-10B-A1.8B'),
    ...gigachat,
    // A message ends before the call, so another token ends the reply; the template does not write it.
    stops: ['</s>'],
    callsLeaveTurnOpen: true,
    breaks: {
      replies: [
        '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "price", "arguments": {"item": "flour \\"405\\"", "city": "Zürich", "grams": 500, "organic": true}}</s>',
        '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "calculator", "arguments": {"expression": "2*1.20"}}</s>',
        'Flour costs 2.4 francs, yeast 0.95.</s>',
      ],
      at: [],
    },
  },
  {
    name: 'Hy3',
    parser: 'hunyuan',
    template: llamaCpp('tencent-Hy3'),
    specialTokens: {},
    // Only the id of the end of a turn is that of the model.
    special: {
      '<｜hy_begin_of_sentence:opensource｜>': 120000,
      '<｜hy_User:opensource｜>': 120006,
      '<｜hy_Assistant:opensource｜>': 120007,
      '<｜hy_eos:opensource｜>': 120025,
      '<｜reasoning_mode:opensource｜>': 120026,
    },
    plain: Object.fromEntries(
      ['think', 'tool_calls', 'tool_call', 'arg_key', 'arg_value', 'tool_responses', 'tool_response']
        .flatMap((name) => [`<${name}:opensource>`, `</${name}:opensource>`])
        .concat('<tool_sep:opensource>')
        .map((tag, index) => [tag, 120030 + index]),
    ),
    stops: ['<｜hy_eos:opensource｜>'],
    options: { reasoning_effort: 'high' },
    thinks: true,
    parallel: true,
    answer: 'That is all.</think:opensource>Flour costs 2.4 francs, yeast 0.95.<｜hy_eos:opensource｜>',
  },
  {
    name: 'MiniMax-M3',
    parser: 'minimax-m3',
    template: llamaCpp('MiniMax-M3'),
    specialTokens: {},
    special: { ']~b]': 200019, '[e~[': 200020, ']~!b[': 200034 },
    // The ids of these are not the model’s own.
    plain: { ']<]minimax[>[': 200100, '<mm:think>': 200101, '</mm:think>': 200102 },
    stops: ['[e~['],
    options: { thinking_mode: 'enabled' },
    thinks: true,
    parallel: true,
  },
  {
    name: 'MiniCPM5',
    parser: 'minicpm5',
    template: llamaCpp('openbmb-MiniCPM5-1B'),
    specialTokens: { bos_token: '<s>', eos_token: '</s>' },
    // The ids of these are not the model’s own.
    special: { '<s>': 1, '</s>': 2, '<|im_start|>': 73441, '<|im_end|>': 73440 },
    plain: { '<think>': 73442, '</think>': 73443, '<tool_response>': 73444, '</tool_response>': 73445 },
    stops: ['<|im_end|>', '</s>'],
    options: { enable_thinking: true },
    thinks: true,
    parallel: true,
  },
  {
    name: 'Seed-OSS',
    parser: 'seed_oss',
    template: llamaCpp('ByteDance-Seed-OSS'),
    specialTokens: {},
    special: { '<seed:bos>': 0, '<seed:pad>': 1, '<seed:eos>': 2 },
    // The ids of these are not the model’s own.
    plain: { '<seed:think>': 6, '</seed:think>': 7, '<seed:tool_call>': 8, '</seed:tool_call>': 9 },
    stops: ['<seed:eos>'],
    thinks: true,
    parallel: true,
  },
  {
    name: 'MiniMax-M1',
    parser: 'tool_calls',
    template: llamaCpp('MiniMax-M1'),
    specialTokens: {},
    // These ids are invented.
    special: { '<begin_of_document>': 200034, '<beginning_of_sentence>': 200019, '<end_of_sentence>': 200020 },
    stops: ['<end_of_sentence>'],
    thinks: false,
    parallel: true,
  },
  {
    name: 'Apriel 1.5',
    parser: 'tool_calls',
    template: llamaCpp('unsloth-Apriel-1.5'),
    specialTokens: { bos_token: '<s>', eos_token: '</s>' },
    // The ids of the last tokens are invented.
    special: { '<s>': 1, '</s>': 2, '<|end|>': 3 },
    stops: ['<|end|>', '</s>'],
    thinks: false,
    parallel: true,
  },
  {
    name: 'Nemotron Nano 2',
    parser: 'nemotron',
    template: llamaCpp('NVIDIA-Nemotron-Nano-v2'),
    specialTokens: {},
    special: { '<SPECIAL_10>': 10, '<SPECIAL_11>': 11, '<SPECIAL_12>': 12 },
    // The ids of these are not the model’s own.
    plain: { '<think>': 13, '</think>': 14, '<TOOLCALL>': 15, '</TOOLCALL>': 16 },
    stops: ['<SPECIAL_12>'],
    thinks: true,
    parallel: true,
    breaks: {
      replies: [
        'First the flour.\n</think>\n\n<TOOLCALL>[{"name": "price", "arguments": {"item": "flour \\"405\\"", "city": "Zürich", "grams": 500, "organic": true}}]</TOOLCALL>\n<SPECIAL_12>',
        'Twice that, and the yeast.\n</think>\n\n<TOOLCALL>[{"name": "calculator", "arguments": {"expression": "2*1.20"}}, {"name": "price", "arguments": {"item": "dry yeast", "city": "Zürich", "grams": 7, "organic": false}}]</TOOLCALL>\n<SPECIAL_12>',
        'That is all.\n</think>\n\nFlour costs 2.4 francs, yeast 0.95.\n<SPECIAL_12>',
      ],
      at: [],
    },
  },
  {
    name: 'Command R Plus',
    parser: 'command_r',
    template: llamaCpp('CohereForAI-c4ai-command-r-plus-tool_use'),
    specialTokens: { bos_token: '<BOS_TOKEN>', eos_token: '<|END_OF_TURN_TOKEN|>' },
    special: {
      '<BOS_TOKEN>': 5,
      '<|START_OF_TURN_TOKEN|>': 255000,
      '<|END_OF_TURN_TOKEN|>': 255001,
      '<|USER_TOKEN|>': 255006,
      '<|CHATBOT_TOKEN|>': 255007,
      '<|SYSTEM_TOKEN|>': 255008,
    },
    stops: ['<|END_OF_TURN_TOKEN|>'],
    thinks: false,
    parallel: true,
    // The template requests the next action only after the last message.
    breaks: {
      replies: [
        'Action: ```json\n[\n    {\n        "tool_name": "price",\n        "parameters": {\n            "item": "flour \\"405\\"",\n            "city": "Zürich",\n            "grams": 500,\n            "organic": true\n        }\n    }\n]```<|END_OF_TURN_TOKEN|>',
        'Action: ```json\n[\n    {\n        "tool_name": "calculator",\n        "parameters": {\n            "expression": "2*1.20"\n        }\n    },\n    {\n        "tool_name": "price",\n        "parameters": {\n            "item": "dry yeast",\n            "city": "Zürich",\n            "grams": 7,\n            "organic": false\n        }\n    }\n]```<|END_OF_TURN_TOKEN|>',
        'Flour costs 2.4 francs, yeast 0.95.<|END_OF_TURN_TOKEN|>',
      ],
      at: [1, 2],
    },
  },
  {
    name: 'Functionary 3.1',
    parser: 'functionary_v31',
    template: llamaCpp('meetkai-functionary-medium-v3.1'),
    ...llama3,
    parallel: true,
  },
  {
    name: 'Functionary 3.2',
    parser: 'functionary_v32',
    template: llamaCpp('meetkai-functionary-medium-v3.2'),
    ...llama3,
    parallel: true,
    argumentsAsText: true,
  },
  {
    name: 'Solar Open',
    parser: 'solar_open',
    template: llamaCpp('upstage-Solar-Open-100B'),
    specialTokens: { bos_token: '<s>', eos_token: '</s>' },
    special: {
      '<|begin|>': 20,
      '<|end|>': 21,
      '<|think|>': 22,
      '<|content|>': 23,
      '<|flush|>': 24,
      '<|calls|>': 25,
      '<|tool_calls|>': 30,
      '<|tool_call:begin|>': 31,
      '<|tool_call:end|>': 32,
      '<|tool_call:name|>': 33,
      '<|tool_call:args|>': 34,
      // The ids of these are not the model’s own.
      '<|tools:begin|>': 40,
      '<|tools:end|>': 41,
      '<|tool:begin|>': 42,
      '<|tool:end|>': 43,
      '<|tool_response|>': 44,
      '<|tool_response:begin|>': 45,
      '<|tool_response:end|>': 46,
      '<|tool_response:name|>': 47,
      '<|tool_response:result|>': 48,
    },
    stops: ['<|flush|>', '<|calls|>'],
    thinks: true,
    reasoningField: 'reasoning',
    parallel: true,
    callIds: ['flour00001', 'twice00001', 'yeast00001'],
    answer: '<|think|>That is all.<|end|><|begin|>assistant<|content|>Flour costs 2.4 francs, yeast 0.95.<|flush|>',
  },
]

/** Returns a byte tokenizer with the family's added tokens; the bytes have the ids after them. */
export function tokenizerOf({ name, special, plain = {} }: Family): Tokenizer {
  const added = (ids: Readonly<Record<string, number>>, isSpecial: boolean) =>
    Object.entries(ids).map(([content, id]) => ({ id, content, special: isSpecial }))
  const tokens = [...added(special, true), ...added(plain, false)]
  return byteTokenizerWith(name, tokens, Math.max(...tokens.map(({ id }) => id)) + 1)
}

/** Returns the stop ids of the family. Throws if it has no such token. */
export const stopIdsOf = (family: Family): readonly number[] =>
  family.stops.map((stop) => {
    const id = { ...family.special, ...family.plain }[stop]
    if (id === undefined) throw new Error(`${family.name} has no token ${stop}`)
    return id
  })
