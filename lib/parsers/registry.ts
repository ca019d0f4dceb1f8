import { apertus2509 } from './json/apertus2509.ts'
import { cohereCommand4, commandR } from './json/cohere-command4.ts'
import { deepseekV3 } from './json/deepseek-v3.ts'
import { deepseekV31 } from './json/deepseek-v31.ts'
import { functionaryV31 } from './json/functionary-v31.ts'
import { functionaryV32 } from './json/functionary-v32.ts'
import { gigachat3 } from './json/gigachat3.ts'
import { gptOss } from './json/gpt-oss.ts'
import { hermes } from './json/hermes.ts'
import { kimiK2 } from './json/kimi-k2.ts'
import { llama3 } from './json/llama3.ts'
import { mistral } from './json/mistral.ts'
import { solarOpen } from './json/solar-open.ts'
import type { ToolParser } from './parser.ts'
import { lfm2 } from './python/lfm2.ts'
import { pythonic } from './python/pythonic.ts'
import { nemotron, toolCalls } from './reading/named-lists.ts'
import { deepseekV4, deepseekV32 } from './tags/deepseek-v32.ts'
import { gemma4 } from './tags/gemma4.ts'
import { glm } from './tags/glm.ts'
import { hunyuan } from './tags/hunyuan.ts'
import { kimiK3 } from './tags/kimi-k3.ts'
import { minicpm5 } from './tags/minicpm5.ts'
import { minimaxM2 } from './tags/minimax-m2.ts'
import { minimaxM3 } from './tags/minimax-m3.ts'
import { muse } from './tags/muse.ts'
import { qwenXml, seedOss } from './tags/qwen-xml.ts'

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

/** SGLang's name to request from a server that names no parser itself; undefined where SGLang has none. */
export const serverParserFor = (parser: string): string | undefined => parserNamed(parser)?.sglangNames?.[0]

/** Our name for a server's parser; undefined where the server names none, or one of another format. The server reports qwen25 as qwen. */
export const parserOfServer = (toolCallParser: string | undefined): string | undefined =>
  parsers.find(({ sglangNames = [] }) => sglangNames.some((name) => name === toolCallParser))?.name
