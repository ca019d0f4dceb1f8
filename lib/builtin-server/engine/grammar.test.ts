import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { vocabularyOf } from '#lib/builtin-server/models/vocabulary.ts'
import {
  createTestModel,
  eventsIn,
  IDS,
  loadModelTokenizer,
  PROMPT,
  type TestReply,
  testClient,
} from '#lib/builtin-server/test-model.ts'
import { runs } from '#testing/property-runs.ts'
import { loadGrammars } from './grammar.ts'

const model = createTestModel()
afterAll(() => model.close())
const { post, generate, stream } = testClient(model)

const replyTo = (sampling_params: object, own: object = {}): Promise<TestReply> =>
  generate({ input_ids: PROMPT, sampling_params: { max_new_tokens: 200, ...sampling_params }, ...own })

const refusalOf = async (sampling_params: object): Promise<unknown> => {
  const response = await post('/generate', { input_ids: PROMPT, sampling_params })
  return [response.status, ((await response.json()) as { error: { message: string } }).error.message]
}

describe('A regular expression', () => {
  const word = fc.constantFrom(
    'yes',
    'no',
    'é',
    '日本',
    '<tool_call>',
    ' a b',
    '[0-9]',
    '[^a-y]',
    '\\.',
    '🙂',
    '[é-🙃]',
  )
  const pattern = fc
    .array(fc.record({ one: word, other: word, repeat: fc.constantFrom('', '?', '{2}', '{1,3}') }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.map(({ one, other, repeat }) => `(${one}|${other})${repeat}`).join(''))

  test('matches the whole text, however it is sampled', async () => {
    await fc.assert(
      fc.asyncProperty(pattern, fc.constantFrom(0, 1, 3), fc.nat(), async (regex, temperature, sampling_seed) => {
        const { text, meta_info } = await replyTo({ regex, temperature, sampling_seed })
        expect(text).toMatch(new RegExp(`^(?:${regex})$`, 'u'))
        expect(meta_info.finish_reason?.type).toBe('stop')
      }),
      { numRuns: runs(30) },
    )
  })

  test('makes forbidden tokens impossible and keeps the ratios of the others', async () => {
    const asked = { return_logprob: true, top_logprobs_num: IDS }
    const free = (await replyTo({ max_new_tokens: 1 }, asked)).meta_info.output_top_logprobs[0] ?? []
    const bound = (await replyTo({ max_new_tokens: 1, regex: '[0-9]+' }, asked)).meta_info.output_top_logprobs[0] ?? []
    const open = bound.filter(([logprob]) => logprob > -1e38)
    const forbidden = bound.filter(([logprob]) => logprob <= -1e38)
    expect(open).toHaveLength(10)
    expect(new Set(forbidden.map(([logprob]) => logprob))).toEqual(new Set([-3.4028234663852886e38]))
    expect(open.reduce((sum, [logprob]) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5)
    const freely = new Map(free.map(([logprob, id]) => [id, logprob]))
    const differences = open.map(([logprob, id]) => logprob - (freely.get(id) as number))
    for (const difference of differences) expect(difference).toBeCloseTo(differences[0] as number, 4)
  })

  test('ends the text when it is complete, even if stop ids are ignored or not allowed yet', async () => {
    for (const own of [{}, { ignore_eos: true }, { min_new_tokens: 50 }]) {
      const { text, meta_info, output_ids } = await replyTo({ regex: 'ab', ...own })
      expect(text).toBe('ab')
      expect(meta_info.finish_reason).toEqual({ type: 'stop', matched: output_ids.at(-1) })
    }
  })

  test('applies to its own samples and prompt only', async () => {
    const sampling_params = ['a{3}', 'b{4}', undefined].map((regex) => ({ regex, n: 2, max_new_tokens: 8 }))
    const response = await post('/generate', { input_ids: sampling_params.map(() => PROMPT), sampling_params })
    const texts = ((await response.json()) as TestReply[]).map(({ text }) => text)
    expect(texts.slice(0, 4)).toEqual(['aaa', 'aaa', 'bbbb', 'bbbb'])
    expect(texts[4]).not.toMatch(/^[ab]+$/)
  })
})

describe('A JSON schema', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { enum: ['calculator', 'lookup'] },
      n: { type: 'integer' },
      s: { type: 'string', maxLength: 5 },
    },
    required: ['name', 'n', 's'],
    additionalProperties: false,
  }

  test('makes the text valid', async () => {
    for (const sampling_seed of [1, 2, 3, 4, 5]) {
      const { text } = await replyTo({ json_schema: JSON.stringify(schema), sampling_seed, temperature: 0.7 })
      const value = JSON.parse(text) as { name: string; n: number; s: string }
      expect(['calculator', 'lookup']).toContain(value.name)
      expect(Number.isInteger(value.n)).toBe(true)
      expect([...value.s].length).toBeLessThanOrEqual(5)
      expect(Object.keys(value)).toHaveLength(3)
    }
  })
})

describe('An impossible grammar is refused:', () => {
  test.each([
    [{ regex: '([a-z' }, 'Failed to compile regex grammar: Invalid regex at index 5: unterminated character class.'],
    [{ regex: '(?=a)b' }, 'only non-capturing special groups are supported'],
    [{ json_schema: '{\n  "type": }' }, 'Failed to compile json grammar: Expecting value: line 2 column 11 (char 12)'],
    [{ json_schema: '{"type": "string", "pattern": "a+"}' }, 'Failed to compile json grammar: '],
    [{ json_schema: '{"type": "string", "format": "date"}' }, 'Failed to compile json grammar: '],
    [
      { ebnf: 'root ::= "a"' },
      'ebnf is set, but the built-in server supports only the grammars regex and json_schema.',
    ],
    [{ structural_tag: '{}' }, 'structural_tag is set'],
    [{ regex: 'a', json_schema: '{}' }, 'Only one of json_schema, regex, ebnf, or structural_tag can be set.'],
  ])('with an error for %j', async (params, message) => {
    expect(await refusalOf(params)).toEqual([400, expect.stringContaining(message)])
  })

  test('in a stream with an event, while other requests continue', async () => {
    const other = generate({ input_ids: PROMPT, sampling_params: { max_new_tokens: 20, ignore_eos: true } })
    const response = await post('/generate', { input_ids: PROMPT, sampling_params: { regex: '(' }, stream: true })
    const [last] = eventsIn(await response.text()).slice(-1) as [TestReply]
    expect(last.meta_info.finish_reason).toMatchObject({ type: 'abort', status_code: 400 })
    expect((await other).output_ids).toHaveLength(20)
    expect(await stream({ input_ids: PROMPT, sampling_params: { regex: 'ab', max_new_tokens: 9 } })).not.toHaveLength(0)
  })
})

test('A grammar over a model without stop ids raises an error instead of an endless loop', async () => {
  const { tokenizer } = await loadModelTokenizer()
  const vocabulary = vocabularyOf(tokenizer)
  const grammar = (await loadGrammars(vocabulary, new Set())).compile({ kind: 'regex', source: 'a' }, [])
  const logits = new Float32Array(vocabulary.ends.length)
  expect(grammar.mask(logits)).toBe('open')
  const [id] = tokenizer.encode('a') as [number]
  expect([...logits].flatMap((logit, other) => (logit === 0 ? [other] : []))).toEqual([id])
  grammar.take(id)
  expect(() => grammar.mask(logits)).toThrow('the grammar allows no token here')
})
