/** Reads our exported files with the programs that they are for: harbor, verifiers, datasets and torchrl. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { writableFormats } from '#lib/formats/registry.ts'
import { chatMessagesBySegment } from '#lib/formats/writing/chat-messages.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, logprobs, lossMask, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { python } from '../set-up/python.ts'

const interpreter = inject('exports')
const trajectories = ['two-steps', 'parallel-calls'].map(
  (name): Trajectory => ({ ...exampleTrajectory(name), reward: 0.5 }),
)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-exports-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes all trajectories as the library does, and returns what the program reads. */
async function readBack(format: string): Promise<unknown> {
  const writer = writableFormats.find(({ name }) => name === format)
  if (!writer) throw new Error(`${format} is not written`)
  const records = trajectories.map((trajectory) => writer.write(trajectory).value)
  const file = path.join(folder, format)
  writeFileSync(
    file,
    writer.encoding
      ? Buffer.concat([...writer.encoding.encode(records)])
      : records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  )
  return python(interpreter, 'files/read_exports.py', [format, file], null)
}

const callsOf = (trajectory: Trajectory) =>
  toolCallsOf(trajectory).flatMap((call) => (call.kind === 'parsed' ? [[call.name, call.input]] : []))
const rolesOf = (trajectory: Trajectory) =>
  chatMessagesBySegment(trajectory)
    .flat()
    .map(({ role }) => role)
const responsesOf = ({ segments }: Trajectory) => segments.filter(({ kind }) => kind === 'response')

test('Harbor’s Trajectory reads the ids, logprobs, calls and results of an exported file', async () => {
  expect(await readBack('atif')).toEqual(
    trajectories.map((trajectory) => ({
      ids: ids(trajectory),
      completions: responsesOf(trajectory).map(({ ids }) => ids),
      logprobs: responsesOf(trajectory).map(({ logprobs }) => logprobs),
      steps: rolesOf(trajectory).flatMap((role) => (role === 'tool' ? [] : [role === 'assistant' ? 'agent' : role])),
      calls: callsOf(trajectory),
      results: toolCallsOf(trajectory).map(({ result }) => result?.text),
    })),
  )
})

test('The Trace of verifiers reads one branch with the ids, mask, logprobs and reward of an exported file', async () => {
  expect(await readBack('verifiers')).toEqual(
    trajectories.map((trajectory) => {
      const mask = lossMask(trajectory)
      return {
        ids: ids(trajectory),
        mask,
        logprobs: logprobs(trajectory).map((score, token) => (mask[token] === 1 ? score : 0)),
        roles: rolesOf(trajectory),
        reward: 0.5,
      }
    }),
  )
})

test('TorchRL’s classes read the ids, mask, logprobs and text of an exported file', async () => {
  expect(await readBack('torchrl')).toEqual(
    trajectories.map((trajectory) => {
      const mask = lossMask(trajectory)
      return {
        ids: ids(trajectory),
        mask,
        // Its tensors have 32 bits.
        logprobs: logprobs(trajectory).flatMap((score, token) => (mask[token] === 1 ? [Math.fround(score ?? 0)] : [])),
        text: textOf(ids(trajectory), trajectory.vocab),
      }
    }),
  )
})

test('Hugging Face datasets reads the messages, ids, mask and logprobs of an exported Parquet file', async () => {
  expect(await readBack('parquet')).toEqual(
    trajectories.map((trajectory) => ({
      ids: ids(trajectory),
      mask: lossMask(trajectory),
      logprobs: logprobs(trajectory),
      roles: rolesOf(trajectory),
      calls: callsOf(trajectory),
      reward: 0.5,
    })),
  )
})
