/** Tests the types of fields in bodies with the results of SGLang 0.5.23's validation (peers/recordings/body_types.py). */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { generateSamplingSchema } from '#lib/builtin-server/generate/sampling-params.ts'
import { BOOLEAN, fieldsOf, NUMBER, WHOLE } from './body-fields.ts'
import { checkFields, strictJson } from './json-body.ts'
import { HttpRefusal } from './refusal.ts'

interface Golden {
  readonly field: string
  readonly json: string
  readonly value?: unknown
  readonly refused?: string
}
const golden: Readonly<Record<'lax' | 'strict', readonly Golden[]>> = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'body-types.json'), 'utf8'),
)

function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof HttpRefusal) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

describe('A field of an OpenAI endpoint accepts what pydantic accepts:', () => {
  const read = (name: string, json: string): unknown => {
    const field = fieldsOf({ [name]: JSON.parse(json) })
    if (name === 'logprobs') return field(name, BOOLEAN)
    return name === 'temperature' ? field(name, NUMBER) : field(name, WHOLE)
  }
  test.each(golden.lax)('$field: $json', ({ field, json, value, refused }) => {
    if (refused === undefined) expect(read(field, json)).toBe(value)
    else expect(refusal(() => read(field, json))).toContain(`'${refused}'`)
  })
})

describe('A sampling parameter of /generate accepts the JSON types that SGLang accepts:', () => {
  const read = (name: string, json: string) => checkFields(generateSamplingSchema, strictJson(`{"${name}": ${json}}`))
  test.each(golden.strict)('$field: $json', ({ field, json, refused }) => {
    if (refused === undefined) expect(read(field, json)).toHaveProperty(field)
    else if (!json.startsWith('[') && !json.startsWith('{')) expect(refusal(() => read(field, json))).toBe(refused)
    else expect(refusal(() => read(field, json))).toMatch(/^invalid type/)
  })

  test('a whole number with a written fraction for a parameter that may have fractions', () => {
    expect(read('temperature', '1.0')).toEqual({ temperature: 1 })
    expect(read('logit_bias', '{"5": 2.0, "6": 0.5}')).toEqual({ logit_bias: { 5: 2, 6: 0.5 } })
  })
})

test('The golden file of body types has accepted and refused cases of each kind', () => {
  for (const cases of Object.values(golden)) {
    expect(cases.filter(({ refused }) => refused !== undefined).length).toBeGreaterThan(10)
    expect(cases.filter(({ refused }) => refused === undefined).length).toBeGreaterThan(10)
  }
})
