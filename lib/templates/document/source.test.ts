import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LabSource, linkedSource, sourceLink, sourceText } from './source.ts'

test('a link of the template lab opens the same source', () => {
  const name = fc.string({ minLength: 1 })
  const source: fc.Arbitrary<LabSource> = fc.oneof(
    fc.record({ kind: fc.constantFrom('sample' as const, 'server' as const), name }),
    fc.record({
      kind: fc.constant('tokenizer' as const),
      name: name.filter((text) => !text.includes('#')),
      template: fc.option(
        name.filter((text) => !text.includes('#')),
        { nil: undefined },
      ),
    }),
  )
  fc.assert(
    fc.property(source, (one) => {
      expect(linkedSource(sourceLink(one) ?? '')).toEqual(one)
    }),
  )
})

test('a file and a trajectory have no link to their source, and other texts name no source', () => {
  expect(sourceLink({ kind: 'file', name: 'x' })).toBeUndefined()
  expect(sourceLink({ kind: 'trajectory', key: 'x' })).toBeUndefined()
  expect(['', 'sample:', 'file:x', 'x'].map(linkedSource)).toEqual([undefined, undefined, undefined, undefined])
})

test('the name of a source says where the template comes from', () => {
  const sources: readonly LabSource[] = [
    { kind: 'sample', name: 'chatml' },
    { kind: 'file', name: 'mine.jinja' },
    { kind: 'server', name: 'local' },
    { kind: 'trajectory', key: 'k' },
    { kind: 'tokenizer', name: 'org/model', template: undefined },
    { kind: 'tokenizer', name: 'org/model', template: 'tool_use' },
  ]
  expect(sources.map(sourceText)).toEqual([
    'chatml',
    'mine.jinja',
    'server local',
    'trajectory k',
    'org/model',
    'org/model, tool_use',
  ])
})
