import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Trajectory } from '../format/trajectory.ts'
import { isTextOnly, lacksTexts, takesEncoding, takesTokenizer } from './texts.ts'

const imported: Trajectory = {
  ...sample,
  model: { tools: [] },
  vocab: {},
  provenance: { kind: 'import', format: 'slime', lacked: [] },
}

test.each<[string, Trajectory, readonly [lacks: boolean, takes: boolean]]>([
  ['a run', sample, [false, false]],
  ['ids from a file', imported, [true, true]],
  ['nothing from a file', { ...imported, segments: [] }, [false, true]],
  [
    'ids from a file, told',
    { ...imported, model: { tools: [], tokenizer: { name: 't', specialIds: [] } }, vocab: sample.vocab },
    [false, true],
  ],
  ['ids from elsewhere', { ...imported, provenance: { kind: 'recorded' } }, [true, true]],
  ['texts from elsewhere', { ...imported, vocab: sample.vocab, provenance: { kind: 'recorded' } }, [false, false]],
  ['a run from a file', { ...sample, provenance: imported.provenance }, [false, false]],
])('%s', (_what, trajectory, expected) => {
  expect([lacksTexts(trajectory), takesTokenizer(trajectory)]).toEqual(expected)
})

test('a trajectory is text only if a file gave messages and no ids, and then takes a tokenizer that encodes them', () => {
  const asked: Trajectory = {
    ...imported,
    segments: [{ kind: 'prompt', ids: [], messages: [{ role: 'user', content: 'hi' }] }],
  }
  const replied: Trajectory = {
    ...imported,
    segments: [{ kind: 'response', ids: [], thinks: [], toolCalls: [], message: { content: 'hi' } }],
  }
  const empty: Trajectory = { ...imported, segments: [{ kind: 'prompt', ids: [], messages: [] }] }
  const all = [asked, replied, empty, imported, { ...asked, provenance: sample.provenance }]
  expect(all.map(isTextOnly)).toEqual([true, true, false, false, false])
  expect([takesTokenizer(asked), takesTokenizer(empty)]).toEqual([true, true])
  expect([takesEncoding(asked), takesEncoding(empty)]).toEqual([true, false])
})
