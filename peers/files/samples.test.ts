/** Reads our files in trainers' formats with the classes that they are for: strands-sglang's own, and slime's as documented. */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { writableFormats } from '#lib/formats/registry.ts'
import { numberSamples, type SampleNumbers } from '#lib/formats/writing/group-numbers.ts'
import { readableJson } from '#lib/json/readable-json.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { python } from '../set-up/python.ts'

const { python: interpreter } = inject('strands')

/** The examples as two groups whose samples alternate. */
const trajectories = globSync('public/examples/*.json').map((file, n): Trajectory => {
  const decoded = decode(readFileSync(file, 'utf8'))
  if (!decoded.ok) throw new Error(`${file} cannot be read`)
  return { ...decoded.trajectory, group: { id: `group-${n % 2}`, index: Math.floor(n / 2) } }
})

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-files-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes a file for each trajectory, as the page does, and one with a line for each, as the library does. */
function write(format: string): { readonly values: readonly object[]; readonly files: readonly string[] } {
  const written = (trajectory: Trajectory, numbers?: SampleNumbers) => {
    const record = writableFormats.find(({ name }) => name === format)?.write(trajectory, numbers)
    if (!record) throw new Error(`${format} is not written`)
    return record.value
  }
  const values = trajectories.map((trajectory) => written(trajectory))
  const numbers = numberSamples(trajectories.map(({ group }) => group))
  const lines = trajectories.map((trajectory, at) => `${JSON.stringify(written(trajectory, numbers[at]))}\n`)
  const texts = [...values.map(readableJson), lines.join('')]
  const files = texts.map((text, index) => {
    const file = path.join(folder, `${format}-${index}`)
    writeFileSync(file, text)
    return file
  })
  return { values, files }
}

const sum = (numbers: readonly (number | null)[]): number => numbers.reduce<number>((a, b) => a + (b ?? 0), 0)
const twice = <T>(list: readonly T[]): T[] => [...list, ...list]

test('strands-sglang’s Rollout reads Rollscope’s file, and writes it again unchanged', async () => {
  expect(trajectories.length).toBeGreaterThanOrEqual(4)
  const { values, files } = write('strands-sglang')
  const read = await python(interpreter, 'files/read_strands.py', files, null)
  expect(read).toEqual(
    twice(trajectories).map((trajectory, index) => ({
      tokens: ids(trajectory).length,
      trained: sum(lossMask(trajectory)),
      idSum: sum(ids(trajectory)),
      logprobSum: expect.closeTo(sum(logprobs(trajectory)), 9),
      segments: trajectory.segments.length,
      initialPromptLength: trajectory.segments[0]?.ids.length,
      again: twice(values)[index],
    })),
  )
})

test('slime’s Sample, built from its documented fields, reads Rollscope’s file', async () => {
  const { files } = write('slime')
  const read = await python(interpreter, 'files/read_slime.py', files, null)
  const half = Math.ceil(trajectories.length / 2)
  expect(read).toEqual(
    twice(trajectories).map((trajectory, n) => {
      const isAlone = n < trajectories.length
      const group = isAlone || trajectory.group?.id === 'group-0' ? 0 : 1
      const from = trajectory.segments[0]?.ids.length ?? 0
      return {
        tokens: ids(trajectory).length,
        idSum: sum(ids(trajectory)),
        responseLength: ids(trajectory).length - from,
        responseCharacters: expect.any(Number),
        trained: sum(lossMask(trajectory)),
        logprobSum: expect.closeTo(sum(logprobs(trajectory).slice(from)), 9),
        status: 'COMPLETED',
        group,
        index: (trajectory.group?.index ?? 0) + group * half,
        reward: trajectory.reward ?? null,
      }
    }),
  )
})
