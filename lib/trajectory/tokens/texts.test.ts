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
  ['a file of ids', imported, [true, true]],
  ['a file without segments', { ...imported, segments: [] }, [false, true]],
  [
    'a file of ids with a tokenizer',
    { ...imported, model: { tools: [], tokenizer: { name: 't', specialIds: [] } }, vocab: sample.vocab },
    [false, true],
  ],
  ['a recording of ids', { ...imported, provenance: { kind: 'recorded' } }, [true, true]],
  ['a recording with texts', { ...imported, vocab: sample.vocab, provenance: { kind: 'recorded' } }, [false, false]],
  ['a file of a run', { ...sample, provenance: imported.provenance }, [false, false]],
])('lacksTexts and takesTokenizer judge %s by its texts and its tokenizer', (_what, trajectory, expected) => {
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
