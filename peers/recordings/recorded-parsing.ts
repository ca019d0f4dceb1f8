/** Texts for SGLang's own parsers. lib/builtin-server/messages/golden/parsing.json has one line with the result of each. */

/** A text with the name of the parser that reads it. */
export interface ParsingCase {
  readonly parser: string
  readonly text: string
}

const text = { type: 'string' }

/** The tools of the calls. */
export const parsingTools = [
  tool('calculator', { expression: text }),
  tool('clock', { zone: text, offset: { type: 'number' }, places: { type: 'object' } }),
]

type Write = (name: string, args: Readonly<Record<string, unknown>>) => string

/** Writes one call or several in a format. `json` uses Python's spacing, as models do. */
interface Format {
  readonly call: Write
  readonly several?: (calls: readonly string[]) => string
}

const hermes: Format = {
  call: (name, args) => `<tool_call>\n{"name": "${name}", "arguments": ${json(args)}}\n</tool_call>`,
  several: (calls) => calls.join('\n'),
}
const qwenXml: Format = {
  call: (name, args) =>
    `<tool_call>\n<function=${name}>\n${Object.entries(args)
      .map(([key, value]) => `<parameter=${key}>\n${bare(value)}\n</parameter>\n`)
      .join('')}</function>\n</tool_call>`,
}
const glm = (space: string): Format => ({
  call: (name, args) =>
    `<tool_call>${name}${space}${Object.entries(args)
      .map(([key, value]) => `<arg_key>${key}</arg_key>${space}<arg_value>${bare(value)}</arg_value>${space}`)
      .join('')}</tool_call>`,
})

const dsml = (section: string): Format => ({
  call: (name, args) =>
    `<｜DSML｜invoke name="${name}">\n${Object.entries(args)
      .map(
        ([key, value]) =>
          `<｜DSML｜parameter name="${key}" string="${typeof value === 'string'}">${bare(value)}</｜DSML｜parameter>\n`,
      )
      .join('')}</｜DSML｜invoke>`,
  several: (calls) => `<｜DSML｜${section}>\n${calls.join('\n')}\n</｜DSML｜${section}>`,
})
const invoke =
  (prefix: string): Write =>
  (name, args) =>
    `<${prefix}invoke name="${name}">\n${Object.entries(args)
      .map(([key, value]) => `<${prefix}parameter name="${key}">${bare(value)}</${prefix}parameter>\n`)
      .join('')}</${prefix}invoke>\n`
const python: Write = (name, args) =>
  `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}=${json(value)}`)
    .join(', ')})`
const MARK = ']<]minimax[>['

const FORMATS: Readonly<Record<string, Format>> = {
  qwen: hermes,
  qwen25: hermes,
  hermes,
  qwen3_coder: qwenXml,
  step3p5: qwenXml,
  nanbeige: qwenXml,
  mimo: qwenXml,
  glm: glm('\n'),
  glm45: glm('\n'),
  glm47: glm(''),
  kimi_k2: {
    call: (name, args) =>
      `<|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${json(args)}<|tool_call_end|>`,
    several: (calls) => `<|tool_calls_section_begin|>${calls.join('')}<|tool_calls_section_end|>`,
  },
  llama3: {
    call: (name, args) => `{"name": "${name}", "parameters": ${json(args)}}`,
    several: (calls) => `<|python_tag|>${calls.join(';')}`,
  },
  mistral: {
    call: (name, args) => `{"name": "${name}", "arguments": ${json(args)}}`,
    several: (calls) => `[TOOL_CALLS] [${calls.join(', ')}]`,
  },
  deepseekv3: {
    call: (name, args) =>
      `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json(args)}\n\`\`\`<｜tool▁call▁end｜>`,
    several: (calls) => `<｜tool▁calls▁begin｜>${calls.join('\n')}<｜tool▁calls▁end｜>`,
  },
  deepseekv31: {
    call: (name, args) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json(args)}<｜tool▁call▁end｜>`,
    several: (calls) => `<｜tool▁calls▁begin｜>${calls.join('')}<｜tool▁calls▁end｜>`,
  },
  deepseekv32: dsml('function_calls'),
  deepseekv4: dsml('tool_calls'),
  'gpt-oss': {
    call: (name, args) =>
      `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${json(args)}<|call|>`,
    several: (calls) => calls.join('<|start|>assistant'),
  },
  pythonic: { call: python, several: (calls) => `[${calls.join(', ')}]` },
  gemma4: {
    call: (name, args) => `<|tool_call>call:${name}${gemma(args)}<tool_call|>`,
    several: (calls) => calls.join(''),
  },
  'minimax-m2': {
    call: invoke(''),
    several: (calls) => `<minimax:tool_call>\n${calls.join('')}</minimax:tool_call>`,
  },
  'minimax-m3': {
    call: (name, args) =>
      `${MARK}<invoke name="${name}">${Object.entries(args)
        .map(([key, value]) => element(key, value))
        .join('')}${MARK}</invoke>\n`,
    several: (calls) => `${MARK}<tool_call>\n${calls.join('')}${MARK}</tool_call>`,
  },
  minicpm5: {
    call: (name, args) =>
      `<function name="${name}">${Object.entries(args)
        .map(([key, value]) => `<param name="${key}">${bare(value)}</param>`)
        .join('')}</function>`,
    several: (calls) => calls.join(''),
  },
  muse: {
    call: (name, args) =>
      `<|start|>assistant to=${name}<|message|><atem:function_calls>\n${invoke('atem:')(name, args)}</atem:function_calls><|eom|>`,
    several: (calls) => calls.join(''),
  },
  kimi_k3: {
    call: (name, args) =>
      `<|open|>call tool="${name}" index="1"<|sep|>${Object.entries(args)
        .map(
          ([key, value]) =>
            `<|open|>argument key="${key}" type="${xtmlType(value)}"<|sep|>${bare(value)}<|close|>argument<|sep|>`,
        )
        .join('')}<|close|>call<|sep|>`,
    several: (calls) => `<|open|>tools<|sep|>${calls.join('')}<|close|>tools<|sep|>`,
  },
  lfm2: { call: python, several: (calls) => `<|tool_call_start|>[${calls.join(', ')}]<|tool_call_end|>` },
  cohere_command4: {
    call: (name, args) => `{"tool_call_id": "0", "tool_name": "${name}", "parameters": ${json(args)}}`,
    several: (calls) => `<|START_ACTION|>[\n    ${calls.join(',\n    ')}\n]<|END_ACTION|>`,
  },
  apertus2509: {
    call: (name, args) => `{"${name}": ${json(args)}}`,
    several: (calls) => `<|tools_prefix|>[${calls.join(', ')}]<|tools_suffix|>`,
  },
  gigachat3: {
    call: (name, args) => `<|function_call|>{"name": "${name}", "arguments": ${json(args)}}`,
    several: (calls) => calls.join(''),
  },
  // The tags have no suffix if those of the tokenizer have none, as in the shipped model.
  hunyuan: {
    call: (name, args) =>
      `<tool_call>${name}<tool_sep>\n${Object.entries(args)
        .map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${bare(value)}</arg_value>\n`)
        .join('')}</tool_call>\n`,
    several: (calls) => `<tool_calls>\n${calls.join('')}</tool_calls>`,
  },
}

/** Matches the last value and the tag that closes it, if there is one. */
const VALUE_END =
  /12 \* 7(\n?)(?:<\|"\|>|<\/(?:[^<>]*parameter|arg_value|param)>|\]<\]minimax\[>\[<\/expression>|<\|close\|>argument<\|sep\|>)/

/** Texts for parsers of tool calls. */
export const callCases: readonly ParsingCase[] = Object.entries(FORMATS).flatMap(([parser, { call, several }]) => {
  const written = several ?? ((calls) => calls.join('\n'))
  const one = written([call('calculator', { expression: '12 * 7' })])
  const texts = [
    `Let me see.\n\n${one}`,
    written([call('clock', { zone: 'é "quoted"' }), call('calculator', { expression: '2' })]),
    `${one} behind `,
    written([call('weather', { city: 'Bern' })]),
    written([call('weather', { city: 'Bern' }), call('clock', { zone: 'UTC' })]),
    written([call('clock', { zone: 'UTC', offset: 1.5, places: { a: [1, 2], b: null } })]),
    written([call('clock', {})]),
    ' no call at all ',
    one.replace('"12 * 7"', '"12 * 7').replace(VALUE_END, '12 * 7$1'),
    one.slice(0, one.indexOf('12 *') + 4),
  ]
  return texts.map((text) => ({ parser, text }))
})

const THINK = ['<think>', '</think>'] as const

const DELIMITERS: Readonly<Record<string, readonly [open: string, close: string]>> = {
  'deepseek-r1': THINK,
  'deepseek-v3': THINK,
  'deepseek-v4': THINK,
  dots: THINK,
  gemma4: ['<|channel>thought\n', '<channel|>'],
  gigachat35: THINK,
  glm45: THINK,
  'gpt-oss': ['<|channel|>analysis<|message|>', '<|end|>'],
  granite_thinking_parser: THINK,
  interns1: THINK,
  iquest_q1: THINK,
  kimi: ['◁think▷', '◁/think▷'],
  kimi_k2: THINK,
  ling3: THINK,
  mimo: THINK,
  minimax: THINK,
  'minimax-append-think': THINK,
  'minimax-m3': ['<mm:think>', '</mm:think>'],
  mistral: ['[THINK]', '[/THINK]'],
  nanbeige: THINK,
  nemotron_3: THINK,
  poolside_v1: THINK,
  qwen3: THINK,
  'qwen3-thinking': THINK,
  step3: THINK,
  step3p5: THINK,
}

/** Texts for reasoning parsers. */
export const reasoningCases: readonly ParsingCase[] = Object.entries(DELIMITERS).flatMap(([parser, [open, close]]) =>
  [
    ' plain ',
    `${open}a${close}\n\nb`,
    `a${close}b${close}c`,
    `${open}cut `,
    `x ${open}a${close} b`,
    `${open}${open}a${close}b`,
    `${open}a<tool_call>b`,
    `${open}a<|tool_calls_section_begin|>b`,
  ].map((text) => ({ parser, text })),
)

function json(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(json).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${json(member)}`)
  return `{${members.join(', ')}}`
}

function gemma(value: unknown): string {
  if (typeof value === 'string') return `<|"|>${value}<|"|>`
  if (Array.isArray(value)) return `[${value.map(gemma).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${key}:${gemma(member)}`)
    .join(',')}}`
}

function element(key: string, value: unknown): string {
  const inner = Array.isArray(value)
    ? value.map((item) => element('item', item)).join('')
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([name, member]) => element(name, member))
          .join('')
      : bare(value)
  return `${MARK}<${key}>${inner}${MARK}</${key}>`
}

function xtmlType(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function bare(value: unknown): string {
  return typeof value === 'string' ? value : json(value)
}

function tool(name: string, properties: object): object {
  return { type: 'function', function: { name, description: '', parameters: { type: 'object', properties } } }
}
