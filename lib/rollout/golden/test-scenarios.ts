/** The scenarios of scenarios.json, and what strands-sglang made of them (golden.json, written by make.py). */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { RunLimits } from '../loop/limits.ts'

export interface Scenario {
  readonly name: string
  readonly tokenizer: string
  /** Default: hermes. */
  readonly parser?: string
  readonly system?: string
  /** enable_thinking; omitted: not said. */
  readonly thinking?: boolean
  readonly tools?: readonly string[]
  readonly limits?: RunLimits
  /** Tokens that the server reports as its context; omitted: it reports none. */
  readonly contextLength?: number
  readonly sampling?: Readonly<Record<string, unknown>>
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[]
  /** One invocation each; several blocks of one message where it is a list. */
  readonly questions: readonly (string | readonly string[])[]
  /** The server's answers in order, whoever asks. */
  readonly replies: readonly (string | ReplyScript)[]
  /** Names of docs/divergences.md that show here. Omitted: the two agree in everything. */
  readonly diverges?: readonly string[]
  /** What follows from that here. */
  readonly rollscope?: Rollscope
}

/** How Rollscope's record follows from Python's where they differ by intent. */
interface Rollscope {
  /** Texts of prompts there, each once, and what stands in their place here. */
  readonly reads?: readonly (readonly [string, string])[]
  /** Python makes further requests; Rollscope ends after so many. */
  readonly stopsAfter?: number
  /** Python ends; Rollscope makes a further request, whose new part holds this. */
  readonly goesOn?: string
  readonly toolRuns?: AgentRecord['toolRuns']
  readonly outcomes?: readonly string[]
}

export type ReplyScript =
  | { readonly status: number; readonly body: unknown }
  /** Status 200 and a body that is no JSON. */
  | { readonly raw: string }
  | {
      /** Encoded one by one and joined: ids that no encoder would write for the whole text. */
      readonly pieces: readonly string[]
      /** Default: stop. */
      readonly finish?: 'length' | 'abort'
      /** The text of the token that ends the reply. Default: the tokenizer's. */
      readonly stop?: string
      /** Ends the reply; stands in its ids, and the text is cut before it. */
      readonly stopString?: string
      /** Ids that are missing at the end. */
      readonly dropped?: number
      /** Keys of meta_info that are missing. */
      readonly without?: readonly string[]
    }

export interface TokenizerEntry {
  readonly folder: string
  /** The text of the token with which the model ends its turn. */
  readonly stop: string
  readonly addedTokens?: readonly string[]
  /** A file of templates/; omitted: the tokenizer's own. */
  readonly template?: string
  /** Put before the template: what would be another thing every day. */
  readonly templatePrefix?: string
}

export interface ToolEntry {
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** {name} stands for the argument of that name. */
  readonly returns?: string
  readonly raises?: string
}

/** What a run sent and recorded, on either side. */
export interface AgentRecord {
  readonly requests: readonly Request[]
  readonly samplingParams: Readonly<Record<string, unknown>> | null
  readonly tokenIds: readonly number[]
  readonly lossMask: readonly number[]
  readonly logprobs: readonly (number | null)[]
  readonly segments: readonly Segment[]
  /** Name and input of every tool that ran. */
  readonly toolRuns: readonly (readonly [string, unknown])[]
  /** Of each question: a stop reason or the class of an exception there; kind and reason here. */
  readonly outcomes: readonly string[]
}

export interface Request {
  readonly inputIds: readonly number[]
  readonly logprobStartLen: number
  readonly maxNewTokens: number
  readonly status: number
}

/** 1 = output, and its length. */
type Segment = readonly [0 | 1, number]

export const goldenFolder = import.meta.dirname
const read = (name: string) => JSON.parse(readFileSync(path.join(goldenFolder, name), 'utf8'))

export const script: {
  readonly tokenizers: Readonly<Record<string, TokenizerEntry>>
  readonly tools: Readonly<Record<string, ToolEntry>>
  readonly scenarios: readonly Scenario[]
} = read('scenarios.json')

interface CompactRecord extends Omit<AgentRecord, 'requests' | 'lossMask'> {
  readonly requests: readonly (Omit<Request, 'inputIds'> & {
    /** How many of the recorded ids it begins with. */
    readonly kept: number
    readonly more: readonly number[]
  })[]
  readonly lossMask: readonly Segment[]
}

const golden: { readonly scenarios: Readonly<Record<string, CompactRecord>> } = read('golden.json')

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

export const goldenNames: readonly string[] = Object.keys(golden.scenarios)
