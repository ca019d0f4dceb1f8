/** The arguments of a call: their types, whether they fit the tool's schema, and what their numbers lose. */
import { isObject } from '#lib/json/json-object.ts'
import type { ParsedCall, TextRange } from '#lib/parsers/parser.ts'
import { argumentTypes, type JsonType, jsonType } from '#lib/parsers/reading/argument-types.ts'
import { valueJson } from '#lib/parsers/reading/written-arguments.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** An argument of a call. */
export interface ReadArgument {
  readonly name: string
  /** Range of the value in the text. */
  readonly span: TextRange
  /** The value as JSON, with numbers as they are written. */
  readonly json: string
  readonly type: JsonType
  /** Types that the tool's schema allows; undefined if it does not say. */
  readonly wanted: readonly JsonType[] | undefined
  /** Why the value does not fit the schema; omitted if it does. */
  readonly fault?: string
  /** What the value loses if JavaScript keeps it; omitted if it loses nothing. */
  readonly loss?: string
}

type Parsed = Extract<ParsedCall, { kind: 'parsed' }>

/** Returns the arguments in the order in which they are written. */
export function readArguments(text: string, call: Parsed, tools: readonly ToolSpec[]): readonly ReadArgument[] {
  return call.arguments.map(({ name, text: span }) => {
    const value = call.input[name]
    const written = text.slice(span.start, span.end)
    const json = valueJson(value, written)
    const types = argumentTypes(tools, call.name, name)
    const fault = argumentFault(tools, call.name, name, value)
    const loss = lossOf(json)
    return {
      name,
      span: { start: span.start, end: span.end },
      json,
      type: jsonType(value),
      wanted: types && [...types],
      ...(fault !== undefined && { fault }),
      ...(loss !== undefined && { loss }),
    }
  })
}

/**
 * Returns the first way in which arguments do not fit their tool: a missing required one, another type, a value outside of an enum, a name
 * that the schema does not allow. Deeper levels are not checked. Returns undefined if they fit, or if there is no such tool.
 */
export function callFault({ name, input }: Parsed, tools: readonly ToolSpec[]): string | undefined {
  const schema = tools.find((tool) => tool.name === name)?.inputSchema
  if (!schema) return undefined
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const absent = required.find((key) => !Object.hasOwn(input, key))
  if (absent !== undefined) return `${JSON.stringify(absent)} is required and missing`
  for (const key of Object.keys(input)) {
    const fault = argumentFault(tools, name, key, input[key])
    if (fault !== undefined) return `${JSON.stringify(key)} ${fault}`
  }
  return undefined
}

function argumentFault(tools: readonly ToolSpec[], tool: string, name: string, value: unknown): string | undefined {
  const schema = tools.find((one) => one.name === tool)?.inputSchema
  if (!schema) return undefined
  const properties = isObject(schema.properties) ? schema.properties : {}
  const own = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (own === undefined && schema.additionalProperties === false) return 'is not an argument of the tool'
  const types = argumentTypes(tools, tool, name)
  const type = jsonType(value)
  const fits = !types || types.has(type) || (type === 'integer' && types.has('number'))
  if (!fits) return `is ${withArticle(type)}, the schema wants ${[...types].map(withArticle).join(' or ')}`
  const choices = isObject(own) && Array.isArray(own.enum) ? own.enum : undefined
  if (choices && !choices.some((choice) => JSON.stringify(choice) === JSON.stringify(value)))
    return `is not one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
  return undefined
}

const withArticle = (type: JsonType): string =>
  type === 'null' ? 'null' : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** Returns the first number that JavaScript keeps differently than Python, with its new value. */
function lossOf(json: string): string | undefined {
  for (const [written] of json.matchAll(STRING_OR_NUMBER)) {
    if (written.startsWith('"')) continue
    const value = Number(written)
    const isWhole = /^-?\d+$/.test(written)
    if (isWhole && BigInt(value) !== BigInt(written)) return `${written} is kept as ${BigInt(value)}`
    if (!isWhole && Number.isInteger(value)) return `${written}, a float, is kept as ${value}`
  }
  return undefined
}
