/** Tests the data of the trainer tab for trajectories of every shape. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trainerFormats } from '#lib/formats/registry.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { ids, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { trajectories } from '#testing/trajectories.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { entryAt } from './column.ts'
import { type SheetRow, trainerSheet } from './sheet.ts'
import { trainerArray, trainerFile } from './texts.ts'

function run<Request, Result>(task: InspectTask<Request, unknown, Result>, request: Request, view: TrajectoryView) {
  const steps = task(request, view, [])
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const sheetOf = (format: string | undefined, trajectory: Trajectory) =>
  run(trainerSheet, { format }, pack(trajectory).trajectory)

const rowOf = (format: string, trajectory: Trajectory): SheetRow => {
  const [row] = sheetOf(format, trajectory).rows
  if (!row) throw new Error('a format gives at least one row')
  return row
}

const names = trainerFormats.map(({ name }) => name)

test.each(names)('the trainer sheet of %s puts each entry next to its token', (name) => {
  fc.assert(
    fc.property(trajectories, (trajectory) => {
      const row = rowOf(name, trajectory)
      const own = ids(trajectory)
      const [column] = row.columns
      expect(own.map((_, token) => column && entryAt(column, token))).toEqual(
        own.map((value) => ({ kind: 'entry', value })),
      )
      for (const { entries, expected } of row.columns) expect(entries).toBe(expected)
      for (const { stated, expected } of row.lengths) expect(stated).toBe(expected)
    }),
  )
})

test.each(names)('the trainer sheet of %s has the sums and edges of the loss mask', (name) => {
  fc.assert(
    fc.property(trajectories, (trajectory) => {
      const { mask, turns, edgeMarks, columns } = rowOf(name, trajectory)
      const bits = Array.from(columns.find(({ meaning }) => meaning === 'mask')?.values ?? [])
      const own = lossMask(trajectory)
      expect(mask?.differing).toBe(own.filter((bit, token) => bit !== bits[token]).length)
      if (!['slime', 'verl', 'skyrl'].includes(name)) expect(mask?.differing).toBe(0)
      expect(mask?.trained).toBe(bits.filter((bit) => bit === 1).length)
      expect([mask?.first, mask?.last]).toEqual(
        mask?.trained === 0 ? [undefined, undefined] : [bits.indexOf(1), bits.lastIndexOf(1)],
      )
      for (let at = 0; at < turns.length; at += 4) {
        const [first = 0, last = 0] = [turns[at + 1], turns[at + 2]]
        expect([bits[first], bits[last]]).toEqual([1, 1])
      }
      for (let at = 1; at + 1 < edgeMarks.length; at++)
        expect(edgeMarks[at + 1]).toBeGreaterThanOrEqual(edgeMarks[at] as number)
    }),
  )
})

test('the trainer sheet has slime’s cut after the first prompt, Rollscope’s at every segment, strands-sglang’s nowhere', () => {
  const scored = { ...sample, segments: sample.segments.slice(0, 1) }
  expect(rowOf('slime', sample).cuts).toEqual([{ token: 3, begins: ['loss_mask'], ends: [] }])
  expect(rowOf('strands-sglang', sample).cuts).toEqual([])
  expect(rowOf('rollscope', sample).cuts.map(({ token }) => token)).toEqual([3, 8, 10])
  expect(rowOf('rollscope', sample).cutMarks).toEqual(Int32Array.from([3, 4, 8, 9, 10, 11]))
  expect(rowOf('slime', scored).cuts).toEqual([])
})

test('the trainer sheet lists the turns of the sample', () => {
  const { turns, edgeMarks, mask } = rowOf('strands-sglang', sample)
  expect(Array.from(turns)).toEqual([1, 3, 7, 5, 3, 10, 10, 1])
  expect(Array.from(edgeMarks)).toEqual([3, 4, 7, 8, 10, 11])
  expect(mask).toEqual({ trained: 6, context: 6, first: 3, last: 10, differing: 0 })
})

test('an empty cell of the trainer sheet has one of three meanings', () => {
  const [, mask, logprobs] = rowOf('rollscope', sample).columns
  if (!mask || !logprobs) throw new Error('Rollscope writes both')
  expect(entryAt(mask, 0)).toEqual({ kind: 'implied', value: 0 })
  expect(entryAt(logprobs, 0)).toEqual({ kind: 'entry', value: null })
  expect(entryAt(logprobs, 9)).toEqual({ kind: 'absent' })
  expect(entryAt(logprobs, 99)).toEqual({ kind: 'absent' })
})

test('the trainer sheet falls back to a trainer’s format if the chosen one does not exist', () => {
  for (const name of [undefined, 'nothing']) expect(sheetOf(name, sample).format).toBe('strands-sglang')
  expect(sheetOf('slime', sample).formats.map(({ name }) => name)).toEqual(names)
})

test('the trainer sheet summarizes the other fields of a record', () => {
  const { others, lost } = sheetOf('slime', { ...sample, reward: 0.5, title: 'x'.repeat(200) })
  expect(others).toContainEqual({ name: 'reward', text: '0.5' })
  expect(others).toContainEqual({ name: 'status', text: '"truncated"' })
  expect(others.map(({ name }) => name)).not.toContain('tokens')
  expect(lost).toContain('alternatives')
  const own = sheetOf('rollscope', { ...sample, title: 'x'.repeat(200) }).others
  expect(own.find(({ name }) => name === 'title')?.text).toHaveLength(81)
  expect(own).toContainEqual({ name: 'vocab', text: '10 fields' })
})

test('the trainer’s file and its arrays equal what Export saves', () => {
  fc.assert(
    fc.property(trajectories, fc.constantFrom(...names), (trajectory, format) => {
      const view = pack(trajectory).trajectory
      const { content, mediaType } = run(trainerFile, { format }, view)
      if (mediaType === 'application/json')
        expect(JSON.parse(String(content))).toEqual(
          JSON.parse(JSON.stringify(trainerFormats.find(({ name }) => name === format)?.write(trajectory).value)),
        )
      const [field] = rowOf(format, trajectory).columns.map(({ name }) => name)
      if (field === undefined) throw new Error('every format has ids')
      const json = run(trainerArray, { format, row: 0, field, language: 'json' }, view)
      expect(JSON.parse(json).flat()).toEqual(ids(trajectory))
    }),
  )
  const view = pack(sample).trajectory
  expect(run(trainerFile, { format: 'slime' }, view).name).toBe('trajectory-sample.slime.json')
  expect(run(trainerArray, { format: 'strands-sglang', row: 0, field: 'logprobs', language: 'python' }, view)).toBe(
    '[None,-2,-3,-0.5,-0.25,None,-1,0,None,None,None,None]',
  )
  expect(run(trainerArray, { format: 'slime', row: 0, field: 'rollout_log_probs', language: 'json' }, view)).toBe(
    'null',
  )
  expect(run(trainerArray, { format: 'slime', row: 9, field: 'none', language: 'python' }, view)).toBe('None')
})
