/** Tests refusals that recordings.test.ts does not cover. */
import { afterAll, describe, expect, test } from 'vitest'
import { createTestModel, eventsIn, testClient } from '#lib/builtin-server/test-model.ts'

const model = createTestModel()
afterAll(() => model.close())
const { post, generate } = testClient(model)

const refused = async (body: unknown): Promise<unknown> => {
  const response = await post('/generate', body)
  expect(response.status).toBe(400)
  return response.json()
}
const ids = [9, 10, 11]
const params = (sampling_params: object) => ({ input_ids: ids, sampling_params })
const logprobs = (own: object) => ({ input_ids: ids, return_logprob: true, ...own })

describe('A request that would end a real server is answered with 400:', () => {
  test.each([
    ['an id that is not in the vocabulary', { input_ids: [9, 1024] }, 'input_ids must be in [0, 1023], got 1024.'],
    ['a negative id', { input_ids: [-1] }, 'input_ids must be in [0, 1023], got -1.'],
    ['an empty text', { text: '' }, 'text cannot be empty.'],
    ['an empty text in a batch', { text: ['a', ''] }, 'text cannot be empty.'],
    [
      'a start before the prompt',
      logprobs({ logprob_start_len: -5 }),
      'logprob_start_len must be at least -1, got -5.',
    ],
    ['too many alternatives', logprobs({ top_logprobs_num: 1025 }), 'top_logprobs_num must be at most 1024, got 1025.'],
  ])('%s', async (_what, body, message) => {
    expect(await refused(body)).toEqual({ error: { message } })
  })
})

describe('A value out of its range is refused by name:', () => {
  test.each([
    [params({ temperature: -0.1 }), 'temperature must be a non-negative finite number, got -0.1.'],
    [params({ top_p: 0 }), 'top_p must be in (0, 1], got 0.'],
    [params({ min_p: 1.5 }), 'min_p must be in [0, 1], got 1.5.'],
    [params({ top_k: -2 }), 'top_k must be -1 (disable) or at least 1, got -2.'],
    [params({ frequency_penalty: 2.5 }), 'frequency_penalty must be in [-2, 2], got 2.5.'],
    [params({ presence_penalty: -3 }), 'presence_penalty must be in [-2, 2], got -3.'],
    [params({ repetition_penalty: 0 }), 'repetition_penalty must be in (0, 2] (1.0 = no penalty), got 0.'],
    [params({ min_new_tokens: -1 }), 'min_new_tokens must be in [0, max_new_tokens], got -1.'],
    [params({ min_new_tokens: 9, max_new_tokens: 8 }), 'min_new_tokens must be in [0, max_new_tokens(8)], got 9.'],
    [params({ stream_interval: 0 }), 'stream_interval must be at least 1, got 0.'],
    [params({ logit_bias: { one: 1 } }), 'logit_bias must has keys in [0, 1023], got one.'],
    [params({ stop_regex: Array(33).fill('a') }), 'at most 32 stop_regex patterns are allowed, got 33'],
    [params({ stop_regex: 'é'.repeat(129) }), 'stop_regex is 258 bytes, over the 256-byte limit'],
    [logprobs({ token_ids_logprob: [3, 2000] }), 'token_ids_logprob must be in [0, 1023], got 2000.'],
    [logprobs({ token_ids_logprob: [[3]] }), 'token_ids_logprob must not be a list for a single prompt.'],
    [{ input_ids: ids, rid: ['a'] }, 'rid must not be a list for a single prompt.'],
    [{ input_ids: [ids, ids], rid: ['a'] }, 'rid has 1 entries for 2 prompts.'],
    [{ input_ids: [ids], sampling_params: [{}, {}] }, 'sampling_params has 2 entries for 1 prompts.'],
    [{ input_ids: [ids, []] }, 'input_ids cannot be empty.'],
    [{ text: [] }, 'text cannot be empty.'],
  ])('in %j', async (body, message) => {
    expect(await refused(body)).toEqual({ error: { message } })
  })

  test('an invalid pattern', async () => {
    const message = expect.stringMatching(/^stop_regex "\(" is invalid: /)
    expect(await refused(params({ stop_regex: '(' }))).toEqual({ error: { message } })
  })
})

describe('A feature that the built-in model lacks is refused by name:', () => {
  test.each([
    'lora_path',
    'input_embeds',
    'image_data',
    'session_params',
    'return_hidden_states',
    'return_flat_raw_top_logprobs',
  ])('%s', async (name) => {
    const message = `${name} is set, but the built-in server does not support it.`
    expect(await refused({ input_ids: ids, [name]: true })).toEqual({ error: { message } })
    await generate({ input_ids: ids, sampling_params: { max_new_tokens: 1 }, [name]: null })
  })

  test.each(['structural_tag', 'beam_width'])('sampling_params.%s', async (name) => {
    const message = expect.stringMatching(
      new RegExp(`^${name} is set, but the built-in server (?:does not support|supports only)`),
    )
    expect(await refused(params({ [name]: '1' }))).toEqual({ error: { message } })
  })
})

test('custom_params are accepted without effect: there is no custom logit processor that reads them', async () => {
  const greedy = { temperature: 0, max_new_tokens: 3 }
  const plain = await generate(params(greedy))
  expect((await generate(params({ ...greedy, custom_params: { any: [1, 2.5] } }))).output_ids).toEqual(plain.output_ids)
})

test('A whole number that is written with a fraction is refused for an integer field', async () => {
  const refusal = (field: string) => refused(`{"input_ids": [9], "sampling_params": {${field}}}`)
  expect(await refusal('"max_new_tokens": 2.0')).toEqual({
    error: 'invalid type: floating point `2.0`, expected i64',
  })
  expect(await refusal('"top_k": 1e1')).toEqual({ error: 'invalid type: floating point `10.0`, expected i64' })
  const body = '{"input_ids": [9], "sampling_params": {"max_new_tokens": 1, "temperature": 1.0, "stop": "2.0"}}'
  expect((await post('/generate', body)).status).toBe(200)
})

test('A bias beyond the range of numbers is refused', async () => {
  const body = '{"input_ids": [9], "sampling_params": {"logit_bias": {"5": 1e999}}}'
  expect(await refused(body)).toEqual({ error: 'invalid type: map, expected a map of f64' })
})

describe('A wrong JSON type is refused, even if a stream was requested:', () => {
  test.each([
    [params({ max_new_tokens: 2.5 }), 'invalid type: floating point `2.5`, expected i64'],
    [params({ ignore_eos: 'yes' }), 'invalid type: string "yes", expected a boolean'],
    [params({ stop: 5 }), 'invalid type: integer `5`, expected a string or a sequence of strings'],
    [params({ logit_bias: [] }), 'invalid type: sequence, expected a map of f64'],
    [{ input_ids: ids, sampling_params: 5 }, 'invalid type: integer `5`, expected a map'],
    [logprobs({ top_logprobs_num: '5' }), 'invalid type: string "5", expected i64 or a sequence of i64'],
    [logprobs({ return_logprob: {} }), 'invalid type: map, expected a boolean or a sequence of booleans'],
    [
      logprobs({ return_text_in_logprobs: true, token_ids_logprob: true }),
      'invalid type: boolean `true`, expected a sequence of i64 or of such sequences',
    ],
  ])('in %j', async (body, error) => {
    expect(await refused({ ...body, stream: true })).toEqual({ error })
  })

  test.each([
    [{ text: 5 }, "'string_type', 'loc': ('body', 'text')"],
    [
      { input_ids: 'abc' },
      "'value_error', 'loc': ('body', 'input_ids'), 'msg': 'Value error, expected a list; got str'",
    ],
    [{ input_ids: [9, [9]] }, "elements must be int or list; got int'"],
    [{ input_ids: [[9], null] }, "elements must be int or list; got NoneType'"],
    [{ input_ids: [true] }, "elements must be int or list; got bool'"],
    [{ input_ids: [[[9]]] }, "elements must be int or list; got list'"],
    [{ input_ids: [{}] }, "elements must be int or list; got dict'"],
    ['"text"', "'dataclass_type', 'loc': ('body',)"],
    ['{"text": }', "'json_invalid', 'loc': ('body', "],
  ])('in %j', async (body, part) => {
    const { message, ...rest } = (await refused(body)) as { message: string }
    expect(rest).toEqual({ object: 'error', type: 'Bad Request', param: null, code: 400 })
    expect(message).toContain(part)
  })
})

test('A null selects the default of every field', async () => {
  const keys = [
    'max_new_tokens',
    'stop',
    'temperature',
    'top_k',
    'n',
    'regex',
    'logit_bias',
    'sampling_seed',
    'ignore_eos',
  ]
  const sampling_params = { ...Object.fromEntries(keys.map((key) => [key, null])), stop_token_ids: null }
  const top = ['return_logprob', 'logprob_start_len', 'top_logprobs_num', 'token_ids_logprob', 'stream', 'rid', 'text']
  const reply = await generate({
    input_ids: ids,
    sampling_params,
    ...Object.fromEntries(top.map((key) => [key, null])),
  })
  expect(reply.meta_info.completion_tokens).toBeGreaterThan(0)
})

test('A refused value is an event if a stream was requested', async () => {
  const response = await post('/generate', { text: '', stream: true })
  expect(response.status).toBe(200)
  expect(eventsIn(await response.text())).toEqual([
    { error: { message: 'text cannot be empty.', type: 'invalid_request_error', code: 400, retryable: false } },
  ])
})
