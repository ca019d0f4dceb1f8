import { expect, test } from 'vitest'
import { explainIgnored } from './ignored-parameters.ts'

test('explainIgnored reports parameters that routers drop, and unknown ones, only for a router', () => {
  expect(explainIgnored('logit_bias', { kind: 'router' })).toContain('routers drop it')
  expect(explainIgnored('new_one', { kind: 'router' })).toContain('routers drop it')
  expect(explainIgnored('top_p', { kind: 'router' })).toBeUndefined()
  expect(explainIgnored('new_one', { kind: 'server', version: '0.4.0' })).toBeUndefined()
})

test('explainIgnored reports parameters that are newer than the server', () => {
  expect(explainIgnored('stop_regex', { kind: 'server', version: '0.5.2' })).toBe(
    'SGLang supports it since version 0.5.5; this server is version 0.5.2.',
  )
  expect(explainIgnored('stop_regex', { kind: 'server', version: '0.5.5' })).toBeUndefined()
  expect(explainIgnored('stop_regex', {})).toBeUndefined()
})

test('explainIgnored reports a seed if the server runs without deterministic inference', () => {
  expect(explainIgnored('sampling_seed', { deterministicInference: false })).toContain('no effect')
  expect(explainIgnored('sampling_seed', { deterministicInference: true })).toBeUndefined()
  expect(explainIgnored('sampling_seed', {})).toBeUndefined()
})
