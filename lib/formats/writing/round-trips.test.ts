/** What a writer writes is read back by the reader of its format, or the loss is listed. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#lib/json/json-object.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { exampleTrajectory, source, trajectories } from '#testing/trajectories.ts'
import { openFile } from '../reading/open.ts'
import { atifWriter } from './atif.ts'
import { chatMessagesBySegment, chatTools } from './chat-messages.ts'
import { csvWriter } from './csv.ts'
import { openaiMessagesWriter, templateMessagesWriter } from './openai-messages.ts'
import { parquetWriter } from './parquet.ts'
import { skyrlWriter } from './skyrl.ts'
import { verifiersWriter } from './verifiers.ts'
import { verlWriter } from './verl.ts'
import { encodedFile, type Writer } from './writer.ts'

/** Returns the trajectory of a written file, and the format that reads it; undefined if the file has none. */
async function readBack(writer: Writer, record: object) {
  const { content } = encodedFile(writer, record)
  const bytes = Buffer.from(content)
  const file = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
  const [first, ...others] = await Array.fromAsync(openFile(file, source))
  expect(others).toEqual([])
  return first?.ok ? first : undefined
}

const labelled = fc.record({
  trajectory: trajectories.filter((trajectory) => tokenCount(trajectory) > 0),
  reward: fc.option(fc.double({ min: -10, max: 10, noNaN: true }), { nil: undefined }),
  group: fc.option(fc.record({ id: fc.constantFrom('g', '7'), index: fc.nat(9) }), { nil: undefined }),
})

/** Formats in which 0.0 at an untrained token means that it has no logprob. */
const WITH_FILLERS: readonly Writer[] = [verlWriter, skyrlWriter]

describe('A file is read back with its ids, loss mask, logprobs, reward and group, or the loss is listed:', () => {
  test.each(
    [
      [verlWriter, 'verl'],
      [skyrlWriter, 'skyrl'],
      [parquetWriter, 'token-dataset'],
      [atifWriter, 'atif'],
      [verifiersWriter, 'verifiers'],
    ].map(([writer, format]) => [(writer as Writer).name, writer as Writer, format as string] as const),
  )('%s', async (_, writer, format) => {
    await fc.assert(
      fc.asyncProperty(labelled, async ({ trajectory, reward, group }) => {
        const written: Trajectory = {
          ...trajectory,
          ...(reward !== undefined && { reward }),
          ...(group && { group }),
        }
        const { value, losses } = writer.write(written)
        const isLost = (words: RegExp) => losses.some((loss) => words.test(loss))
        const opened = await readBack(writer, value)
        if (!opened) {
          expect(isLost(/^tokens after the last reply/)).toBe(true)
          return
        }
        const { trajectory: read } = opened
        expect(opened.format.name).toBe(format)
        const length = isLost(/^tokens after the last reply/) ? tokenCount(read) : tokenCount(written)
        expect(ids(read)).toEqual(ids(written).slice(0, length))
        const [mask, readMask] = [lossMask(written).slice(0, length), lossMask(read)]
        const firstReply = written.segments.findIndex(({ kind }) => kind === 'response')
        const prompts = firstReply < 0 ? written.segments : written.segments.slice(0, firstReply)
        const start = isLost(/^loss mask of the first prompt$/) ? tokenCount({ ...written, segments: prompts }) : 0
        expect(readMask.slice(start)).toEqual(mask.slice(start))
        const readScores = logprobs(read)
        for (const [token, score] of logprobs(written).slice(0, length).entries()) {
          const isFiller = WITH_FILLERS.includes(writer) && score === 0 && mask[token] === 0
          if (readScores[token] === null) expect(score === null || isFiller || isLost(/logprobs/)).toBe(true)
          else expect(readScores[token]).toBe(score)
        }
        if (read.reward !== reward) expect(isLost(/reward/)).toBe(true)
        if (JSON.stringify(read.group) !== JSON.stringify(group)) expect(isLost(/^group$/)).toBe(true)
      }),
    )
  })
})

test.each(['two-steps', 'parallel-calls', 'tool-error'])(
  'The messages and tools of %s that are written for fine-tuning are read back, and every token is a listed loss',
  async (name) => {
    const example = exampleTrajectory(name)
    const { value, losses } = openaiMessagesWriter.write(example)
    const read = (await readBack(openaiMessagesWriter, value))?.trajectory
    if (!read) throw new Error('the file has no trajectory')
    expect(chatMessagesBySegment(read).flat()).toEqual((value as { readonly messages: unknown }).messages)
    expect(chatTools(read.model.tools)).toEqual(chatTools(example.model.tools))
    expect(losses.join()).toMatch(/token/)
    expect(tokenCount(read)).toBe(0)
  },
)

test('A message of the model that is not trained has the weight 0 for OpenAI, which trains every message without one', async () => {
  const [first, second, ...others] = exampleTrajectory('two-steps').segments
  if (first?.kind !== 'prompt' || second?.kind !== 'response') throw new Error('the example begins with a prompt')
  const given = { role: 'assistant' as const, content: 'Hello.' }
  const segments = [
    { ...first, messages: [given, ...first.messages] },
    { ...second, mask: second.ids.map(() => 0 as const) },
    ...others,
  ]
  const { value } = openaiMessagesWriter.write({ ...exampleTrajectory('two-steps'), segments })
  const weights = (record: object) =>
    (record as { readonly messages: readonly JsonObject[] }).messages.flatMap(({ role, weight }) =>
      role === 'assistant' ? [weight] : [],
    )
  expect(weights(value)).toEqual([0, 0, undefined, undefined])
  const opened = await readBack(openaiMessagesWriter, value)
  expect(opened && weights(openaiMessagesWriter.write(opened.trajectory).value)).toEqual([0, 0, undefined, undefined])
  const empty = { kind: 'response' as const, ids: [], thinks: [], toolCalls: [] }
  const unread = openaiMessagesWriter.write({ ...exampleTrajectory('two-steps'), segments: [empty] })
  expect(weights(unread.value)).toEqual([undefined])
  expect(unread.losses).toContain('texts of replies: no tokenizer was named')
})

test('Messages for chat templates have arguments as objects with their digits, which are read back as those of OpenAI', async () => {
  const [first, ...others] = exampleTrajectory('two-steps').segments
  if (first?.kind !== 'prompt') throw new Error('the example begins with a prompt')
  const written = ['{"a":12345678901234567890,"b":1.0}', '[1]'].map((json) => ({
    name: 'f',
    input: JSON.parse(json) as unknown,
    json,
  }))
  const given = { role: 'assistant' as const, content: '', toolCalls: written }
  const segments = [{ ...first, messages: [...first.messages, given] }, ...others]
  const { value } = templateMessagesWriter.write({ ...exampleTrajectory('two-steps'), segments })
  expect(JSON.stringify(value)).toContain('"arguments":{"a":12345678901234567890,"b":1.0}')
  expect(JSON.stringify(value)).toContain('"arguments":"[1]"')
  const [own, openai] = await Promise.all(
    [templateMessagesWriter, openaiMessagesWriter].map(async (writer) => {
      const opened = await readBack(writer, writer.write(exampleTrajectory('two-steps')).value)
      return opened && chatMessagesBySegment(opened.trajectory)
    }),
  )
  expect(own).toEqual(openai)
})

test('A CSV file lists every token as lost, since no reader could take one from it', () => {
  expect(csvWriter.write(exampleTrajectory('two-steps')).losses).toContain('every token with its columns')
})
