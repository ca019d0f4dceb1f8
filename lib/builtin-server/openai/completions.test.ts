/**
 * Compares /v1/completions with the answers of the real SGLang 0.5.23 for the same model: texts, ids, logprobs, counts, statuses and error
 * texts are equal. Streams have the same chunks, except where SGLang joined several tokens.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { createTestModel, eventsIn, IDS, testClient } from '#lib/builtin-server/test-model.ts'
import {
  answerTo,
  closeLogprobs,
  comparable,
  isRefused,
  isStream,
  recorded,
  recordedNames,
  recordedText,
  words,
} from '#lib/builtin-server/test-openai.ts'

/** SGLang's validation reports several errors of one field here; this server reports one. */
const OTHER_WORDS = /^completion-err-prompt-(type|mixed)$/
/** SGLang ignores this field silently; this server refuses it. */
const REFUSED_HERE = /^completion-suffix$/

const names = recordedNames('completion-').filter((name) => !REFUSED_HERE.test(name))

const model = createTestModel()
afterAll(() => model.close())
const { post, stream, generate } = testClient(model)

test('The recorded completions include answers, streams and refusals', () => {
  expect(names.filter(isRefused).length).toBeGreaterThan(12)
  expect(names.filter((name) => !isRefused(name) && isStream(name)).length).toBeGreaterThan(6)
  expect(names.filter((name) => !isRefused(name) && !isStream(name)).length).toBeGreaterThan(15)
})

test.each(names.filter((name) => !isRefused(name) && !isStream(name)))(
  'The recorded completion %s is answered with the same ids',
  async (name) => {
    const { status, json } = await answerTo(model, name)
    expect(status).toBe(200)
    expect(comparable(json())).toEqual(closeLogprobs(comparable(recorded(name).response)))
  },
)

test.each(names.filter((name) => !isRefused(name) && isStream(name)))(
  'The recorded completion %s is streamed with the same parts',
  async (name) => {
    const { status, text } = await answerTo(model, name)
    expect(status).toBe(200)
    expect(contentOf(text)).toEqual(closeLogprobs(contentOf(recordedText(name))))
  },
)

test.each(names.filter(isRefused))('The recorded completion %s is refused with the same words', async (name) => {
  const { status, json } = await answerTo(model, name)
  expect(status).toBe(recorded(name).status)
  const said = words(json())
  const theirs = words(recorded(name).response)
  expect(said).toEqual(OTHER_WORDS.test(name) ? { ...(theirs as object), message: expect.any(String) } : theirs)
})

describe('A completion that only SGLang accepts is refused:', () => {
  test.each([
    [{ prompt: 'a', suffix: 'b' }, /^suffix is set/],
    [{ prompt: 'a', lora_path: 'b' }, /^lora_path is set/],
    [{ prompt: [IDS] }, /^input_ids must be in/],
    [{ prompt: ['a', ''] }, /^text cannot be empty/],
    [{ prompt: 'a', n: -1 }, /^n must be at least 1/],
    [{ prompt: 'a', logprobs: IDS + 1 }, /^top_logprobs_num must be at most/],
  ])('%j', async (body, says) => {
    const response = await post('/v1/completions', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ type: 'BadRequestError', message: expect.stringMatching(says) })
  })
})

describe('A completion stream that is aborted', () => {
  const asked = { prompt: 'a', stream: true, rid: 'text', max_tokens: 3000, ignore_eos: true }

  test('by its id reports that in its last chunk', async () => {
    const response = await post('/v1/completions', asked)
    await stream({ text: 'a', sampling_params: { max_new_tokens: 8, ignore_eos: true } })
    await post('/abort_request', { rid: 'text' })
    const last = eventsIn(await response.text()).at(-1) as Chunk
    expect(last.choices[0]).toMatchObject({ finish_reason: 'abort', matched_stop: null })
  })

  test('by a client that leaves ends its generation', async () => {
    const response = await post('/v1/completions', asked)
    await response.body?.cancel()
    const isFree = () =>
      generate({ text: 'a', rid: 'text', sampling_params: { max_new_tokens: 1 } }).then(
        () => true,
        () => false,
      )
    await expect.poll(isFree).toBe(true)
  })
})

interface Chunk {
  readonly choices: readonly {
    readonly index: number
    readonly text: string
    readonly logprobs: Readonly<Record<string, readonly unknown[]>> | null
    readonly token_ids?: readonly number[]
  }[]
}

/** Returns the content of a stream without the borders of its chunks. */
function contentOf(text: string): object {
  const chunks = eventsIn(text).map(comparable) as Chunk[]
  const indices = [...new Set(chunks.flatMap(({ choices }) => choices.map(({ index }) => index)))]
  return {
    ends: chunks.filter(({ choices }) => choices.length === 0),
    forms: [
      ...new Set(
        chunks.map(({ choices: [choice, ...none], ...rest }) =>
          JSON.stringify([
            Object.keys(rest),
            none,
            choice && Object.keys(choice),
            choice?.logprobs && Object.keys(choice.logprobs),
          ]),
        ),
      ),
    ],
    choices: indices.map((index) => {
      const own = chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
      const lists = own.flatMap(({ logprobs }) => (logprobs ? [logprobs] : []))
      const joined = Object.keys(lists[0] ?? {}).map((name) => [name, lists.flatMap((list) => list[name] ?? [])])
      return {
        text: own.map((choice) => choice.text).join(''),
        ids: own.flatMap(({ token_ids }) => token_ids ?? []),
        logprobs: Object.fromEntries(joined),
        last: { ...own.at(-1), text: '', logprobs: null, token_ids: [] },
      }
    }),
  }
}
