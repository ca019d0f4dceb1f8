import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Services } from '../services.ts'
import { addNote } from './labels.ts'
import { repairChoiceSchema, repairTrajectory } from './repairs.ts'

let store: TrajectoryStore
beforeEach(() => {
  store = openTrajectoryStore(folderOfTest(), { now: () => new Date() })
})
afterEach(() => store.close())

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

test('An undone repair restores the tokens of the file and leaves no record of the repair; a second time nothing is undone', () => {
  const key = store.add(padded)
  repairTrajectory(key, { name: 'trailing-padding' }, services())
  store.label(key, { title: 'Kept' })
  expect(repairTrajectory(key, { name: 'trailing-padding', undo: true }, services())).toEqual({
    ...padded,
    title: 'Kept',
  })
  expect(store.get(key)).toEqual({ ...padded, title: 'Kept' })
  expect(() => repairTrajectory(key, { name: 'trailing-padding', undo: true }, services())).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ status: 409, code: 'NOTHING_TO_UNDO' }) }),
  )
})

test('A repair hides the notes on tokens that it removes, and they are back when it is undone', () => {
  const notes = [
    { id: '1', start: 0, end: 2, text: 'kept' },
    { id: '2', start: 4, end: 6, text: 'padding' },
  ]
  const key = store.add({ ...padded, notes })
  const repaired = repairTrajectory(key, { name: 'trailing-padding' }, services())
  expect(repaired.notes).toEqual(notes.slice(0, 1))
  expect(store.get(key)).toEqual(repaired)
  // A note that is written meanwhile has an id of its own, and the hidden one stays.
  const added = { id: '3', start: 1, end: 2, text: 'written meanwhile' }
  expect(addNote(key, { start: 1, end: 2, text: added.text }, services()).notes).toEqual([notes[0], added])
  repairTrajectory(key, { name: 'trailing-padding', undo: true }, services())
  expect(store.get(key)).toEqual({ ...padded, notes: [notes[0], added, notes[1]] })
})

test('A record of a repair that would restore an invalid trajectory is refused, and nothing is stored', () => {
  const [response, padding] = padded.segments
  if (!response || !padding) throw new Error('the trajectory has two segments')
  const undo = { kind: 'tokens', from: 1, kept: 0, segments: [{ ...padding, logprobs: [-1] }] } as const
  const forged: Trajectory = {
    ...padded,
    segments: [response],
    provenance: {
      kind: 'import',
      format: 'verl',
      lacked: [],
      repairs: [{ name: 'trailing-padding', message: 'Removed.', undo }],
    },
  }
  const key = store.add(forged)
  expect(() => repairTrajectory(key, { name: 'trailing-padding', undo: true }, services())).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: 'NOTHING_TO_UNDO' }) }),
  )
  expect(store.get(key)).toEqual(forged)
})

test('A repair is refused during a run, and under an unknown name', () => {
  const key = store.add({ ...padded, outcome: { kind: 'running' } })
  expect(() => repairTrajectory(key, { name: 'trailing-padding' }, services())).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: 'RUNNING' }) }),
  )
  expect(repairChoiceSchema.safeParse({ name: 'other' }).success).toBe(false)
})
