/**
 * How each tool parser's format writes calls, by the parser's name: texts for the tests of every parser. A new parser adds a row to
 * each table.
 */

/** Returns a call of the function f whose argument a is the given JSON value. The order is that of the registry and of every menu. */
export const CALLS: Readonly<Record<string, (json: string) => string>> = {
  hermes: (json) => `<tool_call>{"name": "f", "arguments": {"a": ${json}}}</tool_call>`,
  qwen_xml: (json) => `<tool_call><function=f><parameter=a>\n${json}\n</parameter></function></tool_call>`,
  glm: (json) => `<tool_call>f<arg_key>a</arg_key><arg_value>${json}</arg_value></tool_call>`,
  kimi_k2: (json) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": ${json}}<|tool_call_end|><|tool_calls_section_end|>`,
  llama3: (json) => `<|python_tag|>{"name": "f", "parameters": {"a": ${json}}}`,
  mistral: (json) => `[TOOL_CALLS] [{"name": "f", "arguments": {"a": ${json}}}]`,
  deepseek_v3: (json) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n\`\`\`json\n{"a": ${json}}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  deepseek_v31: (json) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": ${json}}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  deepseek_v32: (json) =>
    `<｜DSML｜function_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">${json}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>`,
  'gpt-oss': (json) =>
    `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": ${json}}<|call|>`,
  pythonic: (json) => `[f(a=${pythonOf(json)})]`,
  gemma4: (json) => `<|tool_call>call:f{a:${gemmaOf(json)}}<tool_call|>`,
  'minimax-m2': (json) =>
    `<minimax:tool_call><invoke name="f"><parameter name="a">${json}</parameter></invoke></minimax:tool_call>`,
  deepseek_v4: (json) =>
    `<｜DSML｜tool_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">${json}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>`,
  kimi_k3: (json) =>
    `<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="${typeOf(json)}"<|sep|>${json}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`,
  lfm2: (json) => `<|tool_call_start|>[f(a=${json})]<|tool_call_end|>`,
  cohere_command4: (json) =>
    `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": ${json}}}]<|END_ACTION|>`,
  apertus2509: (json) => `<|tools_prefix|>[{"f": {"a": ${json}}}]<|tools_suffix|>`,
  muse: (json) =>
    `<atem:function_calls><atem:invoke name="f"><atem:parameter name="a">${json}</atem:parameter></atem:invoke></atem:function_calls>`,
  gigachat3: (json) => `<|function_call|>{"name": "f", "arguments": {"a": ${json}}}`,
  hunyuan: (json) =>
    `<tool_calls:opensource><tool_call:opensource>f<tool_sep:opensource><arg_key:opensource>a</arg_key:opensource><arg_value:opensource>${json}</arg_value:opensource></tool_call:opensource></tool_calls:opensource>`,
  'minimax-m3': (json) =>
    `]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<a>${json}]<]minimax[>[</a>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>`,
  minicpm5: (json) => `<function name="f"><param name="a">${json}</param></function>`,
  deepseek_v41: (json) =>
    `<｜DSML｜ calls><｜DSML｜ invoke name="f"><｜DSML｜ parameter name="a" string="false">${json}</｜DSML｜ parameter></｜DSML｜ invoke></｜DSML｜ calls>`,
  gigachat35: (json) =>
    `<｜GCML｜tool_calls><｜GCML｜invoke name="f"><｜GCML｜parameter name="a" string="false">${json}</｜GCML｜parameter></｜GCML｜invoke></｜GCML｜tool_calls>`,
  step3: (json) =>
    `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f"><steptml:parameter name="a">${json}</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>`,
  dots: (json) =>
    `<dots_function_call><invoke name="f"><parameter name="a">${json}</parameter></invoke></dots_function_call>`,
  iquest_q1: (json) => `<iquest_tool_call>f<arg_key>a</arg_key><arg_value>${json}</arg_value></iquest_tool_call>`,
  interns1: (json) => `<|action_start|><|plugin|>{"name": "f", "parameters": {"a": ${json}}}<|action_end|>`,
  k2_horizon: (json) =>
    `<ifm|tool_calls><ifm|tool_call>f<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>${json}</ifm|arg_value></ifm|tool_call></ifm|tool_calls>`,
  seed_oss: (json) => `<seed:tool_call><function=f><parameter=a>${json}</parameter></function></seed:tool_call>`,
  tool_calls: (json) => `<tool_calls>\n{"name": "f", "arguments": {"a": ${json}}}\n</tool_calls>`,
  nemotron: (json) => `<TOOLCALL>[{"name": "f", "arguments": {"a": ${json}}}]</TOOLCALL>`,
  command_r: (json) => `Action:\n\`\`\`json\n[{"tool_name": "f", "parameters": {"a": ${json}}}]\`\`\``,
  functionary_v31: (json) => `<function=f>{"a": ${json}}</function>`,
  functionary_v32: (json) => `>>>f\n{"a": ${json}}`,
  solar_open: (json) =>
    `<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>f<|tool_call:args|>{"a": ${json}}<|tool_call:end|><|calls|>`,
  functiongemma: (json) => `<start_function_call>call:f{a:${gemmaOf(json, '<escape>')}}<end_function_call>`,
  granite: (json) => `<|tool_call|>[{"name": "f", "arguments": {"a": ${json}}}]`,
  phi4_mini: (json) => `functools[{"name": "f", "arguments": {"a": ${json}}}]`,
  longcat: (json) => `<longcat_tool_call>{"name": "f", "arguments": {"a": ${json}}}</longcat_tool_call>`,
  olmo3: (json) => `<function_calls>f(a=${json})</function_calls>`,
  solar_open2: (json) =>
    `<|tool_call:start|>f\n<|tool_arg:start|>a<|tool_arg:value|>${json}<|tool_arg:end|>\n<|tool_call:end|>`,
  hunyuan_fenced: (json) => `<tool_calls><tool_call>f\n\`\`\`json\n{"a": ${json}}\n\`\`\`</tool_call></tool_calls>`,
  step_audio: (json) => `<|CALL_START|>function\nf\n{"a": ${json}}<|CALL_END|>`,
  xlam: (json) => `[{"name": "f", "arguments": {"a": ${json}}}]`,
  hyperclovax: (json) => `-> tool/function_call\n[{"name": "f", "arguments": {"a": ${json}}}]`,
  zaya: (json) => `<zyphra_tool_call><function=f><parameter=a>\n${json}\n</parameter></function></zyphra_tool_call>`,
  grug: (json) => `<|tool_call|>\n{"name": "f", "arguments": {"a": ${json}}}\n<|tool_call_end|>`,
  granite_20b_fc: (json) => `<function_call> {"name": "f", "arguments": {"a": ${json}}}`,
  frogboss: (json) => `<function=f>\n  <parameter=a>${json}</parameter>\n</function>`,
  falcon3: (json) => `<tool_call>\n[{"name": "f", "arguments": {"a": ${json}}}]\n</tool_call>`,
  minicpm3: (json) => `<|tool_call_start|>\n\`\`\`python\nf(a=${json})\n\`\`\`\n<|tool_call_end|>`,
  mimo: (json) => `<tool_call>\n<function=f>\n<parameter=a>${json}</parameter>\n</function>\n</tool_call>`,
  inkling: (json) =>
    `<|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {"a": ${json}}}<|end_message|>`,
  plamo3: (json) =>
    `<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"a": ${json}}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>`,
}

const typeOf = (json: string): string =>
  ({ '[': 'array', '{': 'object', t: 'boolean', f: 'boolean', n: 'null' })[json[0] ?? ''] ?? 'number'

/** Texts and names between the quotes of Gemma 4, or of another model. */
const gemmaOf = (json: string, quote = '<|"|>'): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"/g, (found) => `${quote}${JSON.parse(found)}${quote}`)

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
const pythonOf = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (found) => PYTHON_WORDS[found] ?? found)

/** Formats that do not write the type of a value: a number that JavaScript cannot represent is read as text. */
export const UNTYPED: readonly string[] = [
  ...['qwen_xml', 'glm', 'minimax-m2', 'muse', 'hunyuan', 'minimax-m3', 'minicpm5', 'seed_oss'],
  ...['step3', 'dots', 'iquest_q1', 'k2_horizon', 'solar_open2', 'mimo', 'frogboss', 'zaya'],
]

/** Formats that are read by argument: the arguments are between tags, and a value is sent when it is whole. */
export const BY_ARGUMENT: readonly string[] = [
  ...UNTYPED,
  ...['deepseek_v32', 'deepseek_v4', 'deepseek_v41', 'gigachat35', 'kimi_k3'],
]

/** Formats whose calls are read when the reply has ended. */
export const AT_THE_END: readonly string[] = [
  ...['pythonic', 'lfm2', 'olmo3', 'minicpm3', 'gemma4', 'minimax-m3', 'functiongemma'],
]

/** Two calls of the function add: what opens them, a valid call, what separates them, a malformed call, what closes them. */
export const TWO_CALLS: Readonly<Record<string, readonly [string, string, string, string, string]>> = {
  hermes: [
    '',
    '<tool_call>\n{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}\n</tool_call>',
    '',
    '<tool_call>\n{"name": "add", "arguments": {"a": 7\n</tool_call>',
    '',
  ],
  qwen_xml: [
    '',
    '<tool_call>\n<function=add>\n<parameter=a>\n7\n</parameter>\n<parameter=b>\n日本 7\n</parameter>\n</function>\n</tool_call>',
    '',
    '<tool_call>\n<function=add>\n<parameter=a>\nseven\n</parameter>\n</function>\n</tool_call>',
    '',
  ],
  glm: [
    '',
    '<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>7</arg_value>\n<arg_key>b</arg_key>\n<arg_value>日本 7</arg_value>\n</tool_call>',
    '',
    '<tool_call>add<arg_key>a</arg_key></tool_call>',
    '',
  ],
  kimi_k2: [
    '<|tool_calls_section_begin|>',
    '<|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 7, "b": "日本 7"}<|tool_call_end|>',
    '',
    '<|tool_call_begin|>functions.add:1<|tool_call_argument_begin|>[7]<|tool_call_end|>',
    '<|tool_calls_section_end|>',
  ],
  llama3: [
    '<|python_tag|>',
    '{"name": "add", "parameters": {"a": 7, "b": "日本 7"}}',
    '; ',
    '{"name": "add", "parameters": {"a": 7',
    '',
  ],
  mistral: ['', '[TOOL_CALLS]add[ARGS]{"a": 7, "b": "日本 7"}', '', '[TOOL_CALLS]add[ARGS]{"a": 7', ''],
  deepseek_v3: [
    '<｜tool▁calls▁begin｜>',
    '<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{"a": 7, "b": "日本 7"}\n```<｜tool▁call▁end｜>',
    '',
    '<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n[7]\n```<｜tool▁call▁end｜>',
    '<｜tool▁calls▁end｜>',
  ],
  deepseek_v31: [
    '<｜tool▁calls▁begin｜>',
    '<｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 7, "b": "日本 7"}<｜tool▁call▁end｜>',
    '',
    '<｜tool▁call▁begin｜>add<｜tool▁sep｜>[7]<｜tool▁call▁end｜>',
    '<｜tool▁calls▁end｜>',
  ],
  deepseek_v32: [
    '<｜DSML｜function_calls>',
    '<｜DSML｜invoke name="add"><｜DSML｜parameter name="a" string="false">7</｜DSML｜parameter><｜DSML｜parameter name="b" string="true">日本 7</｜DSML｜parameter></｜DSML｜invoke>',
    '',
    '<｜DSML｜invoke name="add"><｜DSML｜parameter name="a" string="false">seven</｜DSML｜parameter></｜DSML｜invoke>',
    '</｜DSML｜function_calls>',
  ],
  'gpt-oss': [
    '',
    '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 7, "b": "日本 7"}<|call|>',
    '',
    '<|start|>assistant<|channel|>commentary to=functions.add <|constrain|>json<|message|>[7]<|call|>',
    '',
  ],
  pythonic: ['[', 'add(a=7, b="日本 7")', ', ', 'add(7)', ']'],
  'minimax-m2': [
    '<minimax:tool_call>',
    '<invoke name="add"><parameter name="a">7</parameter><parameter name="b">日本 7</parameter></invoke>',
    '',
    '<invoke name="add"><parameter name="a">seven</parameter></invoke>',
    '</minimax:tool_call>',
  ],
  deepseek_v4: [
    '<｜DSML｜tool_calls>',
    '<｜DSML｜invoke name="add"><｜DSML｜parameter name="a" string="false">7</｜DSML｜parameter><｜DSML｜parameter name="b" string="true">日本 7</｜DSML｜parameter></｜DSML｜invoke>',
    '',
    '<｜DSML｜invoke name="add"><｜DSML｜parameter name="a" string="false">seven</｜DSML｜parameter></｜DSML｜invoke>',
    '</｜DSML｜tool_calls>',
  ],
  kimi_k3: [
    '<|open|>tools<|sep|>',
    '<|open|>call tool="add" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>7<|close|>argument<|sep|><|open|>argument key="b" type="string"<|sep|>日本 7<|close|>argument<|sep|><|close|>call<|sep|>',
    '',
    '<|open|>call tool="add" index="2"<|sep|><|open|>argument key="a" type="number"<|sep|>seven<|close|>argument<|sep|><|close|>call<|sep|>',
    '<|close|>tools<|sep|>',
  ],
  lfm2: ['<|tool_call_start|>[', 'add(a=7, b="日本 7")', ', ', 'add(7)', ']<|tool_call_end|>'],
  cohere_command4: [
    '<|START_ACTION|>[',
    '{"tool_name": "add", "parameters": {"a": 7, "b": "日本 7"}}',
    ', ',
    '{"tool_name": "add", "parameters": [7]}',
    ']<|END_ACTION|>',
  ],
  apertus2509: ['<|tools_prefix|>[', '{"add": {"a": 7, "b": "日本 7"}}', ', ', '{"add": [7]}', ']<|tools_suffix|>'],
  muse: [
    '<atem:function_calls>',
    '<atem:invoke name="add"><atem:parameter name="a">7</atem:parameter><atem:parameter name="b">日本 7</atem:parameter></atem:invoke>',
    '',
    '<atem:invoke name="add"><atem:parameter name="a">seven</atem:parameter></atem:invoke>',
    '</atem:function_calls>',
  ],
  gigachat3: [
    '',
    '<|function_call|>{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    '',
    '<|function_call|>{"name": "add", "arguments": [7]}',
    '',
  ],
  hunyuan: [
    '<tool_calls:opensource>',
    '<tool_call:opensource>add<tool_sep:opensource><arg_key:opensource>a</arg_key:opensource><arg_value:opensource>7</arg_value:opensource><arg_key:opensource>b</arg_key:opensource><arg_value:opensource>日本 7</arg_value:opensource></tool_call:opensource>',
    '',
    '<tool_call:opensource>add<arg_key:opensource>a</arg_key:opensource><arg_value:opensource>seven</arg_value:opensource></tool_call:opensource>',
    '</tool_calls:opensource>',
  ],
  'minimax-m3': [
    ']<]minimax[>[<tool_call>',
    ']<]minimax[>[<invoke name="add">]<]minimax[>[<a>7]<]minimax[>[</a>]<]minimax[>[<b>日本 7]<]minimax[>[</b>]<]minimax[>[</invoke>',
    '',
    ']<]minimax[>[<invoke name="add">]<]minimax[>[<a>seven]<]minimax[>[</a>]<]minimax[>[</invoke>',
    ']<]minimax[>[</tool_call>',
  ],
  minicpm5: [
    '',
    '<function name="add"><param name="a">7</param><param name="b">日本 7</param></function>',
    '',
    '<function name="add"><param name="a">seven</param></function>',
    '',
  ],
  deepseek_v41: [
    '<｜DSML｜ calls>',
    '<｜DSML｜ invoke name="add"><｜DSML｜ parameter name="a" string="false">7</｜DSML｜ parameter><｜DSML｜ parameter name="b" string="true">日本 7</｜DSML｜ parameter></｜DSML｜ invoke>',
    '',
    '<｜DSML｜ invoke name="add"><｜DSML｜ parameter name="a" string="false">seven</｜DSML｜ parameter></｜DSML｜ invoke>',
    '</｜DSML｜ calls>',
  ],
  gigachat35: [
    '<｜GCML｜tool_calls>',
    '<｜GCML｜invoke name="add"><｜GCML｜parameter name="a" string="false">7</｜GCML｜parameter><｜GCML｜parameter name="b" string="true">日本 7</｜GCML｜parameter></｜GCML｜invoke>',
    '',
    '<｜GCML｜invoke name="add"><｜GCML｜parameter name="a" string="false">seven</｜GCML｜parameter></｜GCML｜invoke>',
    '</｜GCML｜tool_calls>',
  ],
  step3: [
    '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>',
    '<steptml:invoke name="add">\n<steptml:parameter name="a">7</steptml:parameter>\n<steptml:parameter name="b">日本 7</steptml:parameter>\n</steptml:invoke>',
    '<｜tool_call_end｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>',
    '<steptml:invoke name="add"><steptml:parameter name="a">seven</steptml:parameter></steptml:invoke>',
    '<｜tool_call_end｜>\n<｜tool_calls_end｜>',
  ],
  dots: [
    '<dots_function_call>',
    '<invoke name="add"><parameter name="a">7</parameter><parameter name="b">日本 7</parameter></invoke>',
    '',
    '<invoke name="add"><parameter name="a">seven</parameter></invoke>',
    '</dots_function_call>',
  ],
  iquest_q1: [
    '',
    '<iquest_tool_call>add<arg_key>a</arg_key><arg_value>7</arg_value><arg_key>b</arg_key><arg_value>日本 7</arg_value></iquest_tool_call>',
    '',
    '<iquest_tool_call>add<arg_key>a</arg_key></iquest_tool_call>',
    '',
  ],
  interns1: [
    '',
    '<|action_start|><|plugin|>\n{"name": "add", "parameters": {"a": 7, "b": "日本 7"}}<|action_end|>',
    '\n',
    '<|action_start|><|plugin|>\n{"name": "add", "parameters": {"a": 7<|action_end|>',
    '',
  ],
  k2_horizon: [
    '<ifm|tool_calls>\n',
    '<ifm|tool_call>add<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>7</ifm|arg_value><ifm|arg_key>b</ifm|arg_key><ifm|arg_value>日本 7</ifm|arg_value></ifm|tool_call>',
    '\n',
    '<ifm|tool_call>add<ifm|arg_key>a</ifm|arg_key></ifm|tool_call>',
    '\n</ifm|tool_calls>',
  ],
  seed_oss: [
    '',
    '<seed:tool_call><function=add><parameter=a>7</parameter><parameter=b>日本 7</parameter></function></seed:tool_call>',
    '',
    '<seed:tool_call><function=add><parameter=a>seven</parameter></function></seed:tool_call>',
    '',
  ],
  tool_calls: [
    '<tool_calls>\n',
    '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    '\n',
    '{"name": "add", "arguments": [7]}',
    '\n</tool_calls>',
  ],
  nemotron: [
    '<TOOLCALL>[',
    '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    ', ',
    '{"name": "add", "arguments": [7]}',
    ']</TOOLCALL>',
  ],
  command_r: [
    'Action:\n```json\n[',
    '{"tool_name": "add", "parameters": {"a": 7, "b": "日本 7"}}',
    ', ',
    '{"tool_name": "add", "parameters": [7]}',
    ']```',
  ],
  functionary_v31: ['', '<function=add>{"a": 7, "b": "日本 7"}</function>', '', '<function=add>[7]</function>', ''],
  functionary_v32: ['', '>>>add\n{"a": 7, "b": "日本 7"}', '', '>>>add\n[7]', ''],
  solar_open: [
    '<|tool_calls|>',
    '<|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>add<|tool_call:args|>{"a": 7, "b": "日本 7"}<|tool_call:end|>',
    '',
    '<|tool_call:begin|>f6g7h8i9j0<|tool_call:name|>add<|tool_call:args|>[7]<|tool_call:end|>',
    '<|calls|>',
  ],
  gemma4: [
    '',
    '<|tool_call>call:add{a:7,b:<|"|>日本 7<|"|>}<tool_call|>',
    '',
    '<|tool_call>call:add{7}<tool_call|>',
    '',
  ],
  functiongemma: [
    '',
    '<start_function_call>call:add{a:7,b:<escape>日本 7<escape>}<end_function_call>',
    '',
    '<start_function_call>call:add{7}<end_function_call>',
    '',
  ],
  granite: [
    '<|tool_call|>[',
    '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    ', ',
    '{"name": "add", "arguments": [7]}',
    ']<|/tool_call|>',
  ],
  phi4_mini: [
    'functools[',
    '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    ', ',
    '{"name": "add", "arguments": [7]}',
    ']<|/tool_call|>',
  ],
  olmo3: ['<function_calls>', 'add(a=7, b="日本 7")', '\n', 'add(7)', '</function_calls>'],
  solar_open2: [
    '',
    '<|tool_call:start|>add\n<|tool_arg:start|>a<|tool_arg:value|>7<|tool_arg:end|>\n<|tool_arg:start|>b<|tool_arg:value|>日本 7<|tool_arg:end|>\n<|tool_call:end|>',
    '\n',
    '<|tool_call:start|>add\n<|tool_arg:start|>a<|tool_call:end|>',
    '',
  ],
  longcat: [
    '',
    '<longcat_tool_call>\n{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}\n</longcat_tool_call>',
    '',
    '<longcat_tool_call>\n{"name": "add", "arguments": {"a": 7\n</longcat_tool_call>',
    '',
  ],
  hunyuan_fenced: [
    '<tool_calls>',
    '<tool_call>add\n```json\n{"a": 7, "b": "日本 7"}\n```</tool_call>',
    '\n',
    '<tool_call>add\n```json\n[7]\n```</tool_call>',
    '</tool_calls>',
  ],
  step_audio: [
    '',
    '<|CALL_START|>function\nadd\n{"a": 7, "b": "日本 7"}<|CALL_END|>',
    '',
    '<|CALL_START|>function\nadd\n[7]<|CALL_END|>',
    '',
  ],
  xlam: ['[', '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}', ', ', '{"name": "add", "arguments": [7]}', ']'],
  hyperclovax: [
    '-> tool/function_call\n[',
    '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    ', ',
    '{"name": "add", "arguments": [7]}',
    ']<|stop|>',
  ],
  zaya: [
    '',
    '<zyphra_tool_call>\n<function=add>\n<parameter=a>\n7\n</parameter>\n<parameter=b>\n日本 7\n</parameter>\n</function>\n</zyphra_tool_call>',
    '\n',
    '<zyphra_tool_call>\n<function=add>\n<parameter=a>\nseven\n</parameter>\n</function>\n</zyphra_tool_call>',
    '',
  ],
  grug: [
    '',
    '<|tool_call|>\n{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}\n<|tool_call_end|>',
    '\n',
    '<|tool_call|>\n{"name": "add", "arguments": [7]}\n<|tool_call_end|>',
    '',
  ],
  granite_20b_fc: [
    '<function_call> ',
    '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    '\n<function_call> ',
    '{"name": "add", "arguments": [7]}',
    '',
  ],
  frogboss: [
    '',
    '<function=add>\n  <parameter=a>7</parameter>\n  <parameter=b>日本 7</parameter>\n</function>',
    '\n',
    '<function=add>\n  <parameter=a>seven</parameter>\n</function>',
    '',
  ],
  falcon3: [
    '<tool_call>\n[',
    '{"name": "add", "arguments": {"a": 7, "b": "日本 7"}}',
    ', ',
    '{"name": "add", "arguments": [7]}',
    ']\n</tool_call>',
  ],
  minicpm3: ['<|tool_call_start|>\n```python\n', 'add(a=7,b="日本 7")', '\n', 'add(7)', '\n```\n<|tool_call_end|>'],
  mimo: [
    '',
    '<tool_call>\n<function=add>\n<parameter=a>7</parameter>\n<parameter=b>日本 7</parameter>\n</function>\n</tool_call>',
    '',
    '<tool_call>\n<function=add>\n<parameter=a>seven</parameter>\n</function>\n</tool_call>',
    '',
  ],
  inkling: [
    '',
    '<|content_invoke_tool_json|>{"name": "add", "args": {"a": 7, "b": "日本 7"}}<|end_message|>',
    '',
    '<|content_invoke_tool_json|>{"name": "add", "args": [7]}<|end_message|>',
    '',
  ],
  plamo3: [
    '<|plamo:begin_tool_requests:plamo|>',
    '<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>add<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"a": 7, "b": "日本 7"}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>',
    '',
    '<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>add<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>[7]<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>',
    '<|plamo:end_tool_requests:plamo|>',
  ],
}

/**
 * Chat templates that write calls as the models’ own templates do. Parsers whose models' templates are in node_modules or in models
 * need none.
 */
export const CALL_TEMPLATES: Readonly<Record<string, string>> = {
  qwen_xml: `{% for m in messages %}{% for c in m.tool_calls %}<tool_call>\\n<function={{ c.function.name }}>\\n{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>\\n{{ v if v is string else v | tojson }}\\n</parameter>\\n{% endfor %}</function>\\n</tool_call>{% endfor %}{% endfor %}`,
  glm: `{% for m in messages %}{% for c in m.tool_calls %}<tool_call>{{ c.function.name }}\\n{% for k, v in c.function.arguments.items() %}<arg_key>{{ k }}</arg_key>\\n<arg_value>{{ v if v is string else v | tojson }}</arg_value>\\n{% endfor %}</tool_call>{% endfor %}{% endfor %}`,
  kimi_k2: `{% for m in messages %}{% if m.tool_calls %}<|tool_calls_section_begin|>{% for c in m.tool_calls %}<|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>{{ c.function.arguments | tojson }}<|tool_call_end|>{% endfor %}<|tool_calls_section_end|>{% endif %}{% endfor %}`,
  llama3: `{% for m in messages %}{% for c in m.tool_calls %}<|python_tag|>{"name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson }}}<|eom_id|>{% endfor %}{% endfor %}`,
  mistral: `{% for m in messages %}{% for c in m.tool_calls %}[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}</s>`,
  deepseek_v31: `{% for m in messages %}{% if m.tool_calls %}<｜tool▁calls▁begin｜>{% for c in m.tool_calls %}<｜tool▁call▁begin｜>{{ c.function.name }}<｜tool▁sep｜>{{ c.function.arguments | tojson }}<｜tool▁call▁end｜>{% endfor %}<｜tool▁calls▁end｜>{% endif %}{% endfor %}`,
  deepseek_v32: `{% for m in messages %}{% if m.tool_calls %}<｜DSML｜function_calls>\\n{% for c in m.tool_calls %}<｜DSML｜invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<｜DSML｜parameter name="{{ k }}" string="{{ 'true' if v is string else 'false' }}">{{ v if v is string else v | tojson }}</｜DSML｜parameter>\\n{% endfor %}</｜DSML｜invoke>\\n{% endfor %}</｜DSML｜function_calls>{% endif %}{% endfor %}`,
  'gpt-oss': `{% for m in messages %}{% for c in m.tool_calls %}<|start|>assistant to=functions.{{ c.function.name }}<|channel|>commentary json<|message|>{{ c.function.arguments | tojson }}<|call|>{% endfor %}{% endfor %}`,
  pythonic: `{# <|python_start|> #}{% for m in messages %}{% if m.tool_calls %}[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){% endfor %}]{% endif %}{% endfor %}`,
  'minimax-m2': `{% for m in messages %}{% if m.tool_calls %}<minimax:tool_call>\\n{% for c in m.tool_calls %}<invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<parameter name="{{ k }}">{{ v if v is string else v | tojson }}</parameter>\\n{% endfor %}</invoke>\\n{% endfor %}</minimax:tool_call>{% endif %}{% endfor %}`,
  deepseek_v4: `{% for m in messages %}{% if m.tool_calls %}<｜DSML｜tool_calls>\\n{% for c in m.tool_calls %}<｜DSML｜invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<｜DSML｜parameter name="{{ k }}" string="{{ 'true' if v is string else 'false' }}">{{ v if v is string else v | tojson }}</｜DSML｜parameter>\\n{% endfor %}</｜DSML｜invoke>\\n{% endfor %}</｜DSML｜tool_calls>{% endif %}{% endfor %}`,
  kimi_k3: `{% for m in messages %}{% if m.tool_calls %}<|open|>tools<|sep|>{% for c in m.tool_calls %}<|open|>call tool="{{ c.function.name }}" index="{{ loop.index }}"<|sep|>{% for k, v in c.function.arguments.items() %}<|open|>argument key="{{ k }}" type="{{ 'string' if v is string else 'number' if v is number else 'array' }}"<|sep|>{{ v if v is string else v | tojson }}<|close|>argument<|sep|>{% endfor %}<|close|>call<|sep|>{% endfor %}<|close|>tools<|sep|>{% endif %}{% endfor %}`,
  lfm2: `{% for m in messages %}{% if m.tool_calls %}<|tool_call_start|>[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){% endfor %}]<|tool_call_end|>{% endif %}{% endfor %}`,
  cohere_command4: `{% for m in messages %}{% if m.tool_calls %}<|START_ACTION|>[{% for c in m.tool_calls %}\\n    {"tool_call_id": "0", "tool_name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson }}}{% endfor %}\\n]<|END_ACTION|>{% endif %}{% endfor %}`,
  apertus2509: `{% for m in messages %}{% if m.tool_calls %}<|tools_prefix|>[{% for c in m.tool_calls %}{"{{ c.function.name }}": {{ c.function.arguments | tojson }}}{% endfor %}]<|tools_suffix|>{% endif %}{% endfor %}`,
  muse: `{% for m in messages %}{% for c in m.tool_calls %}<|start|>assistant to={{ c.function.name }}<|message|><atem:function_calls>\\n<atem:invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<atem:parameter name="{{ k }}">{{ v if v is string else v | tojson }}</atem:parameter>\\n{% endfor %}</atem:invoke>\\n</atem:function_calls><|eom|>{% endfor %}{% endfor %}`,
  gigachat3: `{% for m in messages %}{{ m.role }}<|role_sep|>\\n{{ m.content }}{% for c in m.tool_calls %}<|function_call|>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{% endfor %}<|message_sep|>\\n\\n{% endfor %}`,
  hunyuan: `{% for m in messages %}{% if m.tool_calls %}<tool_calls:opensource>\\n{% for c in m.tool_calls %}<tool_call:opensource>{{ c.function.name }}<tool_sep:opensource>\\n{% for k, v in c.function.arguments.items() %}<arg_key:opensource>{{ k }}</arg_key:opensource>\\n<arg_value:opensource>{{ v if v is string else v | tojson }}</arg_value:opensource>\\n{% endfor %}</tool_call:opensource>\\n{% endfor %}</tool_calls:opensource>{% endif %}{% endfor %}`,
  'minimax-m3': `{% macro written(v) %}{% if v is string or v is number %}{{ v }}{% else %}{% for w in v %}]<]minimax[>[<item>{{ written(w) }}]<]minimax[>[</item>{% endfor %}{% endif %}{% endmacro %}{% for m in messages %}{% if m.tool_calls %}]<]minimax[>[<tool_call>\\n{% for c in m.tool_calls %}]<]minimax[>[<invoke name="{{ c.function.name }}">{% for k, v in c.function.arguments.items() %}]<]minimax[>[<{{ k }}>{{ written(v) }}]<]minimax[>[</{{ k }}>{% endfor %}]<]minimax[>[</invoke>\\n{% endfor %}]<]minimax[>[</tool_call>{% endif %}{% endfor %}`,
  minicpm5: `{% for m in messages %}{% for c in m.tool_calls %}<function name="{{ c.function.name }}">{% for k, v in c.function.arguments.items() %}<param name="{{ k }}">{{ v if v is string else v | tojson }}</param>{% endfor %}</function>{% endfor %}{% endfor %}`,
  seed_oss: `{% for m in messages %}{% for c in m.tool_calls %}<seed:tool_call>\\n<function={{ c.function.name }}>\\n{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>{{ v if v is string else v | tojson }}</parameter>\\n{% endfor %}</function>\\n</seed:tool_call>{% endfor %}{% endfor %}`,
  tool_calls: `{% for m in messages %}{% if m.tool_calls %}<tool_calls>\\n{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\\n{% endfor %}</tool_calls>{% endif %}{% endfor %}`,
  command_r: `<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{% for m in messages %}{% if m.tool_calls %}Action:\\n\`\`\`json\\n[{% for c in m.tool_calls %}{"tool_name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson(indent=4) }}}{{ ',\\n' if not loop.last }}{% endfor %}\\n]\`\`\`\\n{% endif %}{% endfor %}`,
  functionary_v31: `<{start_tag}={function_name}>{parameters}{end_tag}{% for m in messages %}{% for c in m.tool_calls %}<function={{ c.function.name }}>{{ c.function.arguments | tojson }}</function>{% endfor %}{% endfor %}`,
  functionary_v32: `{% for m in messages %}{% if m.content %}>>>all\\n{{ m.content }}{% endif %}{% for c in m.tool_calls %}>>>{{ c.function.name }}\\n{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}`,
  solar_open: `{% for m in messages %}{% if m.tool_calls %}<|begin|>assistant<|tool_calls|>{% for c in m.tool_calls %}<|tool_call:begin|>{{ c.id }}<|tool_call:name|>{{ c.function.name }}<|tool_call:args|>{{ c.function.arguments | tojson }}<|tool_call:end|>{% endfor %}<|calls|>{% endif %}{% endfor %}`,
  nemotron: `{% for m in messages %}{% if m.tool_calls %}<TOOLCALL>[{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{{ ', ' if not loop.last }}{% endfor %}]</TOOLCALL>{% endif %}{% endfor %}`,
  deepseek_v41: `{% for m in messages %}{% if m.tool_calls %}<｜DSML｜ calls>\\n{% for c in m.tool_calls %}<｜DSML｜ invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<｜DSML｜ parameter name="{{ k }}" string="{{ 'true' if v is string else 'false' }}">{{ v if v is string else v | tojson }}</｜DSML｜ parameter>\\n{% endfor %}</｜DSML｜ invoke>\\n{% endfor %}</｜DSML｜ calls>{% endif %}{% endfor %}`,
  gigachat35: `{% for m in messages %}{% if m.tool_calls %}<｜GCML｜tool_calls>\\n{% for c in m.tool_calls %}<｜GCML｜invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<｜GCML｜parameter name="{{ k }}" string="{{ 'true' if v is string else 'false' }}">{{ v if v is string else v | tojson }}</｜GCML｜parameter>\\n{% endfor %}</｜GCML｜invoke>\\n{% endfor %}</｜GCML｜tool_calls>{% endif %}{% endfor %}<|message_sep|>`,
  step3: `{% for m in messages %}{% if m.tool_calls %}<｜tool_calls_begin｜>\\n{% for c in m.tool_calls %}<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<steptml:parameter name="{{ k }}">{{ v if v is string else v | tojson }}</steptml:parameter>\\n{% endfor %}</steptml:invoke><｜tool_call_end｜>\\n{% endfor %}<｜tool_calls_end｜>{% endif %}{% endfor %}`,
  dots: `{% for m in messages %}{% if m.tool_calls %}<dots_function_call>\\n{% for c in m.tool_calls %}<invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<parameter name="{{ k }}">{{ v if v is string else v | tojson }}</parameter>\\n{% endfor %}</invoke>\\n{% endfor %}</dots_function_call>{% endif %}{% endfor %}`,
  iquest_q1: `{% for m in messages %}{% for c in m.tool_calls %}<iquest_tool_call>{{ c.function.name }}{% for k, v in c.function.arguments.items() %}<arg_key>{{ k }}</arg_key><arg_value>{{ v if v is string else v | tojson }}</arg_value>{% endfor %}</iquest_tool_call>{% endfor %}{% endfor %}`,
  interns1: `{% for m in messages %}{% for c in m.tool_calls %}<|action_start|><|plugin|>\\n{"name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson }}}<|action_end|>{% endfor %}{% endfor %}`,
  k2_horizon: `{% for m in messages %}{% if m.tool_calls %}<ifm|tool_calls>\\n{% for c in m.tool_calls %}<ifm|tool_call>{{ c.function.name }}{% for k, v in c.function.arguments.items() %}<ifm|arg_key>{{ k }}</ifm|arg_key><ifm|arg_value>{{ v if v is string else v | tojson }}</ifm|arg_value>{% endfor %}</ifm|tool_call>\\n{% endfor %}</ifm|tool_calls>{% endif %}{% endfor %}`,
  functiongemma: `{% macro written(v) %}{% if v is string %}<escape>{{ v }}<escape>{% elif v is mapping %}{{ '{' }}{% for k, w in v.items() %}{{ k }}:{{ written(w) }}{{ ',' if not loop.last }}{% endfor %}{{ '}' }}{% elif v is sequence %}[{% for w in v %}{{ written(w) }}{{ ',' if not loop.last }}{% endfor %}]{% else %}{{ v }}{% endif %}{% endmacro %}{% for m in messages %}{% for c in m.tool_calls %}<start_function_call>call:{{ c.function.name }}{{ written(c.function.arguments) }}<end_function_call>{% endfor %}{% endfor %}`,
  granite: `{% for m in messages %}{% if m.tool_calls %}<|tool_call|>{{ m.tool_calls | map(attribute='function') | list | tojson(indent=4) }}{% endif %}{% endfor %}`,
  phi4_mini: `{# functools[ #}{% for m in messages %}{% if m.tool_calls %}functools{{ m.tool_calls | map(attribute='function') | list | tojson }}{% endif %}{% endfor %}`,
  olmo3: `{% for m in messages %}{% if m.tool_calls %}<function_calls>{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){{ '\\n' if not loop.last }}{% endfor %}</function_calls>{% endif %}{% endfor %}`,
  solar_open2: `{% for m in messages %}{% for c in m.tool_calls %}<|tool_call:start|>{{ c.function.name }}\\n{% for k, v in c.function.arguments.items() %}<|tool_arg:start|>{{ k }}<|tool_arg:value|>{{ v if v is string else v | tojson }}<|tool_arg:end|>\\n{% endfor %}<|tool_call:end|>{% endfor %}{% endfor %}`,
  hunyuan_fenced: `{% for m in messages %}{% if m.tool_calls %}{% for c in m.tool_calls %}{{ '<tool_calls><tool_call>' if loop.first else '\\n<tool_call>' }}{{ c.function.name }}\\n\`\`\`json\\n{{ c.function.arguments | tojson }}\\n\`\`\`</tool_call>{% endfor %}</tool_calls>{% endif %}{% endfor %}`,
  step_audio: `{% for m in messages %}{% for c in m.tool_calls %}<|CALL_START|>function\\n{{ c.function.name }}\\n{{ c.function.arguments | tojson }}<|CALL_END|>{% endfor %}{% endfor %}`,
  xlam: `{# make calls in a single JSON array #}{% for m in messages %}{% if m.tool_calls %}[{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{{ ', ' if not loop.last }}{% endfor %}]{% endif %}{% endfor %}`,
  hyperclovax: `{% for m in messages %}<|im_start|>{{ m.role }}{% if m.tool_calls %} -> tool/function_call\\n[{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{{ ', ' if not loop.last }}{% endfor %}]<|im_end|>{% endif %}{% endfor %}`,
  zaya: `{% for m in messages %}{% for c in m.tool_calls %}<zyphra_tool_call>\\n<function={{ c.function.name }}>\\n{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>\\n{{ v if v is string else v | tojson }}\\n</parameter>\\n{% endfor %}</function>\\n</zyphra_tool_call>{% endfor %}{% endfor %}`,
  grug: `{% for m in messages %}{% for c in m.tool_calls %}\\n<|tool_call|>\\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\\n<|tool_call_end|>{% endfor %}{% endfor %}`,
  granite_20b_fc: `{% for m in messages %}{% for c in m.tool_calls %}<function_call> {"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\\n{% endfor %}{% endfor %}`,
  frogboss: `{# For each function call, use this XML format #}{% for m in messages %}{% for c in m.tool_calls %}<function={{ c.function.name }}>\\n{% for k, v in c.function.arguments.items() %}  <parameter={{ k }}>{{ v if v is string else v | tojson }}</parameter>\\n{% endfor %}</function>{% endfor %}{% endfor %}`,
  falcon3: `{# JSON object inside <tool_call></tool_call> #}{% for m in messages %}{% if m.tool_calls %}<tool_call>\\n{{ m.tool_calls | tojson(indent=2) }}\\n</tool_call>{% endif %}{% endfor %}`,
  minicpm3: `{% for m in messages %}{% if m.tool_calls %}<|tool_call_start|>\\n\`\`\`python\\n{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ',' if not loop.last }}{% endfor %})\\n{% endfor %}\`\`\`\\n<|tool_call_end|>\\n{% endif %}{% endfor %}`,
  mimo: `{# <parameter=example_parameter_1>value_1</parameter> #}{% for m in messages %}{% for c in m.tool_calls %}<tool_call>\\n<function={{ c.function.name }}>\\n{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>{{ v if v is string else v | tojson }}</parameter>\\n{% endfor %}</function>\\n</tool_call>{% endfor %}{% endfor %}`,
  inkling: `{% for m in messages %}{% for c in m.tool_calls %}<|message_model|>{{ c.function.name }}<|content_invoke_tool_json|>{"name": "{{ c.function.name }}", "args": {{ c.function.arguments | tojson }}}<|end_message|>{% endfor %}{% endfor %}`,
  plamo3: `{% for m in messages %}{% if m.tool_calls %}<|plamo:begin_tool_requests:plamo|>{% for c in m.tool_calls %}<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{{ c.function.name }}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{{ c.function.arguments | tojson }}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>{% endfor %}<|plamo:end_tool_requests:plamo|>{% endif %}{% endfor %}`,
  longcat: `{% for m in messages %}{% for c in m.tool_calls %}<longcat_tool_call>\\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\\n</longcat_tool_call>{% endfor %}{% endfor %}`,
  gemma4: `{% macro written(v) %}{% if v is string %}<|"|>{{ v }}<|"|>{% elif v is mapping %}{{ '{' }}{% for k, w in v.items() %}{{ k }}:{{ written(w) }}{{ ',' if not loop.last }}{% endfor %}{{ '}' }}{% elif v is sequence %}[{% for w in v %}{{ written(w) }}{{ ',' if not loop.last }}{% endfor %}]{% else %}{{ v }}{% endif %}{% endmacro %}{% for m in messages %}{% for c in m.tool_calls %}<|tool_call>call:{{ c.function.name }}{{ written(c.function.arguments) }}<tool_call|>{% endfor %}{% endfor %}`,
}
