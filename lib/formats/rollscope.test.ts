import { expect, test } from 'vitest'
import { readableJson } from '#lib/json/readable-json.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { RecordSource } from './format.ts'
import { writableFormats } from './registry.ts'
import { rollscope } from './rollscope.ts'

const source: RecordSource = { file: 'a.json', now: '2026-01-01T00:00:00.000Z', newId: () => 'new' }

test('rollscope format writes the file of encode and reads it back unchanged', () => {
  const live: LiveTrajectory = { ...sample, live: { runningCalls: {} } }
  const { value, losses } = rollscope.write?.(live) ?? {}
  expect(readableJson(value ?? {})).toBe(encode(sample))
  expect(losses).toEqual([])
  expect(rollscope.read(value, source)).toEqual({ ok: true, trajectories: [sample] })
})

test.each<[unknown, boolean]>([
  [sample, true],
  [{ format: 'rollscope.trajectory/9' }, true],
  [{ format: 'other' }, false],
  [{ format: 1 }, false],
  [[sample], false],
  [null, false],
  ['rollscope.trajectory/1', false],
])('is recognised by its format field: %#', (value, is) => {
  expect(rollscope.sniff(value)).toBe(is)
})

test('rollscope format can be exported', () => {
  expect(writableFormats).toContain(rollscope)
})
