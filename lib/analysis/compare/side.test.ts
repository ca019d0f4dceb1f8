import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { counterpart, type Reconstruction, readSide, type Side, sideText, type TemplateChoice } from './side.ts'

const name = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.isWellFormed())
const template: fc.Arbitrary<TemplateChoice> = fc.oneof(
  fc.record({ kind: fc.constant('tokenizer' as const), name }),
  fc.record({ kind: fc.constant('trajectory' as const), key: name }),
  fc.constant({ kind: 'lab' as const }),
)
const as: fc.Arbitrary<Reconstruction> = fc.oneof(
  fc.record({ kind: fc.constantFrom('recorded' as const, 'read' as const) }),
  fc.record({ kind: fc.constant('text' as const), tokenizer: name }, { requiredKeys: ['kind'] }),
  fc.record(
    { kind: fc.constantFrom('structured' as const, 'raw' as const), tokenizer: name, template },
    { requiredKeys: ['kind'] },
  ),
)
const side: fc.Arbitrary<Side> = fc.record({ key: name, as })

test('readSide reads every side from its text', () => {
  fc.assert(
    fc.property(side, (one) => {
      expect(readSide(sideText(one))).toEqual(one)
    }),
  )
})

test('sideText leaves names of files and of examples unescaped', () => {
  expect(sideText({ key: 'example:two-steps', as: { kind: 'text', tokenizer: 'Qwen/Qwen3-8B' } })).toBe(
    'example:two-steps~text~tokenizer=Qwen/Qwen3-8B',
  )
})

test.each([
  '',
  '~text',
  'a~sideways',
  'a~recorded',
  'a~text~template=lab',
  'a~text~tokenizer=',
  'a~raw~template=x',
  'a~raw~colour=red',
  '%',
])('readSide refuses %j', (text) => {
  expect(readSide(text)).toBeUndefined()
})

const recorded = { key: 'a', as: { kind: 'recorded' } } as const

test('a recorded side is compared with its chat pipeline by default', () => {
  expect(counterpart(recorded, sample).as.kind).toBe('structured')
})

test('a run over a chat endpoint is compared with what the server read by default', () => {
  const provenance = { kind: 'rollout', application: 'a', endpoint: 'chat' } as const
  expect(counterpart(recorded, { ...sample, provenance }).as.kind).toBe('read')
})

test('a side without messages or a template is compared with its text by default', () => {
  const { template: _, ...model } = sample.model
  const segments = sample.segments.map((segment) =>
    segment.kind === 'prompt' ? { ...segment, messages: [] } : segment,
  )
  expect(counterpart(recorded, { ...sample, model }).as.kind).toBe('text')
  expect(counterpart(recorded, { ...sample, segments }).as.kind).toBe('text')
})

test('a reconstructed side is compared with the recorded one by default', () => {
  expect(counterpart({ key: 'a', as: { kind: 'raw' } }, sample)).toEqual(recorded)
})

test('a chat baseline is compared with what its server read by default', () => {
  const provenance = { kind: 'rollout', application: 'x', endpoint: 'chat' } as const
  expect(counterpart(recorded, { ...sample, provenance }).as.kind).toBe('read')
})
