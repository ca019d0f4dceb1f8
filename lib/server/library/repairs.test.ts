import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Services } from '../services.ts'
import { repairChoiceSchema, repairTrajectory } from './repairs.ts'

let folder: string
let store: TrajectoryStore
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-repairs-'))
  store = openTrajectoryStore(folder, { now: () => new Date() })
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true, force: true })
})

const padded: Trajectory = {
  ...sample,
  model: { tools: [] },
  vocab: {},
  segments: [
    { kind: 'response', ids: [1, 2], thinks: [], toolCalls: [] },
    { kind: 'prompt', ids: [9, 9, 9, 9, 9, 9, 9, 9], messages: [] },
  ],
  provenance: { kind: 'import', format: 'verl', lacked: [] },
}
const services = () => ({ store }) as unknown as Services

test('A repair changes the stored trajectory and is recorded in it; a second one finds nothing', () => {
  const key = store.add(padded)
  repairTrajectory(key, { name: 'trailing-padding' }, services())
  expect(store.get(key)).toMatchObject({
    segments: [{ kind: 'response', ids: [1, 2] }],
    provenance: { repairs: [{ name: 'trailing-padding', message: '8 padding tokens at the end were removed.' }] },
  })
  expect(() => repairTrajectory(key, { name: 'trailing-padding' }, services())).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ status: 409, code: 'NOTHING_TO_REPAIR' }) }),
  )
})

test('A repair is refused during a run, and under an unknown name', () => {
  const key = store.add({ ...padded, outcome: { kind: 'running' } })
  expect(() => repairTrajectory(key, { name: 'trailing-padding' }, services())).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: 'RUNNING' }) }),
  )
  expect(repairChoiceSchema.safeParse({ name: 'other' }).success).toBe(false)
})
