import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { type HealthFinding, healthSchema } from './health.ts'
import { trainedSpans } from './trained-spans.ts'
import { countUntrainedTokens, cutFinding, type TrainerCut, trainedFrom } from './trainer-cut.ts'

const spans = [3, 8, 10, 12]
const finding = (tokens: number, overlong: TrainerCut['overlong']) => cutFinding(spans, 20, { tokens, overlong })

test('trainedSpans returns the spans of the loss masks', () => {
  expect(trainedSpans(sample.segments)).toEqual([3, 8, 10, 11])
  expect(trainedSpans([])).toEqual([])
  const response = (mask: readonly (0 | 1)[]) =>
    ({ kind: 'response', ids: mask.map((_, id) => id), mask, thinks: [], toolCalls: [] }) as const
  const adjacent = [response([1, 0, 1]), response([]), response([1, 1]), response([0, 1]), response([0])]
  expect(trainedSpans(adjacent)).toEqual([0, 1, 2, 5, 6, 7])
})

test('trainedFrom counts trained tokens from a position on', () => {
  expect([0, 3, 5, 8, 9, 11, 12].map((from) => trainedFrom(spans, from))).toEqual([7, 7, 5, 2, 2, 1, 0])
})

test('cutFinding is undefined for a trajectory within the trainer’s context', () => {
  for (const overlong of ['cut', 'mask', 'drop'] as const) {
    expect(cutFinding(spans, 20, { tokens: 20, overlong })).toBeUndefined()
    expect(countUntrainedTokens(spans, 20, { tokens: 21, overlong })).toBe(0)
  }
})

test('cutFinding reports trained tokens after the trainer’s last position with their ranges', () => {
  expect(finding(7, 'cut')).toMatchObject({
    kind: 'lost-after-cut',
    label: '3 trained tokens lost after position 7',
    count: 3,
    places: [
      { start: 7, end: 8 },
      { start: 10, end: 12 },
    ],
  })
  expect(finding(11, 'cut')?.label).toBe('1 trained token lost after position 11')
  expect(finding(12, 'cut')).toBeUndefined()
})

test('cutFinding reports all trained tokens if the trainer masks or drops a longer trajectory', () => {
  expect(finding(19, 'mask')).toMatchObject({ kind: 'masked-by-cut', count: 7, places: [] })
  expect(finding(19, 'drop')).toMatchObject({ label: 'dropped by the trainer’s cut at 19', count: 7 })
  expect(cutFinding([], 20, { tokens: 1, overlong: 'drop' })).toBeUndefined()
})

test('cutFinding returns a finding of the health schema', () => {
  const findings = (['cut', 'mask', 'drop'] as const).map((overlong) => finding(5, overlong) as HealthFinding)
  expect(healthSchema.safeParse({ findings, checks: [] }).success).toBe(true)
})
