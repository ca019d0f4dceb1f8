/** Converts sampling parameters of other programs to SGLang's, and reports what was left out and why. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { allowedValues } from '#lib/sampling/allowed-values.ts'
import { isOwnParameter, type SamplingName } from '#lib/sampling/parameters.ts'
import { samplingText } from '#lib/sampling/texts.ts'
import { valueSchemas } from '#lib/sampling/values.ts'
import { OWN_WORDS } from '#lib/sampling/words.ts'
import { FORMATS, IGNORED, isSamplingField, SAMPLE_NAMES, sglangName, WRAPPERS } from './names.ts'

/** A remark about one pasted name. */
export interface Remark {
  /** The name as it was pasted. */
  readonly name: string
  readonly why: string
}

/** SGLang sampling read from another program's parameters. */
export interface ReadDialect {
  /** Field texts of the parameters that were given. */
  readonly sampling: Readonly<Partial<Record<SamplingName, string>>>
  /** Number of replies to one prompt, 1 to 64; undefined if not given. */
  readonly samples: number | undefined
  readonly ignored: readonly Remark[]
  /** Values that SGLang would refuse, or that could not be read. */
  readonly problems: readonly Remark[]
}

const MOST_SAMPLES = 64
/** Longest excerpt of an unreadable value that is shown. */
const LONGEST_SHOWN = 60

/** Converts parsed values. `unread` maps names whose value is not a literal to their source text. */
export function readDialect(values: JsonObject, unread: ReadonlyMap<string, string> = new Map()): ReadDialect {
  const found: Found = { values: new Map(), samples: undefined, ignored: [], problems: [] }
  for (const [name, own] of entriesOf(values)) readOne(name, own, found)
  for (const [name, written] of unread) readUnread(name, written, found)
  if (found.isGreedy) {
    const temperature = found.values.get('temperature')
    if (temperature !== undefined && temperature.value !== 0)
      found.ignored.push({ name: temperature.name, why: 'do_sample is false, so decoding is greedy.' })
    found.values.set('temperature', { name: 'do_sample', value: 0 })
  }
  const sampling = [...found.values].flatMap(([name, { name: written, value }]) => {
    if (valueSchemas[name].safeParse(value).success) return [[name, samplingText(name, value)]]
    found.problems.push({ name: written, why: `${valueText(value)}: must be ${allowedValues(name)}` })
    return []
  })
  const { samples, ignored, problems } = found
  return { sampling: Object.fromEntries(sampling), samples, ignored, problems }
}

interface Found {
  readonly values: Map<SamplingName, { readonly name: string; readonly value: unknown }>
  samples: number | undefined
  /** True if do_sample is false. */
  isGreedy?: boolean
  readonly ignored: Remark[]
  readonly problems: Remark[]
}

/** Writes a value for a person. Numbers are not written as JSON, which has no infinity. */
const valueText = (value: unknown): string => (typeof value === 'number' ? String(value) : JSON.stringify(value))

/** Returns names and values. Nested objects are read as if their entries were on the top level. */
const entriesOf = (value: JsonObject): (readonly [string, unknown])[] =>
  Object.entries(value).flatMap(([name, own]) => (WRAPPERS.has(name) && isObject(own) ? entriesOf(own) : [[name, own]]))

function readOne(name: string, value: unknown, found: Found): void {
  const known = sglangName(name)
  if (SAMPLE_NAMES.has(name)) readSamples(name, value, found)
  else if (name === 'do_sample') readGreedy(value, found)
  else if (FORMATS.has(name)) readFormat(name, value, found)
  else if (known !== undefined) readKnown(name, known, value, found)
  else found.ignored.push({ name, why: reasonFor(name) })
}

/** Reports a value that is not a literal. The value of an ignored name does not matter. */
function readUnread(name: string, written: string, found: Found): void {
  const excerpt = written.length > LONGEST_SHOWN ? `${written.slice(0, LONGEST_SHOWN)} …` : written
  const why =
    written === '' ? 'The value is missing.' : `${excerpt}: must be a literal value, because nothing is executed here`
  if (isSamplingField(name)) found.problems.push({ name, why })
  else found.ignored.push({ name, why: reasonFor(name) })
}

function reasonFor(name: string): string {
  if (Object.hasOwn(IGNORED, name)) return IGNORED[name] as string
  if (isOwnParameter(name)) return OWN_WORDS[name]
  return 'Rollscope does not support it. If the server does, add it as a further parameter.'
}

function readKnown(written: string, name: SamplingName, value: unknown, found: Found): void {
  if (value === null || value === undefined) return
  const before = found.values.get(name)
  const sglangValue = asSglang(name, value)
  const isSame = before !== undefined && JSON.stringify(before.value) === JSON.stringify(sglangValue)
  if (before === undefined || isSame || written === name) found.values.set(name, { name: written, value: sglangValue })
  if (before === undefined || isSame) return
  const left = written === name ? before.name : written
  found.ignored.push({
    name: left,
    why: `${left === written ? before.name : written} is also given, with a different value.`,
  })
}

function readSamples(name: string, value: unknown, found: Found): void {
  if (value === null) return
  const isGood = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_SAMPLES
  if (isGood) found.samples = Number(value)
  else found.problems.push({ name, why: `${valueText(value)}: must be a whole number from 1 to ${MOST_SAMPLES}` })
}

function readGreedy(value: unknown, found: Found): void {
  if (value === false) found.isGreedy = true
  else found.ignored.push({ name: 'do_sample', why: 'Every temperature above 0 samples.' })
}

function readFormat(name: string, value: unknown, found: Found): void {
  const { type, json_schema: wrapped, schema, ...rest } = isObject(value) ? value : {}
  const { json, regex, grammar } = rest
  if (type === 'json_object') readKnown(name, 'json_schema', { type: 'object' }, found)
  else if (isObject(wrapped)) readKnown(name, 'json_schema', wrapped.schema ?? wrapped, found)
  else if (schema !== undefined || json !== undefined) readKnown(name, 'json_schema', schema ?? json, found)
  else if (regex !== undefined) readKnown(name, 'regex', regex, found)
  else if (grammar !== undefined) readKnown(name, 'ebnf', grammar, found)
  else if (type !== 'text') found.ignored.push({ name, why: 'It contains no schema.' })
}

/** Normalizes single values to lists, objects to their text, and other notations of "all". */
function asSglang(name: SamplingName, value: unknown): unknown {
  switch (name) {
    case 'top_k':
      // In Hugging Face and vLLM, a top_k of 0 means all tokens.
      return value === 0 ? -1 : value
    case 'stop':
    case 'stop_regex':
    case 'stop_token_ids':
      return [value].flat().filter((one) => one !== '' && one !== null)
    case 'json_schema':
    case 'structural_tag':
      return isObject(value) ? JSON.stringify(value) : value
    default:
      return value
  }
}
