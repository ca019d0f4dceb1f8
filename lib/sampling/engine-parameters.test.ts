import { describe, expect, test } from 'vitest'
import { ENGINE_PARAMETERS, unsupportedParameter } from './engine-parameters.ts'
import { type SamplingName, samplingNames } from './parameters.ts'

describe.each(['llama.cpp', 'vllm', 'openai'] as const)('The parameter table of %s', (engine) => {
  test.each(samplingNames)('takes %s by a name, or refuses it by name with a remedy', (name: SamplingName) => {
    const refused = unsupportedParameter(engine, { [name]: 1 })
    if (ENGINE_PARAMETERS[engine][name] !== undefined) expect(refused).toBeUndefined()
    else {
      expect(refused).toMatchObject({ name, isFurther: false, hint: expect.stringMatching(/^Remove it/) })
      expect(refused?.detail).toMatch(new RegExp(`no parameter for ${name}\\.$`))
    }
  })

  test('refuses a further parameter that the engine would ignore silently', () => {
    expect(unsupportedParameter(engine, { further: { no_such_parameter: 1 } })).toMatchObject({
      name: 'no_such_parameter',
      isFurther: true,
    })
  })
})

test('Parameters that are undefined, and those of SGLang, are never refused', () => {
  expect(unsupportedParameter('llama.cpp', { stop_regex: undefined, further: { mirostat: 2 } })).toBeUndefined()
  expect(unsupportedParameter('sglang', { watermark: {}, further: { new_one: 1 } })).toBeUndefined()
})
