/** Reads our exported files with the programs that they are for: harbor, verifiers, datasets, torchrl, verl, SkyRL, openai and pandas. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { writableFormats } from '#lib/formats/registry.ts'
import { chatMessagesBySegment } from '#lib/formats/writing/chat-messages.ts'
import { encodeRecords } from '#lib/formats/writing/writer.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, logprobs, lossMask, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { python } from '../set-up/python.ts'

const interpreter = inject('exports')
const trajectories = ['two-steps', 'parallel-calls'].map(
  (name): Trajectory => ({ ...exampleTrajectory(name), reward: 0.5, title: '=1+1' }),
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
      ? encodeRecords(writer.encoding, records)
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

test('Hugging Face datasets reads the messages, ids, labels, mask and logprobs of an exported Parquet file', async () => {
  expect(await readBack('parquet')).toEqual(
    trajectories.map((trajectory) => ({
      ids: ids(trajectory),
      labels: ids(trajectory).map((id, token) => (lossMask(trajectory)[token] === 1 ? id : -100)),
      mask: lossMask(trajectory),
      logprobs: logprobs(trajectory),
      roles: rolesOf(trajectory),
      calls: callsOf(trajectory),
      reward: 0.5,
    })),
  )
})

/** Returns the arrays of verl and SkyRL: the first prompt, and everything after it. */
const responseOf = (trajectory: Trajectory) => {
  const prompt = trajectory.segments[0]?.ids ?? []
  const mask = lossMask(trajectory).slice(prompt.length)
  return {
    prompt,
    response: ids(trajectory).slice(prompt.length),
    mask,
    logprobs: logprobs(trajectory)
      .slice(prompt.length)
      .filter((_, token) => mask[token] === 1),
    reward: 0.5,
  }
}

test('The AgentLoopOutput of verl makes tensors of the ids, mask, logprobs and reward of an exported file', async () => {
  expect(await readBack('verl')).toEqual(
    trajectories.map((trajectory) => {
      const { logprobs, ...rest } = responseOf(trajectory)
      const turns = trajectory.segments.filter(({ ids }) => ids.length > 0).length
      // Its tensors have 32 bits.
      return { ...rest, logprobs: logprobs.map((score) => Math.fround(score ?? 0)), turns }
    }),
  )
})

test('SkyRL accepts the GeneratorOutput of an exported file, with the ids, mask, logprobs and reward', async () => {
  expect(await readBack('skyrl')).toEqual(trajectories.map(responseOf))
})

test('The types of the openai package accept the messages and tools of an exported file', async () => {
  expect(await readBack('openai-messages')).toEqual(
    trajectories.map((trajectory) => ({
      roles: rolesOf(trajectory),
      calls: callsOf(trajectory),
      tools: trajectory.model.tools.map(({ name }) => name),
    })),
  )
})

test('Hugging Face datasets and transformers render the arguments of exported messages for chat templates as objects', async () => {
  expect(await readBack('template-messages')).toEqual(
    trajectories.map((trajectory) => ({ roles: rolesOf(trajectory), calls: callsOf(trajectory) })),
  )
})

test('pandas reads one row for each trajectory of an exported CSV file, and a formula in it as text', async () => {
  const rows = await readBack('csv')
  expect(rows).toEqual(
    trajectories.map((trajectory) => ({
      id: trajectory.id,
      reward: 0.5,
      tokens: ids(trajectory).length,
      trained_tokens: lossMask(trajectory).filter((bit) => bit === 1).length,
      title: "'=1+1",
      tool_calls: toolCallsOf(trajectory).length,
    })),
  )
})
