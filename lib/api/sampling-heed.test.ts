import { expect, test } from 'vitest'
import { unheededNote } from './sampling-heed.ts'

test('unheededNote reports parameters that routers drop, and unknown ones, only for a router', () => {
  expect(unheededNote('logit_bias', { kind: 'router' })).toContain('routers drop it')
  expect(unheededNote('new_one', { kind: 'router' })).toContain('routers drop it')
  expect(unheededNote('top_p', { kind: 'router' })).toBeUndefined()
  expect(unheededNote('new_one', { kind: 'server', version: '0.4.0' })).toBeUndefined()
})

test('unheededNote reports parameters that are newer than the server', () => {
  expect(unheededNote('stop_regex', { kind: 'server', version: '0.5.2' })).toBe(
    'SGLang supports it since version 0.5.5; this server is version 0.5.2.',
  )
  expect(unheededNote('stop_regex', { kind: 'server', version: '0.5.5' })).toBeUndefined()
  expect(unheededNote('stop_regex', {})).toBeUndefined()
})

test('unheededNote reports a seed if the server runs without deterministic inference', () => {
  expect(unheededNote('sampling_seed', { deterministicInference: false })).toContain('no effect')
  expect(unheededNote('sampling_seed', { deterministicInference: true })).toBeUndefined()
  expect(unheededNote('sampling_seed', {})).toBeUndefined()
})
