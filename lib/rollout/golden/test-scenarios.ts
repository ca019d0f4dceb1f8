/** The scenarios of scenarios.json, and the records of strands-sglang for them (golden.json, written by make.py). */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { RunLimits } from '../loop/limits.ts'

/** A conversation with a scripted server. */
export interface Scenario {
  readonly name: string
  readonly tokenizer: string
  /** Default: hermes. */
  readonly parser?: string
  readonly system?: string
  /** The template option enable_thinking. Omitted: not set. */
  readonly thinking?: boolean
  readonly tools?: readonly string[]
  readonly limits?: RunLimits
  /** Context length that the server reports, in tokens. Omitted: it reports none. */
  readonly contextLength?: number
  readonly sampling?: Readonly<Record<string, unknown>>
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[]
  /** One invocation each. A list is one message with several blocks. */
  readonly questions: readonly (string | readonly string[])[]
  /** The server's answers, in the order of the requests. */
  readonly replies: readonly (string | ReplyScript)[]
  /** Divergences of docs/divergences.md that occur in this scenario. Omitted: both records are equal. */
  readonly diverges?: readonly string[]
  /** The effects of these divergences on Rollscope's record. */
  readonly rollscope?: Rollscope
}

/** Intentional differences of Rollscope's record from Python's. */
interface Rollscope {
  /** Texts in prompts of Python, each occurring once, with the text that replaces it in Rollscope's prompts. */
  readonly reads?: readonly (readonly [string, string])[]
  /** Number of requests after which Rollscope ends, while Python makes more. */
  readonly stopsAfter?: number
  /** A text in the new part of a further request that Rollscope makes after Python has ended. */
  readonly goesOn?: string
  readonly toolRuns?: AgentRecord['toolRuns']
  readonly outcomes?: readonly string[]
}

/** A scripted answer of the server that is more than a text. */
export type ReplyScript =
  | { readonly status: number; readonly body: unknown }
  /** Status 200 with a body that is not JSON. */
  | { readonly raw: string }
  | {
      /** Texts that are encoded separately and joined, which gives ids that no encoder would produce for the whole text. */
      readonly pieces: readonly string[]
      /** Default: stop. */
      readonly finish?: 'length' | 'abort'
      /** The text of the token that ends the reply. Default: the tokenizer's. */
      readonly stop?: string
      /** Text that ends the reply. Its ids are in the reply, and the text is cut before it. */
      readonly stopString?: string
      /** Number of ids that are missing at the end. */
      readonly dropped?: number
      /** Keys of meta_info that are missing. */
      readonly without?: readonly string[]
    }

/** A tokenizer of the scenarios. */
export interface TokenizerEntry {
  readonly folder: string
  /** The text of the token with which the model ends its turn. */
  readonly stop: string
  readonly addedTokens?: readonly string[]
  /** A file of templates/; omitted: the tokenizer's own. */
  readonly template?: string
  /** Text before the template that fixes values which otherwise change every day. */
  readonly templatePrefix?: string
}

/** A tool of the scenarios. */
export interface ToolEntry {
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** The result. {name} is replaced by the argument of that name. */
  readonly returns?: string
  readonly raises?: string
}

/** What a run of either implementation sent and recorded. */
export interface AgentRecord {
  readonly requests: readonly Request[]
  readonly samplingParams: Readonly<Record<string, unknown>> | null
  readonly tokenIds: readonly number[]
  readonly lossMask: readonly number[]
  readonly logprobs: readonly (number | null)[]
  readonly segments: readonly Segment[]
  /** Name and input of every tool that ran. */
  readonly toolRuns: readonly (readonly [string, unknown])[]
  /** The outcome of each question. Python: a stop reason or the class of an exception. Rollscope: kind and reason. */
  readonly outcomes: readonly string[]
}

/** A /generate request, with the status of its answer. */
export interface Request {
  readonly inputIds: readonly number[]
  readonly logprobStartLen: number
  readonly maxNewTokens: number
  readonly status: number
}

/** Loss mask bit (1 = output) and number of tokens. */
type Segment = readonly [0 | 1, number]

/** Folder of scenarios.json and golden.json. */
export const goldenFolder = import.meta.dirname
const read = (name: string) => JSON.parse(readFileSync(path.join(goldenFolder, name), 'utf8'))

/** The content of scenarios.json. */
export const script: {
  readonly tokenizers: Readonly<Record<string, TokenizerEntry>>
  readonly tools: Readonly<Record<string, ToolEntry>>
  readonly scenarios: readonly Scenario[]
} = read('scenarios.json')

interface CompactRecord extends Omit<AgentRecord, 'requests' | 'lossMask'> {
  readonly requests: readonly (Omit<Request, 'inputIds'> & {
    /** Number of leading recorded ids that the request begins with. */
    readonly kept: number
    readonly more: readonly number[]
  })[]
  readonly lossMask: readonly Segment[]
}

const golden: { readonly scenarios: Readonly<Record<string, CompactRecord>> } = read('golden.json')

/** Returns the record of strands-sglang for a scenario. Throws if golden.json has none. */
export function pythonRecord(name: string): AgentRecord {
  const compact = golden.scenarios[name]
  if (!compact) throw new Error(`golden.json has no scenario "${name}": run make.py`)
  return {
    ...compact,
    requests: compact.requests.map(({ kept, more, ...rest }) => ({
      ...rest,
      inputIds: [...compact.tokenIds.slice(0, kept), ...more],
    })),
    lossMask: compact.lossMask.flatMap(([bit, length]) => Array.from({ length }, () => bit)),
    logprobs: compact.logprobs.map((numerator) => (numerator === null ? null : -numerator / 512)),
  }
}

/** Names of the scenarios in golden.json. */
export const goldenNames: readonly string[] = Object.keys(golden.scenarios)
