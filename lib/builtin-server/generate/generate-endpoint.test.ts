import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeIds, type Vocabulary, vocabularyOf } from '#lib/builtin-server/models/vocabulary.ts'
import {
  createTestModel,
  IDS,
  largestDifference,
  lasting,
  loadModelTokenizer,
  outputLogprobs,
  PROMPT,
  type TestReply,
  testClient,
} from '#lib/builtin-server/test-model.ts'
import { runs } from '#testing/property-runs.ts'

const model = createTestModel()
afterAll(() => model.close())
const { post, generate, stream } = testClient(model)

let vocabulary: Vocabulary
let stopIds: readonly number[]
/** Id of the token "7". */
let seven: number
beforeAll(async () => {
  const loaded = await loadModelTokenizer()
  vocabulary = vocabularyOf(loaded.tokenizer)
  stopIds = loaded.stopIds
  seven = loaded.tokenizer.encode('7')[0] as number
})

const prompts = fc.array(fc.integer({ min: 0, max: IDS - 1 }), { minLength: 1, maxLength: 30 })
const seeds = fc.integer({ min: 0, max: 2 ** 40 })

describe('A stream', () => {
  test('of deltas joins to the plain reply with the same seed', async () => {
    const requests = fc.record({
      input_ids: prompts,
      sampling_params: fc.record({
        max_new_tokens: fc.integer({ min: 0, max: 20 }),
        temperature: fc.constantFrom(0, 0.3, 1, 1.7),
        sampling_seed: seeds,
        stream_interval: fc.constantFrom(1, 3, 50),
        stop: fc.constantFrom(undefined, 'e', ['ing', '\n']),
      }),
      return_logprob: fc.boolean(),
      top_logprobs_num: fc.constantFrom(0, 2),
      return_text_in_logprobs: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const plain = await generate(request)
        const deltas = await stream(request)
        const last = deltas.at(-1) as TestReply
        expect(deltas.map(({ text }) => text).join('')).toBe(plain.text)
        expect(deltas.flatMap(({ output_ids }) => output_ids)).toEqual(plain.output_ids)
        expect(last.meta_info.finish_reason).toEqual(plain.meta_info.finish_reason)
        expect(last.meta_info.completion_tokens).toBe(plain.output_ids.length)
        if (!request.return_logprob) return
        const lists = (replies: readonly TestReply[]) =>
          replies.flatMap(({ meta_info }) => [
            ...meta_info.output_token_logprobs,
            ...(meta_info.output_top_logprobs ?? []),
          ])
        expect(last.meta_info.output_token_logprobs_length).toBe(plain.output_ids.length)
        expect(lists(deltas).length).toBe(lists([plain]).length)
        expect(largestDifference(deltas.flatMap(outputLogprobs), outputLogprobs(plain))).toBeLessThan(1e-4)
      }),
      { numRuns: runs(20) },
    )
  })

  test('counts all tokens so far, and begins with one token for any interval', async () => {
    const events = await stream({
      input_ids: PROMPT,
      sampling_params: lasting({ stream_interval: 4, max_new_tokens: 10 }),
    })
    expect(events.map(({ meta_info }) => meta_info.completion_tokens)).toEqual([1, 5, 9, 10])
    expect(events.map(({ output_ids }) => output_ids.length)).toEqual([1, 4, 4, 1])
  })
})

describe('The end of a generation', () => {
  const force = (id: number | undefined) => ({ temperature: 0, max_new_tokens: 3, logit_bias: { [String(id)]: 100 } })

  test('at a stop token keeps the id and cuts the text, unless the request says otherwise', async () => {
    const [eos] = stopIds
    const reply = (sampling_params: object) => generate({ input_ids: PROMPT, sampling_params })
    const cases = await Promise.all([
      reply(force(eos)),
      reply({ ...force(eos), no_stop_trim: true, skip_special_tokens: false }),
      reply({ ...force(eos), skip_special_tokens: false, ignore_eos: true }),
      reply({ ...force(seven), stop_token_ids: [seven] }),
      reply({ ...force(seven), stop_token_ids: [seven], no_stop_trim: true }),
      reply({ ...force(seven), stop_token_ids: [seven], ignore_eos: true }),
      reply({ ...force(eos), max_new_tokens: 1 }),
    ])
    const special = decodeIds(vocabulary, [eos as number], 'all')
    expect(cases.map(({ text, output_ids, meta_info }) => [text, output_ids.length, meta_info.finish_reason])).toEqual([
      ['', 1, { type: 'stop', matched: eos }],
      [special, 1, { type: 'stop', matched: eos }],
      [special.repeat(3), 3, { type: 'length', length: 3 }],
      ['', 1, { type: 'stop', matched: seven }],
      ['7', 1, { type: 'stop', matched: seven }],
      ['777', 3, { type: 'length', length: 3 }],
      ['', 1, { type: 'length', length: 1 }],
    ])
  })

  test('at a stop text is the token that completes it, however tokens divide the text', async () => {
    const chosen = { temperature: 5, sampling_seed: 3, max_new_tokens: 16, skip_special_tokens: false }
    const request = { input_ids: PROMPT, sampling_params: lasting(chosen) }
    const { text, output_ids } = await generate(request)
    const parts = fc.tuple(fc.nat(text.length - 1), fc.integer({ min: 1, max: 8 }))
    await fc.assert(
      fc.asyncProperty(parts, fc.boolean(), async ([start, length], no_stop_trim) => {
        const stop = text.slice(start, start + length)
        fc.pre(stop.isWellFormed() && !stop.includes('\uFFFD'))
        const beginnings = output_ids.map((_, index) => decodeIds(vocabulary, output_ids.slice(0, index + 1), 'all'))
        const count = beginnings.findIndex((beginning) => beginning.includes(stop)) + 1
        // In SGLang's order, the length limit takes precedence over a stop text.
        fc.pre(count < output_ids.length)
        const stopping = { ...request, sampling_params: { ...request.sampling_params, stop, no_stop_trim } }
        const reply = await generate(stopping)
        const events = await stream(stopping)
        expect(reply.output_ids).toEqual(output_ids.slice(0, count))
        expect(reply.meta_info.finish_reason).toEqual({ type: 'stop', matched: stop })
        expect(reply.text).toBe(no_stop_trim ? beginnings[count - 1] : text.slice(0, text.indexOf(stop)))
        expect(events.map((event) => event.text).join('')).toBe(reply.text)
      }),
      { numRuns: runs(25) },
    )
  })

  test('at a stop pattern cuts nothing', async () => {
    const { text, meta_info } = await generate({
      input_ids: PROMPT,
      sampling_params: { ...force(seven), max_new_tokens: 5, stop_regex: ['[a-z]', '7{2}'] },
    })
    expect([text, meta_info.finish_reason]).toEqual(['77', { type: 'stop', matched: '7{2}' }])
  })

  test('by a stop pattern that never ends fails only that request', async () => {
    const response = await post('/generate', {
      input_ids: PROMPT,
      sampling_params: { ...force(seven), max_new_tokens: 100, stop_regex: '(7+)+8' },
    })
    const message = 'stop_regex "(7+)+8" takes more than 500 ms'
    expect([response.status, (await response.json()).message]).toEqual([500, message])
    await generate({ input_ids: PROMPT, sampling_params: lasting({ max_new_tokens: 1 }) })
  })

  test('inside a character is shown as U+FFFD, which comes only at the end', async () => {
    const lead = vocabulary.ends.findIndex((_, id) => decodeIds(vocabulary, [id], 'all') === '\uFFFD' && startsFour(id))
    expect(lead).toBeGreaterThan(0)
    const events = await stream({ input_ids: PROMPT, sampling_params: { ...force(lead), max_new_tokens: 1 } })
    expect(events.map(({ text }) => text)).toEqual(['\uFFFD'])
    const longer = await stream({ input_ids: PROMPT, sampling_params: force(lead) })
    expect(longer.map(({ text }) => text)).toEqual(['', '\uFFFD', '\uFFFD\uFFFD'])
  })

  /** Returns whether an id is the first byte of a character of four bytes. */
  const startsFour = (id: number): boolean => {
    const from = vocabulary.ends[id - 1] ?? 0
    return vocabulary.ends[id] === from + 1 && ((vocabulary.bytes[from] ?? 0) & 0xf8) === 0xf0
  }

  test('without a length limit is the end of the context', async () => {
    const input_ids = Array.from({ length: 4090 }, (_, index) => 10 + (index % 1000))
    const reply = await generate({ input_ids, sampling_params: { ignore_eos: true } })
    expect([reply.output_ids.length, reply.meta_info.finish_reason]).toEqual([6, { type: 'length', length: 6 }])
  })
})
