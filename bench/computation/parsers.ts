/**
 * Compares the time of each parser for a megabyte of hostile text with that for a megabyte of well-formed calls: `node
 * bench/computation/parsers.ts`. The limit of the ratio is 3. A text that is slow at first is measured several times and the median counts,
 * so that only the machine's noise differs.
 */
import { parsers } from '#lib/parsers/registry.ts'
import { ADVERSARIAL } from '#lib/parsers/test-texts.ts'
import { median, reportFigure } from '../support/figures.ts'

const LENGTH = 1_000_000
const RUNS = 5
const LIMIT = 3
/** A text that is faster than this at first is not measured again, because there are hundreds for each parser. */
const NOTED = 1

/** The shortest calls, with and without an argument, so that a megabyte has as many as possible. */
const WELL_FORMED: Readonly<Record<string, string>> = {
  hermes: '<tool_call>{"name":"f"}</tool_call><tool_call>{"name":"f","arguments":{"a":1}}</tool_call>',
  qwen_xml:
    '<tool_call><function=f></function></tool_call><tool_call><function=f><parameter=a>1</parameter></function></tool_call>',
  glm: '<tool_call>f</tool_call><tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>',
  kimi_k2:
    '<|tool_calls_section_begin|><|tool_call_begin|>f<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_begin|>f<|tool_call_argument_begin|>{"a":1}<|tool_call_end|><|tool_calls_section_end|>',
  llama3: '<|python_tag|>{"name":"f"};{"name":"f","parameters":{"a":1}}',
  mistral: '[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS] [{"name":"f","arguments":{"a":1}}]',
  deepseek_v3:
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a":1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  deepseek_v31:
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a":1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  deepseek_v32:
    '<｜DSML｜function_calls><｜DSML｜invoke name="f"/><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
  'gpt-oss':
    '<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{"a":1}<|call|>',
  pythonic: '[f(),f(a=1)]\n',
  'minimax-m2':
    '<minimax:tool_call><invoke name="f"></invoke><invoke name="f"><parameter name="a">1</parameter></invoke></minimax:tool_call>',
  deepseek_v4:
    '<｜DSML｜tool_calls><｜DSML｜invoke name="f"/><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>',
  kimi_k3:
    '<|open|>tools<|sep|><|open|>call tool="f"<|sep|><|close|>call<|sep|><|open|>call tool="f"<|sep|><|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
  lfm2: '<|tool_call_start|>[f(),f(a=1)]<|tool_call_end|>',
  cohere_command4:
    '<|START_ACTION|>[{"tool_name":"f","parameters":{}},{"tool_name":"f","parameters":{"a":1}}]<|END_ACTION|>',
  apertus2509: '<|tools_prefix|>[{"f":{}},{"f":{"a":1}}]<|tools_suffix|>',
  muse: '<atem:function_calls><atem:invoke name="f"></atem:invoke><atem:invoke name="f"><atem:parameter name="a">1</atem:parameter></atem:invoke></atem:function_calls>',
  gigachat3: '<|function_call|>{"name":"f"}<|function_call|>{"name":"f","arguments":{"a":1}}',
  hunyuan:
    '<tool_calls:opensource><tool_call:opensource>f</tool_call:opensource><tool_call:opensource>f<arg_key:opensource>a</arg_key:opensource><arg_value:opensource>1</arg_value:opensource></tool_call:opensource></tool_calls:opensource>',
  'minimax-m3':
    ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[</invoke>]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>',
  deepseek_v41:
    '<｜DSML｜ calls><｜DSML｜ invoke name="f"></｜DSML｜ invoke><｜DSML｜ invoke name="f"><｜DSML｜ parameter name="a" string="false">1</｜DSML｜ parameter></｜DSML｜ invoke></｜DSML｜ calls>',
  gigachat35:
    '<｜GCML｜tool_calls><｜GCML｜invoke name="f"></｜GCML｜invoke><｜GCML｜invoke name="f"><｜GCML｜parameter name="a" string="false">1</｜GCML｜parameter></｜GCML｜invoke></｜GCML｜tool_calls>',
  step3:
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f"></steptml:invoke><｜tool_call_end｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f"><steptml:parameter name="a">1</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
  dots: '<dots_function_call><invoke name="f"></invoke><invoke name="f"><parameter name="a">1</parameter></invoke></dots_function_call>',
  iquest_q1:
    '<iquest_tool_call>f</iquest_tool_call><iquest_tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></iquest_tool_call>',
  k2_horizon:
    '<ifm|tool_calls><ifm|tool_call>f</ifm|tool_call><ifm|tool_call>f<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>1</ifm|arg_value></ifm|tool_call></ifm|tool_calls>',
  interns1:
    '<|action_start|><|plugin|>{"name":"f"}<|action_end|><|action_start|><|plugin|>{"name":"f","parameters":{"a":1}}<|action_end|>',
  seed_oss:
    '<seed:tool_call><function=f></function></seed:tool_call><seed:tool_call><function=f><parameter=a>1</parameter></function></seed:tool_call>',
  tool_calls: '<tool_calls>[{"name":"f"},{"name":"f","arguments":{"a":1}}]</tool_calls>',
  nemotron: '<TOOLCALL>[{"name":"f"},{"name":"f","arguments":{"a":1}}]</TOOLCALL>',
  command_r: 'Action:```json[{"tool_name":"f"},{"tool_name":"f","parameters":{"a":1}}]```',
  functionary_v31: '<function=f>{}</function><function=f>{"a":1}</function>',
  functionary_v32: '>>>f\n{}>>>f\n{"a":1}',
  solar_open:
    '<|tool_calls|><|tool_call:begin|>a<|tool_call:name|>f<|tool_call:args|>{}<|tool_call:end|><|tool_call:begin|>a<|tool_call:name|>f<|tool_call:args|>{"a":1}<|tool_call:end|><|calls|>',
  minicpm5: '<function name="f"></function><function name="f"><param name="a">1</param></function>',
  functiongemma: '<start_function_call>call:f{}<end_function_call><start_function_call>call:f{a:1}<end_function_call>',
  solar_open2:
    '<|tool_call:start|>f<|tool_call:end|><|tool_call:start|>f<|tool_arg:start|>a<|tool_arg:value|>1<|tool_arg:end|><|tool_call:end|>',
  hunyuan_fenced:
    '<tool_calls><tool_call>f\n```json\n{}\n```</tool_call><tool_call>f\n```json\n{"a":1}\n```</tool_call></tool_calls>',
  step_audio: '<|CALL_START|>function\nf\n{}<|CALL_END|><|CALL_START|>function\nf\n{"a":1}<|CALL_END|>',
  xlam: '[{"name":"f","arguments":{}},{"name":"f","arguments":{"a":1}}]',
  hyperclovax: '-> tool/function_call\n[{"name":"f"},{"name":"f","arguments":{"a":1}}]',
  zaya: '<zyphra_tool_call><function=f></function></zyphra_tool_call><zyphra_tool_call><function=f><parameter=a>1</parameter></function></zyphra_tool_call>',
  grug: '<|tool_call|>{"name":"f"}<|tool_call_end|><|tool_call|>{"name":"f","arguments":{"a":1}}<|tool_call_end|>',
  granite_20b_fc: '<function_call> {"name":"f"}\n<function_call> {"name":"f","arguments":{"a":1}}',
  frogboss: '<function=f></function><function=f><parameter=a>1</parameter></function>',
  falcon3: '<tool_call>[{"name":"f"},{"name":"f","arguments":{"a":1}}]</tool_call>',
  minicpm3: '<|tool_call_start|>\n```python\nf()\nf(a=1)\n```\n<|tool_call_end|>',
  mimo: '<tool_call><function=f></function></tool_call><tool_call><function=f><parameter=a>1</parameter></function></tool_call>',
  inkling:
    '<|content_invoke_tool_json|>{"name":"f"}<|end_message|><|content_invoke_tool_json|>{"name":"f","args":{"a":1}}<|end_message|>',
  plamo3:
    '<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"a":1}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>',
  olmo3: '<function_calls>f()\nf(a=1)</function_calls>',
  granite: '<|tool_call|>[{"name":"f"},{"name":"f","arguments":{"a":1}}]',
  phi4_mini: 'functools[{"name":"f"},{"name":"f","arguments":{"a":1}}]',
  longcat:
    '<longcat_tool_call>{"name":"f"}</longcat_tool_call><longcat_tool_call>{"name":"f","arguments":{"a":1}}</longcat_tool_call>',
  gemma4: '<|tool_call>call:f{}<tool_call|><|tool_call>call:f{a:1}<tool_call|>',
}

const megabyte = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH)

/**
 * Returns the processor time of this thread in milliseconds, which is less affected by other work on the machine than the
 * clock.
 */
function milliseconds(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

for (const { name, parse } of parsers) {
  const plain = megabyte(WELL_FORMED[name] ?? '')
  const calls = parse(plain, [], []).filter(({ kind }) => kind === 'parsed').length
  const rows = ADVERSARIAL.map((unit) => {
    const text = megabyte(unit)
    const measured = (runs: number) => {
      // The two texts alternate, so that they have the same conditions.
      const pairs = Array.from({ length: runs }, () =>
        [plain, text].map((one) => milliseconds(() => parse(one, [], []))),
      )
      const [base = 0, slow = 0] = [0, 1].map((side) => median(pairs.map((pair) => pair[side] as number)))
      return { unit, base, ratio: slow / base }
    }
    const first = measured(1)
    return first.ratio < NOTED ? first : measured(RUNS)
  }).sort((a, b) => b.ratio - a.ratio)
  console.log(
    `\n${name}: 1 MB with ${calls} well-formed calls takes ${median(rows.map(({ base }) => base)).toFixed(1)} ms`,
  )
  for (const { unit, ratio } of rows) console.log(`${ratio.toFixed(2).padStart(8)} × ${JSON.stringify(unit)}`)
  reportFigure(`${name}: the slowest hostile text beside calls`, rows[0]?.ratio ?? Infinity, '×', LIMIT)
}
