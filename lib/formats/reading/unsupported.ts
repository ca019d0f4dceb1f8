/**
 * Recognises formats of other tools that cannot be opened yet. A file is refused by the format's name: some share field
 * names with a supported format and would be misread.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'

interface UnsupportedFormat {
  /** Name with its article, for a sentence. */
  readonly name: string
  /** Returns whether a JSON value looks like a file or record of this format. */
  readonly sniff: (value: JsonObject) => boolean
}

/** Returns a check that all of these keys are present. */
const has =
  (...keys: readonly string[]) =>
  (value: JsonObject): boolean =>
    keys.every((key) => key in value)

/**
 * Formats with the field names of a supported format, which are checked before any other. The fields come from the
 * tools' own writers.
 */
const MISTAKABLE: readonly UnsupportedFormat[] = [
  { name: 'an Agent Lightning triplet', sniff: ({ prompt, response }) => hasIds(prompt) && hasIds(response) },
]

/** Formats that cannot be mistaken. The first match wins. */
const OTHERS: readonly UnsupportedFormat[] = [
  { name: 'an Agent Lightning event', sniff: has('event_type', 'rollout_id') },
  { name: 'an Agent Lightning rollout', sniff: has('rollout', 'attempts') },
  { name: 'a verl rollout dump, which has texts and no token ids', sniff: has('input', 'output', 'score') },
  { name: 'TRL completions, which have texts and no token ids', sniff: has('prompt', 'completion', 'advantage') },
  { name: 'an Inspect log', sniff: has('eval', 'samples') },
  { name: 'a reply of SGLang’s /generate', sniff: ({ meta_info }) => isObject(meta_info) },
  { name: 'a llama.cpp completion', sniff: has('tokens_predicted') },
  { name: 'the settings of a llama.cpp server', sniff: has('default_generation_settings') },
  { name: 'a reply of a chat or completions endpoint', sniff: ({ choices }) => Array.isArray(choices) },
  { name: 'OpenTelemetry traces', sniff: has('resourceSpans') },
  { name: 'an MLflow trace', sniff: ({ info }) => isObject(info) && 'trace_id' in info },
  { name: 'a mini-swe-agent trajectory, which has no token ids', sniff: has('trajectory_format') },
  { name: 'a tokenizer', sniff: has('added_tokens', 'pre_tokenizer') },
  { name: 'the settings of a tokenizer', sniff: has('tokenizer_class') },
  { name: 'a chat, which has messages and no token ids', sniff: ({ messages }) => Array.isArray(messages) },
]

const hasIds = (value: unknown): boolean => isObject(value) && Array.isArray(value.token_ids)

/** Returns the name, with its article, of a format that would be mistaken for a supported one. */
export const mistakableFormat = (value: unknown): string | undefined => nameIn(MISTAKABLE, value)

/** Returns the name of the format with its article, or undefined if none is recognised. */
export const unsupportedFormat = (value: unknown): string | undefined => nameIn([...MISTAKABLE, ...OTHERS], value)

const nameIn = (all: readonly UnsupportedFormat[], value: unknown): string | undefined =>
  isObject(value) ? all.find(({ sniff }) => sniff(value))?.name : undefined
