import { apertus2509 } from './apertus2509.ts'
import { cohereCommand4, commandR } from './cohere-command4.ts'
import { deepseekV3 } from './deepseek-v3.ts'
import { deepseekV31 } from './deepseek-v31.ts'
import { deepseekV4, deepseekV32 } from './deepseek-v32.ts'
import { functionaryV31 } from './functionary-v31.ts'
import { functionaryV32 } from './functionary-v32.ts'
import { gemma4 } from './gemma4.ts'
import { gigachat3 } from './gigachat3.ts'
import { glm } from './glm.ts'
import { gptOss } from './gpt-oss.ts'
import { hermes } from './hermes.ts'
import { hunyuan } from './hunyuan.ts'
import { kimiK2 } from './kimi-k2.ts'
import { kimiK3 } from './kimi-k3.ts'
import { lfm2 } from './lfm2.ts'
import { llama3 } from './llama3.ts'
import { minicpm5 } from './minicpm5.ts'
import { minimaxM2 } from './minimax-m2.ts'
import { minimaxM3 } from './minimax-m3.ts'
import { mistral } from './mistral.ts'
import { muse } from './muse.ts'
import { nemotron, toolCalls } from './named-lists.ts'
import type { ToolParser } from './parser.ts'
import { pythonic } from './pythonic.ts'
import { qwenXml, seedOss } from './qwen-xml.ts'
import { solarOpen } from './solar-open.ts'

/** Every tool-call parser, by the name that files and settings use. */
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
  seedOss,
  toolCalls,
  nemotron,
  commandR,
  functionaryV31,
  functionaryV32,
  solarOpen,
]

/** Of a run for which neither its request, its server nor its template tells one. */
export const DEFAULT_PARSER = 'hermes'

export const parserNames: readonly string[] = parsers.map(({ name }) => name)

export const parserNamed = (name: string): ToolParser | undefined => parsers.find((parser) => parser.name === name)

/** Names that SGLang has for these formats; it has none for those that are not here (`--tool-call-parser`, 0.5.23); the server reports qwen25 as qwen. */
const SGLANG_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    hermes: ['hermes', 'qwen', 'qwen25'],
    qwen_xml: ['qwen3_coder', 'step3p5', 'nanbeige', 'mimo'],
    glm: ['glm45', 'glm', 'glm47', 'ling3', 'poolside_v1', 'spark25'],
    kimi_k2: ['kimi_k2'],
    llama3: ['llama3'],
    mistral: ['mistral'],
    deepseek_v3: ['deepseekv3'],
    deepseek_v31: ['deepseekv31'],
    deepseek_v32: ['deepseekv32'],
    'gpt-oss': ['gpt-oss'],
    pythonic: ['pythonic'],
    gemma4: ['gemma4'],
    'minimax-m2': ['minimax-m2'],
    deepseek_v4: ['deepseekv4'],
    kimi_k3: ['kimi_k3'],
    lfm2: ['lfm2'],
    cohere_command4: ['cohere_command4'],
    apertus2509: ['apertus2509'],
    muse: ['muse'],
    gigachat3: ['gigachat3'],
    hunyuan: ['hunyuan'],
    'minimax-m3': ['minimax-m3'],
    minicpm5: ['minicpm5'],
  }).flatMap(([own, theirs]) => theirs.map((name) => [name, own] as const)),
)

/** The same the other way round: what to ask a server for that names no parser itself. */
export const serverParserFor = (parser: string): string | undefined =>
  [...SGLANG_NAMES].find(([, own]) => own === parser)?.[0]

/** Our name for a server's parser; undefined where the server names none, or one of another format. */
export const parserOfServer = (toolCallParser: string | undefined): string | undefined =>
  SGLANG_NAMES.get(toolCallParser ?? '')
