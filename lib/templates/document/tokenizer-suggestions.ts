/** Suggests a tokenizer: the one that a template was written for, by its source and markers, or that of a named model. */
import type { LabSource } from './source.ts'

interface Family {
  /** Markers that all templates of the family have; no other family has all of them. */
  readonly markers: readonly string[]
  /** Pattern of the names of its tokenizers. */
  readonly names: RegExp
  /** A tokenizer of the family on the Hub. */
  readonly hub: string
}

/** The first family whose markers a template has is its family: more specific ones are first. */
const FAMILIES: readonly Family[] = [
  { markers: ['[gMASK]', '<sop>'], names: /glm/i, hub: 'zai-org/GLM-4.6' },
  { markers: ['<|im_middle|>', '<|im_user|>'], names: /kimi/i, hub: 'moonshotai/Kimi-K2-Instruct' },
  { markers: ['<|channel|>', '<|return|>'], names: /gpt-?oss/i, hub: 'openai/gpt-oss-20b' },
  { markers: ['<｜User｜>', '<｜Assistant｜>'], names: /deepseek/i, hub: 'deepseek-ai/DeepSeek-V3.1' },
  { markers: ['<|turn>', '<turn|>'], names: /gemma-?4/i, hub: 'google/gemma-4-31B-it' },
  { markers: ['<start_of_turn>'], names: /gemma/i, hub: 'google/gemma-3-4b-it' },
  { markers: [']~b]', '[e~['], names: /minimax/i, hub: 'MiniMaxAI/MiniMax-M2' },
  { markers: ['<|START_OF_TURN_TOKEN|>'], names: /command|cohere|aya/i, hub: 'CohereLabs/c4ai-command-r7b-12-2024' },
  { markers: ['<|start_of_role|>'], names: /granite/i, hub: 'ibm-granite/granite-3.3-2b-instruct' },
  { markers: ['<|start_header_id|>'], names: /llama-?3/i, hub: 'meta-llama/Llama-3.1-8B-Instruct' },
  { markers: ['<|tool_list_start|>', '<|im_start|>'], names: /lfm/i, hub: 'LiquidAI/LFM2-8B-A1B' },
  { markers: ['<|system|>', '<|end|>'], names: /phi/i, hub: 'microsoft/Phi-3.5-mini-instruct' },
  { markers: ['[INST]'], names: /mi[sx]tral|devstral|magistral/i, hub: 'mistralai/Mistral-Nemo-Instruct-2407' },
  { markers: ['<|im_start|>', '<|im_end|>'], names: /qwen|built-in/i, hub: 'Qwen/Qwen3-8B' },
]

const MOST = 3

/**
 * Returns names to choose from, the best first; none if nothing is known. `known` are the tokenizers on this machine, including the
 * built-in one. The chosen one is left out.
 */
export function suggestedTokenizers(
  { source, markers }: { readonly source: LabSource | undefined; readonly markers: readonly string[] },
  { chosen, known }: { readonly chosen: string; readonly known: readonly string[] },
): readonly string[] {
  const family = FAMILIES.find((each) => each.markers.every((marker) => markers.includes(marker)))
  const names = [
    ...(source?.kind === 'tokenizer' ? [source.name] : []),
    ...(family ? [...known.filter((name) => family.names.test(name)), family.hub] : []),
  ]
  return [...new Set(names)].filter((name) => name !== chosen).slice(0, MOST)
}

/** Matches a name as the Hub has it: an owner and a repository. */
const HUB_NAME = /^[\w.-]+\/[\w.-]+$/

/**
 * Returns the tokenizer of a model by its name in a file: the one on this machine with this name, or with the same last part; otherwise the
 * name itself if it is one of the Hub. Undefined if there is none.
 */
export function tokenizerOfModel(model: string | undefined, known: readonly string[]): string | undefined {
  if (model === undefined) return undefined
  const last = lastPart(model)
  return (
    known.find((name) => name === model) ??
    (last === '' ? undefined : known.find((name) => lastPart(name) === last)) ??
    (HUB_NAME.test(model) ? model : undefined)
  )
}

/** Returns the last part of a name or a path. Serving programs change the case of names. */
const lastPart = (name: string): string => (name.replace(/\/+$/, '').split('/').at(-1) ?? '').toLowerCase()
