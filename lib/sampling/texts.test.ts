import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '#testing/strings.ts'
import { type SamplingName, type SamplingParameter, samplingNames, samplingParameter } from './parameters.ts'
import { readSamplingText, samplingText } from './texts.ts'
import { valueSchemas } from './values.ts'

const someText = fc.string({ unit: fc.constantFrom(...'a1 "\\\n\r\t,:{}é四'), minLength: 1, maxLength: 12 })

/** Replaces -0 by 0, because text cannot represent -0. */
const signed = (number: fc.Arbitrary<number>) => number.map((value) => value + 0)

function drawn(parameter: SamplingParameter): fc.Arbitrary<unknown> {
  switch (parameter.kind) {
    case 'number': {
      const { minimum: min, maximum: max, isAbove = false } = parameter
      return signed(fc.double({ min, max, minExcluded: isAbove, noNaN: true }))
    }
    case 'whole': {
      const { minimum: min, maximum: max, also } = parameter
      return fc.oneof(
        fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) }),
        fc.constant(also ?? max),
      )
    }
    case 'switch':
      return fc.boolean()
    case 'texts':
    case 'patterns':
      return fc.array(someText, { minLength: 1, maxLength: 5 })
    case 'ids':
      return fc.array(fc.nat(), { minLength: 1, maxLength: 5 })
    case 'biases':
      return fc.dictionary(fc.nat().map(String), signed(fc.double({ min: -100, max: 100, noNaN: true })), {
        minKeys: 1,
      })
    case 'json':
      return fc.dictionary(someText, fc.jsonValue()).map((value) => JSON.stringify(value))
    case 'grammar':
      return someText.filter((text) => text.trim() !== '')
    case 'object':
      return fc.dictionary(someText, fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)))
  }
}

test('samplingText writes every value so that readSamplingText returns it', () => {
  const valued = fc
    .constantFrom(...samplingNames)
    .chain((name) => drawn(samplingParameter(name)).map((value) => [name, value] as const))
  fc.assert(
    fc.property(valued, ([name, value]) => {
      expect(valueSchemas[name].safeParse(value).success).toBe(true)
      expect(readSamplingText(name, samplingText(name, value))).toEqual({ kind: 'value', value })
    }),
  )
})

test('readSamplingText never throws on any text', () => {
  fc.assert(
    fc.property(fc.constantFrom(...samplingNames), anyText(), (name, text) => {
      const read = readSamplingText(name, text)
      if (read.kind === 'value') expect(valueSchemas[name].safeParse(read.value).success).toBe(true)
    }),
  )
})

describe('readSamplingText', () => {
  test.each<[SamplingName, string, unknown]>([
    ['temperature', ' 0.7 ', 0.7],
    ['top_k', '-1', -1],
    ['ignore_eos', 'true', true],
    ['stop', '\nUser:\n\n"\\n\\n"\n"open', ['User:', '\n\n', '"open']],
    ['stop_token_ids', '[1, 2 3]', [1, 2, 3]],
    ['logit_bias', '5: -1.5, 6: 2', { 5: -1.5, 6: 2 }],
    ['logit_bias', '{"5": 1}', { 5: 1 }],
    ['json_schema', ' {"type": "object"} ', '{"type": "object"}'],
    ['watermark', '{"enabled": true}', { enabled: true }],
  ])('reads the text of %s: %j', (name, text, value) => {
    expect(readSamplingText(name, text)).toEqual({ kind: 'value', value })
  })

  test.each<[SamplingName, string, string]>([
    ['temperature', 'hot', 'must be a number from 0 to 100'],
    ['ignore_eos', 'yes', 'must be true or false'],
    ['stop_token_ids', '1 a', 'must be at most 1000 token ids'],
    ['logit_bias', '5 = 1', 'must be token ids, each with a number from -100 to 100'],
    ['json_schema', '{', 'must be a JSON Schema, a JSON object as text'],
    ['custom_params', '[]', 'must be a JSON object'],
    ['stop_regex', 'x'.repeat(257), 'must be at most 32 regular expressions of at most 256 bytes each'],
  ])('refuses the text of %s: %j', (name, text, why) => {
    expect(readSamplingText(name, text)).toEqual({ kind: 'problem', why })
  })

  test.each<SamplingName>(['temperature', 'stop', 'stop_token_ids'])(
    'gives no value for an empty field of %s',
    (name) => {
      for (const text of ['', '  ', name === 'stop_token_ids' ? ' , ' : '\n\n'])
        expect(readSamplingText(name, text)).toEqual({ kind: 'nothing' })
    },
  )
})
