import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'

/** Returns a trajectory of one prompt segment with these ids and nothing else. */
export const trajectoryOfIds = (ids: readonly number[]): Trajectory => ({
  format: FORMAT,
  id: 'ids',
  createdAt: '1970-01-01T00:00:00.000Z',
  model: { tools: [] },
  vocab: {},
  segments: [{ kind: 'prompt', ids, messages: [] }],
  outcome: { kind: 'ended', reason: 'unknown' },
  provenance: { kind: 'recorded' },
})
