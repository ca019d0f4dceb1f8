/**
 * Grows small files of each format without a writer to any number of tokens. A list over tokens repeats each of its elements, and a text
 * gets words after each space. So equal beginnings stay equal: a prompt still begins with the tokens and messages before it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { openText } from '#lib/formats/reading/open.ts'
import { recordsIn } from '#lib/formats/reading/records.ts'
import { formatOf, formats, writableFormats } from '#lib/formats/registry.ts'
import { documentedFiles, filesByFormat, type GoodFile } from '#lib/formats/test-mutants.ts'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { parsePythonJson } from '#lib/json/python-json.ts'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'

const FOREIGN = 'lib/formats/golden/foreign'
/** A text has about one token in four characters. */
const TOKEN_CHARACTERS = 4
/** The messages, events or chunks of a large file. Beyond them, texts and lists grow. */
const MOST_RECORDS = 2_000
/** The largest share by which the size of a grown file differs from the requested one. */
const TOLERANCE = 0.15
const WORDS = 'the model reads the next file and writes what it found there; '
/** Names of fields with texts. */
const TEXT_FIELD =
  /(content|text|value|output|response|completion|prompt|thinking|reasoning|thought|observation|message|result|input|full|delta|arg_0)$/i
/** Names of fields that count tokens. */
const COUNT_FIELD = /(lengths?|_tokens|_count|tokens_predicted|tokens_evaluated)$/

/** Names of the formats that no writer writes. */
export const readOnlyFormats: readonly string[] = formats
  .map(({ name }) => name)
  .filter((name) => !writableFormats.some(({ write }) => formatOf(write(sampleTrajectory).value)?.name === name))

/** Returns the text of a file that contains one trajectory of about this many tokens. Throws if no example of the format grows to it. */
export function grownFile(format: string, tokens: number): string {
  const example = withMoreRecords(largestExample(format), tokens)
  const size = (times: number): number => tokensIn(fileText(example, times), format) ?? Number.NaN
  const [small, large] = [2, 50]
  const [start, end] = [size(small), size(large)]
  const times = small + ((tokens - start) * (large - small)) / (end - start)
  const text = fileText(example, Math.max(1, Math.round(times)))
  const found = tokensIn(text, format) ?? Number.NaN
  if (Math.abs(found - tokens) <= TOLERANCE * tokens) return text
  throw new Error(`the example of ${format} grows to ${found} tokens instead of ${tokens}`)
}

interface Example {
  readonly format: string
  /** Lines of the file, or the elements of its list. */
  readonly records: readonly unknown[]
  readonly isList: boolean
  readonly tokens: number
}

const examples = filesByFormat([
  ...readdirSync(FOREIGN)
    .filter((name) => /\.jsonl?$/.test(name))
    .map((name) => ({ name, text: readFileSync(`${FOREIGN}/${name}`, 'utf8') })),
  ...documentedFiles(),
])

/** Returns the largest example of a format that contains one trajectory and grows. */
function largestExample(format: string): Example {
  const [largest] = (examples.get(format) ?? [])
    .flatMap(partsOf)
    .flatMap((part) => {
      const example = { ...part, format, tokens: 0 }
      const [tokens, grown] = [1, 50].map((times) => tokensIn(fileText(example, times), format))
      return tokens !== undefined && grown !== undefined && grown > 2 * tokens ? [{ ...example, tokens }] : []
    })
    .sort((a, b) => b.tokens - a.tokens)
  if (largest) return largest
  throw new Error(`no file of ${format} contains one trajectory that grows`)
}

/** Returns the beginnings of a file, its records, and the first sample of each record. */
function partsOf({ text }: GoodFile): readonly Pick<Example, 'records' | 'isList'>[] {
  const all = recordsOf(text)
  return [
    ...all.map((_, index) => all.slice(0, index + 1)),
    ...all.map((record) => [record]),
    ...all.map((record) => [firstSampleOf(record)]),
  ].map((records) => ({ records, isList: text.trimStart().startsWith('[') }))
}

function recordsOf(text: string): readonly unknown[] {
  const value = jsonIn(text)
  if (value === undefined)
    return text
      .trim()
      .split('\n')
      .map((line) => parsePythonJson(line))
  // The rows of a table are its records.
  return Array.isArray(value) ? value : recordsIn(value, {}).map((record) => record.value)
}

/** Returns a record whose lists contain their first element only. */
const firstSampleOf = (record: unknown): unknown =>
  isObject(record) ? mapFields(record, (value) => (Array.isArray(value) ? value.slice(0, 1) : value)) : record

/** Repeats the records of an example that has more tokens then, such as messages or the chunks of a stream. */
function withMoreRecords(example: Example, tokens: number): Example {
  const repeated = (times: number): Example => ({
    ...example,
    records: example.records.flatMap((record) => new Array(times).fill(record)),
  })
  const grown = tokensIn(fileText(repeated(10), 1), example.format)
  if (grown === undefined || grown < 3 * example.tokens) return example
  const times = Math.min(MOST_RECORDS / example.records.length, tokens / 8 / example.tokens)
  return repeated(Math.max(1, Math.floor(times)))
}

function fileText({ records, isList }: Example, times: number): string {
  const grown = records.map((record) => grow(record, times))
  return isList ? JSON.stringify(grown) : grown.map((record) => JSON.stringify(record)).join('\n')
}

/** Returns the tokens of the only trajectory in a file; undefined if there are several, or if another format opens it. */
function tokensIn(text: string, format: string): number | undefined {
  const opened = openText(text, { file: 'file.json', now: '2026-01-01T00:00:00.000Z', newId: () => 'new' })
  if (!opened.ok || opened.failed.length > 0 || opened.format.name !== format) return undefined
  const [trajectory, ...others] = opened.trajectories
  if (!trajectory || others.length > 0) return undefined
  const ids = trajectory.segments.reduce((sum, segment) => sum + segment.ids.length, 0)
  return ids > 0 ? ids : Math.round(textLength(trajectory.segments) / TOKEN_CHARACTERS)
}

const textLength = (segments: readonly Segment[]): number =>
  JSON.stringify(segments.map((segment) => (segment.kind === 'prompt' ? segment.messages : segment.message))).length

/** Returns a value whose texts and lists over tokens are about this many times as long. `field` is the name of the field around it. */
function grow(value: unknown, times: number, field = ''): unknown {
  if (typeof value === 'string') return growText(value, times, field)
  if (typeof value === 'number') return COUNT_FIELD.test(field) ? value * times : value
  if (Array.isArray(value))
    return isOverTokens(value)
      ? value.flatMap((element) => new Array(times).fill(element))
      : value.map((element) => grow(element, times, field))
  if (!isObject(value)) return value
  const samples = sampleCount(value)
  return mapFields(value, (part, name) =>
    Array.isArray(part) && part.length === samples && part.every(isScalar)
      ? part.map((element) => grow(element, times, name))
      : grow(part, times, name),
  )
}

/** Returns the number of samples if an object has lists with a list over tokens for each sample. */
const sampleCount = (value: JsonObject): number | undefined =>
  Object.values(value).find(
    (lists): lists is readonly unknown[] =>
      Array.isArray(lists) &&
      !isOverTokens(lists) &&
      lists.every((list) => Array.isArray(list) && list.every(isScalar)),
  )?.length

function growText(text: string, times: number, field: string): string {
  const json = /^\s*[[{]/.test(text) ? jsonIn(text) : undefined
  if (json !== undefined) return JSON.stringify(grow(json, times))
  if (!TEXT_FIELD.test(field)) return text
  const length = (times - 1) * TOKEN_CHARACTERS
  const words = WORDS.repeat(Math.ceil(length / WORDS.length)).slice(0, length)
  // The texts of documented records are single letters.
  return text.replaceAll(text.length <= 2 ? /./g : / /g, `$&${words}`)
}

/** Returns undefined if the text is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return parsePythonJson(text)
  } catch {
    return undefined
  }
}

const mapFields = (value: JsonObject, map: (field: unknown, name: string) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, field]) => [name, map(field, name)]))

/** Returns whether a list has an element for each token: a number, a flag, or the entries of a logprob. */
const isOverTokens = (list: readonly unknown[]): boolean =>
  list.length > 0 &&
  (list.every(isScalar) ||
    list.every((one) => one === null || isEntry(one) || (Array.isArray(one) && one.length > 0 && one.every(isTuple))))

const isScalar = (value: unknown): boolean => value === null || typeof value === 'number' || typeof value === 'boolean'

const isEntry = (value: unknown): boolean =>
  isTuple(value) || (isObject(value) && ('logprob' in value || hasOnlyIds(value)))

/** Returns whether a value has a logprob, a token id and a text, as SGLang writes them. */
const isTuple = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length === 3 &&
  Number.isInteger(value[1]) &&
  (value[2] === null || typeof value[2] === 'string')

/** Returns whether the names of an object are token ids, as in vLLM's logprobs of a prompt. */
const hasOnlyIds = (value: JsonObject): boolean =>
  Object.keys(value).length > 0 && Object.keys(value).every((name) => /^\d+$/.test(name))
