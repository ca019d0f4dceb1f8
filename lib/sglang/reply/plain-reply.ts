/**
 * Recognizes replies of /generate that match the schema, with one comparison for each value: a schema library takes
 * longer for ten thousand numbers than the rest of a call. Any other reply goes to the schema, which reports the error.
 */
import { isDeeperThan } from '#lib/json/json-depth.ts'
import { isObject } from '#lib/json/json-object.ts'
import type { GenerateReply } from '../server/schema.ts'

/** Returns whether a value parsed from JSON is a reply that needs no schema check. */
export function isPlainReply(value: unknown): value is GenerateReply {
  return isObject(value) && holds(value, REPLY) && isObject(value.meta_info)
}

type Test = (value: unknown) => boolean

/**
 * Returns whether each known field passes its test and the others are small. `__proto__` is left to the schema, which
 * drops it.
 */
function holds(object: Readonly<Record<string, unknown>>, tests: ReadonlyMap<string, Test>): boolean {
  for (const name of Object.keys(object)) {
    if (name === '__proto__') return false
    const value = object[name]
    const test = tests.get(name)
    if (test ? !test(value) : isDeeperThan(DEEPEST_UNKNOWN, value)) return false
  }
  return true
}

const DEEPEST_UNKNOWN = 8
const NONE_KNOWN: ReadonlyMap<string, Test> = new Map()

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isNumber = (value: unknown): boolean => Number.isFinite(value)
const optional =
  (test: Test): Test =>
  (value) =>
    value === null || value === undefined || test(value)
const isText: Test = (value) => typeof value === 'string'

function isScored(entry: unknown): boolean {
  if (!Array.isArray(entry) || entry.length < 2) return false
  return (entry[0] === null || isNumber(entry[0])) && isId(entry[1])
}

function isVersion(value: unknown): boolean {
  if (!isObject(value)) return false
  const { version, start, end } = value
  return isText(version) && isId(start) && isId(end) && holds(value, NONE_KNOWN)
}

const listOf =
  (test: Test): Test =>
  (value) => {
    if (!Array.isArray(value)) return false
    for (let index = 0; index < value.length; index++) if (!test(value[index])) return false
    return true
  }

const isLogprobList = optional(listOf(isScored))
const top = optional(listOf((row) => row === null || listOf(isScored)(row)))
const count = optional(Number.isSafeInteger)

const FINISH: ReadonlyMap<string, Test> = new Map([
  ['type', isText],
  ['matched', optional((value) => isText(value) || Number.isSafeInteger(value))],
  ['message', optional(isText)],
  ['status_code', count],
])

const META: ReadonlyMap<string, Test> = new Map([
  ['finish_reason', optional((value) => isObject(value) && 'type' in value && holds(value, FINISH))],
  ['prompt_tokens', count],
  ['completion_tokens', count],
  ['cached_tokens', count],
  ['e2e_latency', optional(isNumber)],
  ['routed_experts', optional(isText)],
  ['weight_version', optional(isText)],
  ['weight_versions', optional(listOf(isVersion))],
  ['input_token_logprobs', isLogprobList],
  ['output_token_logprobs', isLogprobList],
  ['output_token_logprobs_length', count],
  ['input_top_logprobs', top],
  ['output_top_logprobs', top],
])

const REPLY: ReadonlyMap<string, Test> = new Map([
  ['text', optional(isText)],
  ['output_ids', optional(listOf(isId))],
  ['prompt_token_ids', optional(listOf(isId))],
  ['meta_info', (value) => isObject(value) && holds(value, META)],
])
