import { expect, test } from 'vitest'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { BUILT_IN_PRESETS, samplingChanges } from './presets.ts'
import { parseSamplingTexts } from './sampling-form.ts'

test('each built-in preset can be sent and sets the fields that it names', () => {
  for (const { name, sampling } of BUILT_IN_PRESETS) {
    const texts = { ...DEFAULT_SETUP.sampling, ...sampling }
    expect(parseSamplingTexts(texts).errors, name).toEqual({})
    expect(samplingChanges(texts, sampling)).toEqual([])
  }
})

test('samplingChanges lists each field that a preset would change', () => {
  expect(samplingChanges(DEFAULT_SETUP.sampling, { temperature: '0', top_p: '1', max_new_tokens: '' })).toEqual([
    { field: 'max_new_tokens', from: '512', to: '' },
    { field: 'temperature', from: '0.7', to: '0' },
  ])
})

test('the RL preset has no truncation and no penalty', () => {
  const rl = BUILT_IN_PRESETS.find(({ name }) => name.includes('RL'))
  const texts = { ...DEFAULT_SETUP.sampling, top_k: '5', frequency_penalty: '1', ...rl?.sampling }
  expect(parseSamplingTexts(texts).sampling).toEqual({ temperature: 1, top_p: 1, max_new_tokens: 512 })
})
