import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Trajectory } from '../format/trajectory.ts'
import { servedFacts } from './served.ts'

const recorded: Trajectory = {
  ...sample,
  model: { ...sample.model, tokenizer: { name: 'bytes', fingerprint: 'f', specialIds: [] } },
  segments: sample.segments.map((segment) =>
    segment.kind === 'response' ? { ...segment, weightVersions: [{ version: '1', start: 0, end: 1 }] } : segment,
  ),
}
const verdicts = (...asked: Parameters<typeof servedFacts>) => servedFacts(...asked).map(({ verdict }) => verdict)
const server = { name: 's', modelName: 'tiny', weightVersion: '1', tokenizer: { name: 'bytes', fingerprint: 'f' } }

test('servedFacts recognises the same model, weights and tokenizer', () => {
  expect(verdicts(recorded, server, ['1'])).toEqual(['same', 'same', 'same'])
  expect(verdicts(recorded, server, [])).toEqual(['same', 'same', 'same'])
})

test('servedFacts names differences next to the recorded values', () => {
  const other = { ...server, modelName: 'big', tokenizer: { name: 'bytes', fingerprint: 'g' } }
  expect(servedFacts(recorded, other, ['1', '2'])).toEqual([
    { name: 'model', verdict: 'other', text: 'big; recorded: tiny' },
    { name: 'weights', verdict: 'other', text: '1, 2; recorded: 1' },
    { name: 'tokenizer', verdict: 'other', text: 'bytes, but different' },
  ])
})

test('servedFacts reports a value as unknown if one side lacks it', () => {
  expect(servedFacts(sample, { name: 's', modelName: 'tiny' }, ['3'])).toEqual([
    { name: 'model', verdict: 'same', text: 'tiny, as recorded' },
    { name: 'weights', verdict: 'unknown', text: '3; not recorded' },
    { name: 'tokenizer', verdict: 'unknown', text: 'not reported by the server' },
  ])
  expect(servedFacts(sample, { name: 's' }, [])[1]).toMatchObject({
    verdict: 'unknown',
    text: 'not reported by the server',
  })
  const byServer = {
    ...recorded,
    model: { ...recorded.model, tokenizer: { name: 'x', source: 'server' as const, fingerprint: 'f', specialIds: [] } },
  }
  expect(verdicts(byServer, server, ['1'])[2]).toBe('unknown')
})
