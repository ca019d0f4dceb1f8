import { expect, test } from 'vitest'
import { type Trajectory, trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { listDroppedContent, listDroppedForeignFields } from './export-losses.ts'

/** A trajectory with every optional field. */
const filled: Trajectory = {
  ...sampleTrajectory,
  title: 'Sums',
  tags: ['a'],
  note: 'b',
  notes: [{ id: '1', start: 0, end: 1, text: 'e' }],
  reward: 1,
  group: { id: 'g', index: 0 },
  problems: [{ kind: 'file', message: 'c' }],
  columnMeanings: { entropy: { quantity: 'entropy', model: 'rollout' } },
  forkedFrom: { trajectory: 'd', token: 3, kind: 'forced' },
  routedExperts: ['AAAAAA=='],
  imageData: ['data:image/png;base64,AA=='],
  foreign: { slime: { label: '5' } },
}
const optional = Object.entries(trajectorySchema.shape).flatMap(([name, field]) =>
  field.safeParse(undefined).success ? [name as keyof Trajectory] : [],
)
const bare: Trajectory = {
  ...Object.fromEntries(Object.entries(filled).filter(([name]) => !optional.includes(name as keyof Trajectory))),
  ...{ format: filled.format, id: filled.id, createdAt: filled.createdAt, provenance: filled.provenance },
  ...{ model: { tools: [] }, vocab: {}, segments: [], outcome: { kind: 'ended', reason: 'unknown' } },
}
const lossesOf = (trajectory: Trajectory) => [
  ...listDroppedContent(trajectory, []),
  ...listDroppedForeignFields(trajectory, 'other'),
]

test('A trajectory without optional fields loses nothing in an export', () => {
  expect(lossesOf(bare)).toEqual([])
})

test('An export names the tokenizer that encoded the messages of a file without ids', () => {
  const encodedAgain = { tokenizer: 'org/name', template: true, mask: 'replies' }
  const provenance = { kind: 'import', format: 'chat', lacked: [], encodedAgain } as const
  expect(lossesOf({ ...bare, provenance })).toEqual([
    'the mark that the ids were encoded again by org/name: no model read or sampled them',
  ])
})

test('An export that does not keep which tokens a branch inserted reports it', () => {
  const forced = [{ start: 0, end: 1, as: 'text' as const }]
  expect(lossesOf({ ...bare, segments: [{ kind: 'response', ids: [1], thinks: [], toolCalls: [], forced }] })).toEqual([
    'which tokens a branch inserted',
  ])
})

test.each(optional)('An export that does not keep the field %s of a trajectory reports the loss', (name) => {
  expect(filled).toHaveProperty(name)
  expect(lossesOf({ ...bare, [name]: filled[name] })).toHaveLength(1)
})
