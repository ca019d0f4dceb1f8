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
const { post, generate } = testClient(model)

let vocabulary: Vocabulary
let endId: number
beforeAll(async () => {
  const { tokenizer, stopIds } = await loadModelTokenizer()
  vocabulary = vocabularyOf(tokenizer)
  endId = stopIds[0] as number
})

const prompts = fc.array(fc.integer({ min: 0, max: IDS - 1 }), { minLength: 1, maxLength: 30 })
const seeds = fc.integer({ min: 0, max: 2 ** 40 })

/** Returns the logprobs of the whole vocabulary after a prompt, by id. */
async function nextToken(input_ids: readonly number[], own: object = {}): Promise<number[]> {
  const reply = await generate({
    input_ids,
    sampling_params: { max_new_tokens: 0, ...own },
    return_logprob: true,
    top_logprobs_num: IDS,
  })
  const all: number[] = []
  for (const [logprob, id] of reply.meta_info.output_top_logprobs[0] ?? []) all[id] = logprob
  return all
}

describe('Logprobs', () => {
  test('of a sampled reply equal the scores of the same ids, at temperature 1', async () => {
    await fc.assert(
      fc.asyncProperty(prompts, seeds, fc.constantFrom(0, 1), async (input_ids, sampling_seed, temperature) => {
        const reply = await generate({
          input_ids,
          sampling_params: lasting({ temperature, sampling_seed }),
          return_logprob: true,
        })
        const scored = await generate({
          input_ids: [...input_ids, ...reply.output_ids],
          sampling_params: { max_new_tokens: 0 },
          return_logprob: true,
          logprob_start_len: input_ids.length - 1,
        })
        const [first, ...rest] = scored.meta_info.input_token_logprobs
        expect(first?.[0]).toBeNull()
        const again = rest.map(([logprob]) => logprob)
        expect(largestDifference(again, outputLogprobs(reply))).toBeLessThan(1e-4)
      }),
      { numRuns: runs(20) },
    )
  })

  test('form a distribution: their probabilities sum to one, and the best is first', async () => {
    const reply = await generate({
      input_ids: PROMPT,
      sampling_params: { max_new_tokens: 0 },
      return_logprob: true,
      top_logprobs_num: IDS,
    })
    const row = reply.meta_info.output_top_logprobs[0] ?? []
    expect(row.reduce((sum, [logprob]) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5)
    expect(row.map(([logprob]) => logprob)).toEqual(row.map(([logprob]) => logprob).sort((a, b) => b - a))
    expect(new Set(row.map(([, id]) => id)).size).toBe(IDS)
  })

  test('include the temperature in the output, but not in the prompt', async () => {
    const cold = { max_new_tokens: 1, temperature: 0.5 }
    const request = { input_ids: PROMPT, return_logprob: true, logprob_start_len: 0 }
    const at1 = await generate({ ...request, sampling_params: { ...cold, temperature: 1 } })
    const atHalf = await generate({ ...request, sampling_params: cold })
    expect(atHalf.meta_info.input_token_logprobs).toEqual(at1.meta_info.input_token_logprobs)
    const plain = await nextToken(PROMPT)
    const sum = plain.reduce((total, logprob) => total + Math.exp(logprob / 0.5), 0)
    const scaled = plain.map((logprob) => logprob / 0.5 - Math.log(sum))
    expect(largestDifference(await nextToken(PROMPT, { temperature: 0.5 }), scaled)).toBeLessThan(1e-4)
  })

  test('exclude top_k, top_p and min_p', async () => {
    const filtered = await nextToken(PROMPT, { top_k: 3, top_p: 0.2, min_p: 0.5 })
    expect(largestDifference(filtered, await nextToken(PROMPT))).toBeLessThan(1e-4)
  })

  test('include penalties and bias', async () => {
    const plain = await nextToken(PROMPT)
    const biased = await nextToken(PROMPT, { logit_bias: { '7': 3, '20': -2 } })
    expect((biased[7] as number) - (biased[8] as number)).toBeCloseTo(
      (plain[7] as number) - (plain[8] as number) + 3,
      4,
    )
    expect((biased[20] as number) - (biased[8] as number)).toBeCloseTo(
      (plain[20] as number) - (plain[8] as number) - 2,
      4,
    )
    const reply = await generate({
      input_ids: PROMPT,
      sampling_params: lasting({ max_new_tokens: 2, temperature: 0, logit_bias: { '300': 60 }, presence_penalty: 2 }),
      return_logprob: true,
      token_ids_logprob: [300, 301],
    })
    const unbiased = await nextToken([...PROMPT, 300])
    const [, second] = reply.meta_info.output_token_ids_logprobs
    expect(reply.output_ids).toEqual([300, 300])
    // The difference of both tokens is that without bias and penalty, plus 60 of the bias and minus 2 of the penalty.
    expect((second?.[0]?.[0] as number) - (second?.[1]?.[0] as number)).toBeCloseTo(
      (unbiased[300] as number) - (unbiased[301] as number) + 60 - 2,
      3,
    )
  })

  test('begin at logprob_start_len, in the requested order and with the requested texts', async () => {
    const ids = [5, 900, 17]
    const { meta_info } = await generate({
      input_ids: PROMPT,
      sampling_params: lasting({ max_new_tokens: 2 }),
      return_logprob: true,
      logprob_start_len: 4,
      token_ids_logprob: ids,
      return_text_in_logprobs: true,
    })
    expect(meta_info.input_token_logprobs.map(([, id]) => id)).toEqual(PROMPT.slice(4))
    expect(meta_info.input_token_ids_logprobs[0]).toBeNull()
    for (const row of [...meta_info.input_token_ids_logprobs.slice(1), ...meta_info.output_token_ids_logprobs])
      expect(row?.map(([, id]) => id)).toEqual(ids)
    for (const [, id, text] of [...meta_info.input_token_logprobs, ...meta_info.output_token_logprobs])
      expect(text).toBe(decodeIds(vocabulary, [id], 'all'))
  })

  test.each([-1, PROMPT.length])('of the prompt are an empty list from position %i on', async (logprob_start_len) => {
    const { meta_info } = await generate({
      input_ids: PROMPT,
      sampling_params: lasting({ max_new_tokens: 1 }),
      return_logprob: true,
      logprob_start_len,
    })
    expect(meta_info.input_token_logprobs).toEqual([])
  })
})

describe('Sampling', () => {
  test('with a seed repeats the ids, and without one it varies', async () => {
    const request = (sampling_seed?: number) =>
      generate({ input_ids: PROMPT, sampling_params: lasting({ temperature: 100, sampling_seed }) })
    const [a, b, c, d, e] = await Promise.all([request(42), request(42), request(43), request(), request()])
    expect(b?.output_ids).toEqual(a?.output_ids)
    const all = [a, c, d, e].map((reply) => JSON.stringify(reply?.output_ids))
    expect(new Set(all).size).toBe(4)
  })

  test('stays within top_k, top_p and min_p', async () => {
    const filters = fc.record({
      top_k: fc.constantFrom(-1, 1, 2, 5, 100),
      top_p: fc.constantFrom(0.01, 0.3, 0.8, 1),
      min_p: fc.constantFrom(0, 0.2, 0.9),
      temperature: fc.constantFrom(0.5, 1, 2),
    })
    await fc.assert(
      fc.asyncProperty(filters, seeds, async (filter, sampling_seed) => {
        const reply = await generate({
          input_ids: PROMPT,
          sampling_params: lasting({ ...filter, sampling_seed, max_new_tokens: 4 }),
          return_logprob: true,
          top_logprobs_num: IDS,
        })
        reply.meta_info.output_top_logprobs.forEach((row, index) => {
          const place = row.findIndex(([, id]) => id === reply.output_ids[index])
          const better = row.slice(0, place).reduce((sum, [logprob]) => sum + Math.exp(logprob), 0)
          if (filter.top_k > 0) expect(place).toBeLessThan(filter.top_k)
          expect(better).toBeLessThanOrEqual(filter.top_p + 1e-6)
          const [best, own] = [row[0]?.[0] as number, row[place]?.[0] as number]
          expect(Math.exp(own - best)).toBeGreaterThanOrEqual(filter.min_p - 1e-6)
        })
      }),
      { numRuns: runs(30) },
    )
  })

  test('with top_k 1 is greedy at any temperature', async () => {
    const greedy = await generate({ input_ids: PROMPT, sampling_params: lasting({ temperature: 0 }) })
    const hot = await generate({ input_ids: PROMPT, sampling_params: lasting({ temperature: 5, top_k: 1 }) })
    expect(hot.output_ids).toEqual(greedy.output_ids)
  })

  test('follows the probabilities that it reports', async () => {
    const expected = (await nextToken(PROMPT, { temperature: 0.05 })).map(Math.exp)
    const best = expected.indexOf(Math.max(...expected))
    const draws = 200
    const replies = await post('/generate', {
      input_ids: Array.from({ length: draws }, () => PROMPT),
      sampling_params: Array.from({ length: draws }, (_, sampling_seed) => ({
        max_new_tokens: 1,
        temperature: 0.05,
        sampling_seed,
      })),
    })
    const share =
      ((await replies.json()) as TestReply[]).filter(({ output_ids }) => output_ids[0] === best).length / draws
    const p = expected[best] as number
    // The tolerance is five standard deviations; the seeds are fixed, so the share changes only with the weights.
    expect(Math.abs(share - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / draws) + 1 / draws)
  })

  test('with min_new_tokens does not end earlier', async () => {
    const reply = await generate({
      input_ids: PROMPT,
      sampling_params: { max_new_tokens: 9, min_new_tokens: 3, logit_bias: { [String(endId)]: 100 } },
    })
    expect(reply.output_ids.slice(0, 3)).not.toContain(endId)
    expect(reply.output_ids.slice(3)).toEqual([endId])
  })
})
