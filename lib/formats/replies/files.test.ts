/** Compares replies that servers and clients wrote with what Python reads in them (lib/formats/golden/make_replies.py). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ResponseSegment, Trajectory, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { formatOf } from '../registry.ts'
import { trajectoriesOf } from '../test-trajectories.ts'
import { chatMessagesBySegment } from '../writing/chat-messages.ts'
import { fileSource, foreignRecords } from './test-files.ts'

interface Sample {
  readonly prompt: readonly number[] | null
  readonly promptLogprobs?: readonly (number | null)[]
  /** null if the file has no ids. */
  readonly ids: readonly number[] | null
  readonly logprobs: readonly number[]
  readonly tops?: readonly (readonly (readonly [number, number])[])[]
  readonly texts?: readonly string[]
  readonly content?: string | null
  readonly calls?: readonly (readonly [string, string])[]
  readonly finish: string
}
const golden = JSON.parse(readFileSync('lib/formats/golden/replies.json', 'utf8')) as Record<
  string,
  { readonly format: string; readonly samples: readonly Sample[] }
>

const opened = (name: string): readonly Trajectory[] => {
  const records = foreignRecords(name)
  const format = formatOf(records[0])
  if (!format) throw new Error(`no format recognises ${name}`)
  const source = fileSource(name)
  return format.joins
    ? trajectoriesOf(format, records, source)
    : records.flatMap((record) => trajectoriesOf(format, record, source))
}

const hex = (entry: VocabEntry | undefined) => entry !== undefined && Buffer.from(bytesOf(entry)).toString('hex')
const FINISHES: Readonly<Record<string, string>> = { tool_calls: 'stop', eos: 'stop', limit: 'length' }

test.each(Object.entries(golden))(
  '%s has exactly the ids, logprobs, alternatives and texts that Python reads',
  (name, { format, samples }) => {
    expect(formatOf(foreignRecords(name)[0])?.name).toBe(format)
    const trajectories = opened(name)
    expect(trajectories).toHaveLength(samples.length)
    for (const [index, { segments, vocab, provenance }] of trajectories.entries()) {
      const sample = samples[index] as Sample
      const prompt = segments.find(({ kind }) => kind === 'prompt')
      const response = segments.at(-1) as ResponseSegment
      expect(prompt?.ids ?? null).toEqual(sample.prompt)
      expect(response.ids).toEqual(sample.ids ?? [])
      expect(response.logprobs).toEqual(sample.ids ? sample.logprobs : undefined)
      expect(response.finish?.kind).toBe(FINISHES[sample.finish] ?? sample.finish)
      expect(response.problems).toBeUndefined()
      expect(provenance).toMatchObject({
        kind: 'import',
        missing: sample.ids ? expect.not.arrayContaining(['ids']) : expect.arrayContaining(['ids', 'logprobs']),
      })
      if (sample.promptLogprobs) expect(prompt?.logprobs).toEqual(sample.promptLogprobs)
      if (sample.tops) {
        const { k = 0, ids = [], logprobs = [] } = response.topLogprobs ?? {}
        const tops = response.ids.map((_, token) =>
          Array.from({ length: k }, (__, rank) => [ids[token * k + rank], logprobs[token * k + rank]]),
        )
        expect(tops).toEqual(sample.tops)
      }
      // llama.cpp hides the text of a stop token, so it stays unknown.
      if (sample.texts && sample.ids) expect(response.ids.map((id) => hex(vocab[id]) || '')).toEqual(sample.texts)
      if (sample.content === undefined) continue
      const message = assistantMessage(response.message ?? {})
      expect(message.content).toBe(sample.content ?? '')
      expect(message.toolCalls ?? []).toMatchObject(
        (sample.calls ?? []).map(([called, input]) => ({ name: called, input: JSON.parse(input) })),
      )
    }
  },
)

test.each(Object.keys(golden))(
  'An exported reply of %s is the message of the file, although the texts of its tokens are known',
  (name) => {
    for (const trajectory of opened(name))
      for (const [index, segment] of trajectory.segments.entries()) {
        if (segment.kind !== 'response' || !segment.message) continue
        const { content, reasoning, toolCalls = [] } = assistantMessage(segment.message)
        const [reply] = chatMessagesBySegment(trajectory)[index] ?? []
        expect(reply).toMatchObject({ content, ...(reasoning !== undefined && { reasoning_content: reasoning }) })
        expect(reply?.tool_calls?.map(({ id, function: called }) => [id, called.name]) ?? []).toEqual(
          toolCalls.map((call) => [call.id, call.name]),
        )
      }
  },
)

test('files.test.ts compares every file of replies', () => {
  expect(Object.keys(golden)).toHaveLength(11)
})

test.each([
  ['vllm-chat.json', 'vllm', 'raw', ['texts', 'temperature', 'special_tokens']],
  ['llama-cpp-completion.json', 'llama.cpp', 'raw', ['texts', 'special_tokens']],
  ['openai-responses.jsonl', 'sglang', undefined, ['texts', 'logprob_values', 'temperature', 'special_tokens']],
  ['litellm-responses.jsonl', 'sglang', undefined, ['texts', 'logprob_values', 'temperature', 'special_tokens']],
] as const)(
  '%s says which engine computed its logprobs and what is unknown about them',
  (name, engine, values, missing) => {
    const [trajectory] = opened(name)
    expect(trajectory?.columnMeanings?.logprobs).toMatchObject({
      quantity: 'logprob',
      model: 'rollout',
      engine,
      ...(values && { values }),
    })
    expect(trajectory?.columnMeanings?.logprobs?.values).toBe(values)
    expect(trajectory?.provenance).toMatchObject({ missing })
  },
)
