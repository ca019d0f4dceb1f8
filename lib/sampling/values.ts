/** Validates sampling values: allowed values and allowed combinations. Both are derived from the table. */
import * as z from 'zod/mini'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { allowedValuesOfKind } from './allowed-values.ts'
import {
  isOwnParameter,
  isSamplingName,
  SAMPLING_PARAMETERS,
  type SamplingName,
  type SamplingParameter,
  samplingNames,
  samplingParameter,
} from './parameters.ts'

interface ValueOfKind {
  readonly number: number
  readonly whole: number
  readonly switch: boolean
  readonly texts: readonly string[]
  readonly patterns: readonly string[]
  readonly ids: readonly number[]
  readonly biases: Readonly<Record<string, number>>
  readonly json: string
  readonly grammar: string
  readonly object: JsonObject
}

/** Sampling values by SGLang's names. */
export type Sampling = {
  readonly [Name in SamplingName]?: ValueOfKind[(typeof SAMPLING_PARAMETERS)[Name]['kind']] | undefined
}

/** Sampling values of one request. */
export interface SamplingRequest extends Sampling {
  /** Parameters that are not in the table. */
  readonly further?: JsonObject | undefined
}

/** Schemas of each parameter's value. */
export const valueSchemas = Object.fromEntries(
  samplingNames.map((name) => [name, valueSchema(samplingParameter(name))]),
) as Readonly<Record<SamplingName, z.ZodMiniType>>

/** Parameters that set a grammar. SGLang accepts only one of them. */
const GRAMMARS = samplingNames.filter((name) => SAMPLING_PARAMETERS[name].group === 'Grammar')

/** Returns the first value that cannot be combined with the others. */
export function combinationProblem(
  sampling: Sampling,
): { readonly name: SamplingName; readonly why: string } | undefined {
  const [one, other] = GRAMMARS.filter((name) => sampling[name] !== undefined)
  if (one !== undefined && other !== undefined)
    return { name: other, why: `empty, because ${one} is set, and only one grammar is allowed` }
  const { min_new_tokens: least, max_new_tokens: most } = sampling
  if (least !== undefined && most !== undefined && least > most)
    return { name: 'min_new_tokens', why: `at most max_new_tokens, ${most}` }
  return undefined
}

/** A parameter that is never sent: SGLang servers that allow it unpickle its value, which runs code. */
const LOGIT_PROCESSOR = 'custom_logit_processor'

/** Returns why a name cannot be a further parameter, as the end of a sentence with "must have"; undefined if it can. */
export function furtherProblem(name: string): string | undefined {
  if (isSamplingName(name)) return `${name} next to "further", not inside it`
  if (name === LOGIT_PROCESSOR) return `no ${name}: it is code for the server, which Rollscope does not send`
  return isOwnParameter(name) ? `no ${name}: Rollscope sets it` : undefined
}

function valueSchema(parameter: SamplingParameter): z.ZodMiniType {
  switch (parameter.kind) {
    case 'number': {
      const { minimum, maximum, isAbove } = parameter
      return z.number().check(isAbove ? z.gt(minimum) : z.minimum(minimum), z.maximum(maximum))
    }
    case 'whole': {
      const { minimum, maximum, also } = parameter
      if (also === undefined) return z.int().check(z.minimum(minimum), z.maximum(maximum))
      return z.int().check(
        z.refine((value) => value === also || (value >= minimum && value <= maximum), {
          message: allowedValuesOfKind(parameter),
        }),
      )
    }
    case 'switch':
      return z.boolean()
    case 'texts':
      return z.array(z.string().check(z.minLength(1))).check(z.maxLength(parameter.most))
    case 'patterns':
      return z
        .array(
          z.string().check(
            z.minLength(1),
            z.refine((pattern) => new TextEncoder().encode(pattern).length <= parameter.mostBytes, {
              message: `at most ${parameter.mostBytes} bytes`,
            }),
          ),
        )
        .check(z.maxLength(parameter.most))
    case 'ids':
      return z.array(z.int().check(z.minimum(0))).check(z.maxLength(parameter.most))
    case 'biases':
      return z.record(
        z.string().check(z.regex(/^\d+$/, 'a token id')),
        z.number().check(z.minimum(parameter.minimum), z.maximum(parameter.maximum)),
      )
    case 'json':
      return z.string().check(z.refine(isJsonObject, { message: allowedValuesOfKind(parameter) }))
    case 'grammar':
      return z.string().check(z.minLength(1))
    case 'object':
      return z.record(z.string(), z.json())
  }
}

/** The text that SGLang takes as the schema of any JSON. */
export const ANY_JSON = '$$ANY$$'

function isJsonObject(text: string): boolean {
  if (text === ANY_JSON) return true
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
