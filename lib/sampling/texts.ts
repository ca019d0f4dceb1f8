/**
 * Reads and writes the texts of sampling fields: lists with one item a line, biases as `id: number`, everything else as
 * JSON.
 */
import { isObject } from '#lib/json/json-object.ts'
import { allowedValuesOfKind } from './allowed-values.ts'
import { type ParameterKind, type SamplingName, samplingParameter } from './parameters.ts'
import { valueSchemas } from './values.ts'

/** A parsed value, or the problem of the text. `nothing` is an empty field. */
export type ReadText =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'value'; readonly value: unknown }
  /** `why` follows the field's name: "must be …". */
  | { readonly kind: 'problem'; readonly why: string }

/** Parses the text of a field. */
export function readSamplingText(name: SamplingName, text: string): ReadText {
  if (text.trim() === '') return { kind: 'nothing' }
  const parameter = samplingParameter(name)
  const value = typedValue(parameter, text)
  if (Array.isArray(value) && value.length === 0) return { kind: 'nothing' }
  const isGood = valueSchemas[name].safeParse(value).success
  return isGood ? { kind: 'value', value } : { kind: 'problem', why: `must be ${allowedValuesOfKind(parameter)}` }
}

/** Writes a value so that readSamplingText returns it. */
export function samplingText(name: SamplingName, value: unknown): string {
  const { kind } = samplingParameter(name)
  switch (kind) {
    case 'texts':
    case 'patterns':
      return (value as readonly string[]).map(lineOf).join('\n')
    case 'ids':
      return (value as readonly number[]).join(', ')
    case 'biases':
      return Object.entries(value as object)
        .map(([id, bias]) => `${id}: ${bias}`)
        .join('\n')
    case 'object':
      return JSON.stringify(value)
    default:
      return String(value)
  }
}

/** Converts a text to a value of this kind; undefined if that is impossible. The value may still be out of range. */
function typedValue(parameter: ParameterKind, text: string): unknown {
  switch (parameter.kind) {
    case 'number':
    case 'whole':
      return Number(text)
    case 'switch':
      return { true: true, false: false }[text.trim()]
    case 'texts':
    case 'patterns':
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map(textOf)
    case 'ids':
      return text
        .replace(/^\s*\[|\]\s*$/g, '')
        .split(/[\s,]+/)
        .filter((part) => part !== '')
        .map(Number)
    case 'biases':
      return parseObject(text) ?? biasesOf(text)
    case 'object':
      return parseObject(text)
    case 'json':
      return text.trim()
    case 'grammar':
      return text
  }
}

function biasesOf(text: string): object | undefined {
  const entries = text
    .split(/[\n,]/)
    .filter((line) => line.trim() !== '')
    .map((line) => /^\s*(\d+)\s*:\s*(\S+)\s*$/.exec(line))
  return entries.every((entry) => entry !== null)
    ? Object.fromEntries(entries.map(([, id, bias]) => [id, Number(bias)]))
    : undefined
}

/** Reads a line as plain text, or as a JSON string if it is in quotes (for line breaks and outer spaces). */
function textOf(line: string): string {
  if (!line.startsWith('"')) return line
  try {
    return String(JSON.parse(line))
  } catch {
    return line
  }
}

function lineOf(text: string): string {
  const isPlain = text !== '' && !text.startsWith('"') && !/[\n\r]|^\s|\s$/.test(text)
  return isPlain ? text : JSON.stringify(text)
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
