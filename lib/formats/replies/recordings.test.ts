/** Opens every reply of a real SGLang 0.5.23 (lib/sglang/recordings), saved as a file, and compares it with the ids and logprobs in it. */
import { expect, test } from 'vitest'
import { isObject } from '#lib/json/json-object.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { recording, recordingNames } from '#testing/sglang/recordings.ts'
import { openFile } from '../reading/open.ts'
import { fileSource } from './test-files.ts'

/** A reply of /generate, or a chunk of one. */
interface Reply {
  readonly text: string
  readonly output_ids: readonly number[]
  readonly meta_info: {
    readonly id: string
    readonly completion_tokens: number
    readonly finish_reason: { readonly type: string } | null
    readonly output_token_logprobs?: readonly (readonly [number | null, number, string | null])[]
  }
}

const isReply = (value: unknown): value is Reply =>
  isObject(value) && isObject(value.meta_info) && 'output_ids' in value
const hasTokens = ({ output_ids }: Reply): boolean => output_ids.length > 0

const recorded = recordingNames
  .map((name) => ({ name, ...recording(name) }))
  .filter(({ request, status }) => request.path === '/generate' && status === 200)
const whole = recorded.flatMap(({ name, response }) => {
  const replies = [response].flat().filter(isReply)
  return replies.length > 0 && replies.every(hasTokens) ? [{ name, response, replies }] : []
})
/** Streams that ended, with the chunks of each reply in them. */
const streamed = recorded.flatMap(({ name, stream_lines: lines = [] }) => {
  const chunks = lines
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown)
    .filter(isReply)
  const replies = [...Map.groupBy(chunks, ({ meta_info }) => meta_info.id).values()]
  const isEnded = replies.every((parts) => parts.length > 1 && parts.at(-1)?.meta_info.finish_reason !== null)
  return replies.length > 0 && isEnded ? [{ name, text: lines.join(''), replies }] : []
})

async function opened(name: string, text: string) {
  const bytes = Buffer.from(text)
  const file = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
  const found: {
    readonly format: string
    readonly group: Trajectory['group']
    readonly response: ResponseSegment | undefined
  }[] = []
  for await (const one of openFile(file, fileSource(name))) {
    if (!one.ok) throw new Error(one.error.message)
    const { segments, group } = one.trajectory
    const response = segments.find((segment) => segment.kind === 'response')
    found.push({ format: one.format.name, group, response })
  }
  return found
}

const scoresOf = ({ meta_info }: Reply) => meta_info.output_token_logprobs?.map(([score]) => score)

test('Enough replies of a real SGLang are recorded', () => {
  expect(whole.length).toBeGreaterThan(50)
  expect(streamed.length).toBeGreaterThan(15)
})

test.each(whole.map((one) => [one.name, one] as const))(
  'The reply %s of a real SGLang opens with its ids and logprobs',
  async (name, { response, replies }) => {
    expect(await opened(name, JSON.stringify(response))).toMatchObject(
      replies.map(({ output_ids }) => ({ format: 'sglang-generate', response: { ids: output_ids } })),
    )
    const responses = (await opened(name, JSON.stringify(response))).map((one) => one.response)
    expect(responses.map((one) => one?.logprobs)).toEqual(replies.map(scoresOf))
    expect(responses.flatMap((one) => one?.problems ?? [])).toEqual([])
  },
)

test.each(streamed.map((one) => [one.name, one] as const))(
  'The stream %s of a real SGLang opens with all its ids and logprobs',
  async (name, { text, replies }) => {
    const found = await opened(`${name}.sse`, text)
    expect(found.map(({ format }) => format)).toEqual(replies.map(() => 'sglang-generate-stream'))
    for (const [index, chunks] of replies.entries()) {
      const response = found[index]?.response
      // The chunks of one server repeat everything, and those of another one add to each other.
      const count = chunks.at(-1)?.meta_info.completion_tokens ?? Number.NaN
      const isCumulative = chunks.at(-1)?.output_ids.length === count
      const whole = isCumulative ? chunks.slice(-1) : chunks
      expect(response?.ids).toEqual(whole.flatMap(({ output_ids }) => output_ids))
      const scores = chunks.map(scoresOf).filter((list) => list !== undefined)
      if (scores.length > 0) expect(response?.logprobs).toEqual((isCumulative ? scores.slice(-1) : scores).flat())
      expect(response?.ids).toHaveLength(count)
    }
  },
)

/** A choice of a whole reply, or of a chunk. */
interface Choice {
  readonly index: number
  readonly text?: string
  readonly message?: { readonly content: string | null }
  readonly delta?: { readonly content?: string | null }
  readonly token_ids?: readonly number[]
  readonly response_token_ids?: readonly number[]
}

const FORMATS: Readonly<Record<string, string>> = {
  '/v1/completions': 'completion',
  '/v1/chat/completions': 'chat-completion',
}
const openai = recordingNames
  .map((name) => ({ name, ...recording(name) }))
  .flatMap(({ name, request, status, response, stream_lines: lines = [] }) => {
    const format = FORMATS[request.path]
    const chunks = lines
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as unknown)
    const replies = [response, ...chunks].filter(isObject).filter(({ choices }) => Array.isArray(choices))
    const text = chunks.length > 0 ? lines.join('') : JSON.stringify(response)
    const choices = replies.flatMap((reply) => reply.choices as readonly Choice[])
    // A stream may end with an error in place of its last chunk.
    const isWhole = replies.length > 0 && replies.length === chunks.length + Number(chunks.length === 0)
    return format !== undefined && status === 200 && isWhole
      ? [{ name, format: chunks.length > 0 ? `${format}-stream` : format, text, choices }]
      : []
  })

test('Enough completions of a real SGLang are recorded', () => {
  const counts = Map.groupBy(openai, ({ format }) => format)
  expect([...counts].map(([format, { length }]) => [format, length > 4])).toEqual(
    ['chat-completion', 'chat-completion-stream', 'completion', 'completion-stream'].map((format) => [format, true]),
  )
  expect(openai.some(({ choices }) => choices.some((choice) => choice.token_ids))).toBe(true)
})

test.each(openai.map((one) => [one.format, one.name, one] as const))(
  'The %s %s of a real SGLang opens with its texts, and with its ids if it has them',
  async (format, name, { text, choices }) => {
    const found = await opened(format.endsWith('stream') ? `${name}.sse` : name, text)
    const samples = [...Map.groupBy(choices, ({ index }) => index)].sort(([a], [b]) => a - b)
    expect(found.map((one) => one.format)).toEqual(samples.map(() => format))
    expect(found.map(({ group }) => group?.index)).toEqual(
      samples.length > 1 ? samples.map(([index]) => index) : [undefined],
    )
    for (const [index, [, parts]] of samples.entries()) {
      const response = found[index]?.response
      const content = parts.map(({ text, message, delta }) => text ?? message?.content ?? delta?.content ?? '').join('')
      expect((response?.message as { readonly content?: string | null } | undefined)?.content ?? '').toBe(content)
      const ids = parts.map(({ token_ids, response_token_ids }) => token_ids ?? response_token_ids)
      if (ids.some(Boolean)) expect(response?.ids).toEqual(ids.flatMap((list) => list ?? []))
    }
  },
)
