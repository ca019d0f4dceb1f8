import { apertus2509 } from './json/apertus2509.ts'
import { cohereCommand4, commandR } from './json/cohere-command4.ts'
import { deepseekV3, deepseekV31 } from './json/deepseek.ts'
import { functionaryV31, functionaryV32 } from './json/functionary.ts'
import { gigachat3 } from './json/gigachat3.ts'
import { gptOss } from './json/gpt-oss.ts'
import { grug, hermes, interns1 } from './json/hermes.ts'
import { inkling } from './json/inkling.ts'
import { kimiK2 } from './json/kimi-k2.ts'
import { llama3 } from './json/llama3.ts'
import { mistral } from './json/mistral.ts'
import { plamo3 } from './json/plamo3.ts'
import { solarOpen } from './json/solar-open.ts'
import { glm, iquestQ1 } from './keyed/glm.ts'
import { hunyuan } from './keyed/hunyuan.ts'
import { hunyuanFenced } from './keyed/hunyuan-fenced.ts'
import { k2Horizon } from './keyed/k2-horizon.ts'
import { longcat } from './keyed/longcat.ts'
import { solarOpen2 } from './keyed/solar-open2.ts'
import type { ToolParser } from './parser.ts'
import { lfm2 } from './python/lfm2.ts'
import { minicpm3, olmo3 } from './python/olmo3.ts'
import { pythonic } from './python/pythonic.ts'
import {
  falcon3,
  granite,
  granite20b,
  hyperclovax,
  nemotron,
  phi4Mini,
  toolCalls,
  xlam,
} from './reading/named-lists.ts'
import { deepseekV4, deepseekV32, deepseekV41, gigachat35 } from './tags/deepseek-v32.ts'
import { functionGemma, gemma4 } from './tags/gemma4.ts'
import { kimiK3 } from './tags/kimi-k3.ts'
import { minicpm5 } from './tags/minicpm5.ts'
import { dots, minimaxM2 } from './tags/minimax-m2.ts'
import { minimaxM3 } from './tags/minimax-m3.ts'
import { muse } from './tags/muse.ts'
import { frogboss, mimo, qwenXml, seedOss, zaya } from './tags/qwen-xml.ts'
import { stepAudio } from './tags/step-audio.ts'
import { step3 } from './tags/step3.ts'

/** All tool-call parsers, by the names that files and settings use. */
export const parsers: readonly ToolParser[] = [
  hermes,
  qwenXml,
  glm,
  kimiK2,
  llama3,
  mistral,
  deepseekV3,
  deepseekV31,
  deepseekV32,
  gptOss,
  pythonic,
  gemma4,
  minimaxM2,
  deepseekV4,
  kimiK3,
  lfm2,
  cohereCommand4,
  apertus2509,
  muse,
  gigachat3,
  hunyuan,
  minimaxM3,
  minicpm5,
  deepseekV41,
  gigachat35,
  step3,
  dots,
  iquestQ1,
  interns1,
  k2Horizon,
  seedOss,
  toolCalls,
  nemotron,
  commandR,
  functionaryV31,
  functionaryV32,
  solarOpen,
  functionGemma,
  granite,
  phi4Mini,
  longcat,
  olmo3,
  solarOpen2,
  hunyuanFenced,
  stepAudio,
  xlam,
  hyperclovax,
  zaya,
  grug,
  granite20b,
  frogboss,
  falcon3,
  minicpm3,
  mimo,
  inkling,
  plamo3,
]

/** Parser of a run whose request, server and template name none. */
export const DEFAULT_PARSER = 'hermes'

/** Names of all parsers. */
export const parserNames: readonly string[] = parsers.map(({ name }) => name)

/** Returns the parser with a name. */
export const parserNamed = (name: string): ToolParser | undefined => parsers.find((parser) => parser.name === name)

/** Returns SGLang's name of a parser, for a server that names no parser itself; undefined if SGLang has none. */
export const serverParserFor = (parser: string): string | undefined => parserNamed(parser)?.sglangNames?.[0]

/**
 * Returns our name of a server's parser; undefined if the server names none, or one of another format. The server reports qwen25 as qwen.
 */
export const parserOfServer = (toolCallParser: string | undefined): string | undefined =>
  parsers.find(({ sglangNames = [] }) => sglangNames.some((name) => name === toolCallParser))?.name

/** Texts by which the chat templates of a format are recognized. */
export interface TemplateMarks {
  readonly parser: string
  /** A template of this format contains all of them. The first is named in the reason. */
  readonly marks: readonly [string, ...string[]]
}

/** Marks of the chat templates of each format. The first match counts, so that marks that other formats share come last. */
export const TEMPLATE_MARKS: readonly TemplateMarks[] = [
  // Some templates have the mark of both in a variable. The section distinguishes them.
  { parser: 'deepseek_v41', marks: ['｜DSML｜', ' calls>'] },
  { parser: 'deepseek_v4', marks: ['｜DSML｜', 'tool_calls>'] },
  { parser: 'deepseek_v32', marks: ['｜DSML｜', 'function_calls>'] },
  // The template of Hunyuan MT 2 names DeepSeek’s tags too, and writes none of them.
  { parser: 'hunyuan', marks: ['<tool_sep>', '<arg_key>'] },
  { parser: 'deepseek_v3', marks: ['<｜tool▁sep｜>', '```json'] },
  { parser: 'deepseek_v31', marks: ['<｜tool▁sep｜>'] },
  { parser: 'minimax-m2', marks: ['<minimax:tool_call>'] },
  { parser: 'minimax-m3', marks: [']<]minimax[>['] },
  { parser: 'minicpm5', marks: ['<param name='] },
  { parser: 'minicpm3', marks: ['<|tool_call_start|>', '```python'] },
  { parser: 'lfm2', marks: ['<|tool_call_start|>'] },
  { parser: 'cohere_command4', marks: ['<|START_ACTION|>'] },
  { parser: 'apertus2509', marks: ['<|tools_prefix|>'] },
  { parser: 'muse', marks: ['<atem:function_calls>'] },
  { parser: 'gigachat35', marks: ['｜GCML｜'] },
  { parser: 'gigachat3', marks: ['<|function_call|>'] },
  { parser: 'gigachat3', marks: ['<|role_sep|>'] },
  { parser: 'hunyuan', marks: ['<tool_sep:opensource>'] },
  // The template joins names and suffix.
  { parser: 'hunyuan', marks: ['<tool_sep', ':opensource'] },
  { parser: 'gemma4', marks: ['<|tool_call>'] },
  { parser: 'functiongemma', marks: ['<start_function_call>'] },
  { parser: 'step3', marks: ['<｜tool_calls_begin｜>'] },
  { parser: 'dots', marks: ['<dots_function_call>'] },
  { parser: 'k2_horizon', marks: ['<ifm|tool_call>'] },
  { parser: 'iquest_q1', marks: ['<iquest_tool_call>'] },
  { parser: 'longcat', marks: ['<longcat_tool_call>'] },
  { parser: 'interns1', marks: ['<|action_start|>', '<|plugin|>'] },
  { parser: 'grug', marks: ['<|tool_call|>', '<|tool_call_end|>'] },
  { parser: 'granite', marks: ['<|tool_call|>'] },
  { parser: 'kimi_k2', marks: ['<|tool_call_begin|>'] },
  { parser: 'kimi_k3', marks: ['<|open|>', '<|sep|>'] },
  { parser: 'gpt-oss', marks: ['<|channel|>', '<|message|>'] },
  { parser: 'inkling', marks: ['<|content_invoke_tool_json|>'] },
  { parser: 'plamo3', marks: ['<|plamo:begin_tool_request'] },
  { parser: 'mistral', marks: ['[TOOL_CALLS]'] },
  { parser: 'zaya', marks: ['<zyphra_tool_call>'] },
  { parser: 'seed_oss', marks: ['<seed:tool_call>'] },
  { parser: 'nemotron', marks: ['<TOOLCALL>'] },
  { parser: 'solar_open', marks: ['<|tool_call:begin|>'] },
  { parser: 'step_audio', marks: ['<|CALL_START|>'] },
  { parser: 'hyperclovax', marks: ['-> tool/function_call'] },
  { parser: 'solar_open2', marks: ['<|tool_arg:start|>'] },
  // The template requests this format, and composes the tag of its parts.
  { parser: 'functionary_v31', marks: ['<{start_tag}='] },
  { parser: 'functionary_v32', marks: ['>>>all'] },
  { parser: 'command_r', marks: ['Action:', '```json', '<|CHATBOT_TOKEN|>'] },
  { parser: 'olmo3', marks: ['<function_calls>'] },
  { parser: 'hunyuan_fenced', marks: ['<tool_calls><tool_call>', '```json'] },
  // Step 3 VL writes Hermes’ calls in a section.
  { parser: 'hermes', marks: ['<tool_call>\\n{', '<tool_calls>'] },
  { parser: 'tool_calls', marks: ['<tool_calls>'] },
  { parser: 'glm', marks: ['<arg_key>'] },
  { parser: 'frogboss', marks: ['For each function call, use this XML format'] },
  { parser: 'mimo', marks: ['<parameter=example_parameter_1>value_1</parameter>'] },
  { parser: 'qwen_xml', marks: ['<function='] },
  { parser: 'falcon3', marks: ['JSON object inside <tool_call></tool_call>'] },
  { parser: 'hermes', marks: ['<tool_call>'] },
  { parser: 'llama3', marks: ['<|python_tag|>'] },
  { parser: 'llama3', marks: ['"parameters": ', '<|start_header_id|>'] },
  { parser: 'pythonic', marks: ['[func_name1('] },
  { parser: 'llama3', marks: ['"parameters": ', '<|header_start|>'] },
  { parser: 'pythonic', marks: ['<|python_start|>'] },
  { parser: 'granite_20b_fc', marks: ['<function_call> '] },
  { parser: 'phi4_mini', marks: ['functools['] },
  { parser: 'xlam', marks: ['make calls in a single JSON array'] },
]
