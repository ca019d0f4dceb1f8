/**
 * Compares streamed chat completions with those of the real SGLang 0.5.23 for the same model: statuses, shapes of chunks and their order,
 * texts, calls, ids, logprobs and counts are equal. The number of tokens in a chunk depends on timing: SGLang joins several if its reader
 * is slow.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { createTestModel, eventsIn, testClient } from '#lib/builtin-server/test-model.ts'
import {
  answerTo,
  closeLogprobs,
  comparable,
  isForcedCall,
  isRefused,
  isStream,
  recorded,
  recordedNames,
  recordedText,
  words,
} from '#lib/builtin-server/test-openai.ts'

const names = recordedNames('chat-').filter((name) => isStream(name) && !isForcedCall(name))

const model = createTestModel()
afterAll(() => model.close())
const { post, stream, generate } = testClient(model)

test('The recorded chat streams include answers and refusals', () => {
  expect(names.filter(isRefused).length).toBeGreaterThan(4)
  expect(names.filter((name) => !isRefused(name)).length).toBeGreaterThan(14)
})

test.each(names.filter((name) => !isRefused(name)))('The recorded chat stream %s has the same parts', async (name) => {
  const { status, text } = await answerTo(model, name)
  expect(status).toBe(200)
  expect(contentOf(text)).toEqual(closeLogprobs(contentOf(recordedText(name))))
})

test.each(names.filter(isRefused))('The recorded chat stream %s is refused with the same words', async (name) => {
  const { status, json } = await answerTo(model, name)
  expect(status).toBe(recorded(name).status)
  expect(words(json())).toEqual(words(recorded(name).response))
})

const question = { messages: [{ role: 'user', content: 'hi' }], stream: true, rid: 'chat', ignore_eos: true }

describe('A chat stream that is aborted', () => {
  test('by its id reports that in its last chunks', async () => {
    const response = await post('/v1/chat/completions', { ...question, stream_options: { include_usage: true } })
    // The other client has its own timing, so the abort comes while tokens arrive.
    await stream({ text: 'a', sampling_params: { max_new_tokens: 8, ignore_eos: true } })
    await post('/abort_request', { rid: 'chat' })
    const [ending, counts] = eventsIn(await response.text()).slice(-2) as Chunk[]
    expect(ending?.choices[0]).toMatchObject({ finish_reason: 'abort', matched_stop: null })
    expect(counts?.usage).toMatchObject({ completion_tokens: expect.any(Number) })
  })

  test('by a client that leaves ends its generation', async () => {
    const response = await post('/v1/chat/completions', question)
    await response.body?.cancel()
    // The id of the stream is free again.
    await expect
      .poll(() =>
        generate({ text: 'a', rid: 'chat', sampling_params: { max_new_tokens: 1 } }).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
  })
})

interface Chunk {
  readonly choices: readonly {
    readonly index: number
    readonly delta: Delta
    readonly logprobs: { readonly content: readonly unknown[] } | null
    readonly finish_reason: string | null
    readonly matched_stop: unknown
  }[]
  readonly usage?: unknown
  readonly sglext?: unknown
}

interface Delta {
  readonly role?: string | null
  readonly content?: string | null
  readonly reasoning_content: string | null
  readonly tool_calls?: readonly [
    { readonly index: number; readonly function: { readonly name: string | null; readonly arguments: string } },
  ]
}

/** Returns the content of a stream without the borders of its chunks. */
function contentOf(text: string): object {
  const chunks = eventsIn(text).map(comparable) as Chunk[]
  const kinds = chunks.map(kindOf)
  const indices = [...new Set(chunks.flatMap(({ choices }) => choices.map(({ index }) => index)))]
  return {
    // There is one shape of each kind and form, so that no field is missing or added.
    shapes: [...new Set(chunks.map((chunk, at) => `${kinds[at]}: ${JSON.stringify(namesIn(chunk))}`))].sort(),
    ends: chunks.filter(({ choices }) => choices.length === 0),
    choices: indices.map((index) => {
      const own = chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
      return {
        order: own.map(partOf).filter((part, at, all) => part !== '' && part !== all[at - 1]),
        content: own.map(({ delta }) => delta.content ?? '').join(''),
        reasoning: own.map(({ delta }) => delta.reasoning_content ?? '').join(''),
        calls: callsIn(own.map(({ delta }) => delta)),
        logprobs: own.flatMap(({ logprobs }) => logprobs?.content ?? []),
        ending: own.at(-1),
      }
    }),
    usages: chunks.some(({ usage }, at) => usage && at < chunks.length - 1),
  }
}

/** Returns the complete arguments of each call from its names and pieces. */
function callsIn(deltas: readonly Delta[]): readonly string[] {
  const calls: string[] = []
  for (const { tool_calls: [call] = [] } of deltas) {
    if (!call) continue
    const { name, arguments: written } = call.function
    calls[call.index] = (calls[call.index] ?? '') + (name === null ? written : `${name}:${written}`)
  }
  return calls
}

function partOf({ delta, finish_reason: finish }: Chunk['choices'][number]): string {
  if (finish !== null) return 'end'
  if (delta.role) return 'role'
  if (delta.tool_calls) return delta.tool_calls[0].function.name === null ? 'arguments' : 'name'
  if (delta.content) return 'content'
  return delta.reasoning_content ? 'reasoning' : ''
}

const kindOf = ({ choices, sglext }: Chunk): string =>
  choices[0] ? partOf(choices[0]) : sglext === undefined ? 'usage' : 'sglext'

/** Returns the names of fields in order; logprobs, `sglext` and usage are compared separately as values. */
function namesIn(value: unknown, key = ''): unknown {
  if (value === null || key === 'logprobs' || key === 'sglext' || key === 'usage') return key
  if (Array.isArray(value)) return value.slice(0, 1).map((entry) => namesIn(entry))
  if (typeof value !== 'object') return typeof value
  return Object.entries(value).map(([name, entry]) => [name, namesIn(entry, name)])
}
