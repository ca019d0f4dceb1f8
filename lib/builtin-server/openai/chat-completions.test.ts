/**
 * Compares /v1/chat/completions with the answers of the real SGLang 0.5.23 for the same model and the parsers that the built-in server
 * names: prompt ids, greedy ids, messages, usage, statuses and error texts are equal.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { chatMessage } from '#lib/builtin-server/messages/chat-message.ts'
import { createTestModel, testClient } from '#lib/builtin-server/test-model.ts'
import {
  answerTo,
  closeLogprobs,
  comparable,
  isForcedCall,
  isRefused,
  isStream,
  recorded,
  recordedNames,
  words,
} from '#lib/builtin-server/test-openai.ts'

/** SGLang reads a schema as one without other properties; here it means what JSON Schema says. */
const OTHER_GRAMMAR = 'chat-json-schema'

const names = recordedNames('chat-').filter((name) => !isStream(name) && !isForcedCall(name))

const model = createTestModel()
afterAll(() => model.close())
const { post } = testClient(model)

test('The recorded chat completions include answers and refusals', () => {
  expect(names.filter(isRefused).length).toBeGreaterThan(12)
  expect(names.filter((name) => !isRefused(name)).length).toBeGreaterThan(15)
})

test.each(names.filter((name) => !isRefused(name)))(
  'The recorded chat completion %s is answered with the same ids',
  async (name) => {
    const { status, json } = await answerTo(model, name)
    expect(status).toBe(200)
    const theirs = comparable(recorded(name).response)
    const expected = name === OTHER_GRAMMAR ? withContent(theirs, expect.stringMatching(/^\s*\{/)) : theirs
    expect(comparable(json())).toEqual(closeLogprobs(expected))
  },
)

test.each(names.filter(isRefused))('The recorded chat completion %s is refused with the same words', async (name) => {
  const { status, json } = await answerTo(model, name)
  expect(status).toBe(recorded(name).status)
  expect(words(json())).toEqual(words(recorded(name).response))
})

function withContent(response: unknown, content: unknown): unknown {
  const { choices, ...rest } = response as { choices: { message: object }[] }
  return { ...rest, choices: choices.map((one) => ({ ...one, message: { ...one.message, content } })) }
}

const hi = { messages: [{ role: 'user', content: 'hi' }] }

describe('A chat completion with a feature that only SGLang has', () => {
  test.each([
    [{ n: -1 }, /^n must be at least 1/],
    [{ ebnf: 'root ::= "a"' }, /^ebnf is set/],
    [{ response_format: { type: 'structural_tag' } }, /'text', 'json_object' or 'json_schema'/],
    [{ response_format: { type: 'json_schema' } }, /^schema_ is required/],
    [{ tools: [{ function: { name: 'f' } }], tool_choice: 'often' }, /Input should be 'auto', 'required' or 'none'/],
    [{ continue_final_message: true }, /^continue_final_message is set/],
    [{ messages: [{ role: 'robot', content: 'x' }] }, /'role' must be one of/],
    [{ messages: [{ role: 'user', content: 5 }] }, /valid string/],
    [{ top_k: 'many' }, /valid integer/],
    [{ logprobs: 'maybe' }, /valid boolean/],
    [{ max_tokens: 0 }, /max_tokens must be positive/],
    [{ max_completion_tokens: 0, max_tokens: 5 }, /max_completion_tokens must be positive/],
    [{ custom_params: [1] }, /'dict_type', 'loc': \('body', 'custom_params'\)/],
    [{ chat_template_kwargs: [] }, /valid dictionary/],
    [{ tools: [{}] }, /Field required/],
    [{ input_ids: [5000] }, /^input_ids must be in/],
    [{ input_ids: [] }, /^input_ids cannot be empty/],
    [{ input_ids: ['a', null] }, /'int_parsing', 'loc': \('body', 'input_ids', 0\)/],
    [{ input_ids: [3, null], stream: true }, /'int_type', 'loc': \('body', 'input_ids', 1\)/],
    [{ input_ids: [1.5] }, /'int_from_float', .* got a number with a fractional part/],
    [{ input_ids: [[1, 2]] }, /'int_type', .* valid integer'/],
    [{ n: 1.5 }, /'int_from_float', 'loc': \('body', 'n'\)/],
  ])('is refused for %j', async (change, says) => {
    const response = await post('/v1/chat/completions', { ...hi, ...change })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      object: 'error',
      message: expect.stringMatching(says),
      type: expect.stringMatching(/^Bad/),
      param: null,
      code: 400,
    })
  })
})

test.each(['true', 1, 'yes'])(
  'A chat completion with logprobs: %j returns logprobs, as in SGLang',
  async (logprobs) => {
    const body = { ...hi, logprobs, max_tokens: '2', temperature: '0', custom_params: { any: 'thing' } }
    const response = await post('/v1/chat/completions', body)
    expect(response.status).toBe(200)
    const [choice] = (await response.json()).choices
    expect(choice.logprobs.content).toHaveLength(2)
  },
)

test('A chat completion without a limit may fill the context', async () => {
  const response = await post('/v1/chat/completions', {
    ...hi,
    temperature: 0,
    min_tokens: 150,
    logit_bias: { 2: 100 },
  })
  expect((await response.json()).usage.completion_tokens).toBe(151)
})

describe('The chat message of a text', () => {
  const calls = (text: string) => chatMessage(text, 'possible', ['add']).calls
  const written = (body: string) => `<tool_call>\n${body}\n</tool_call>`

  test('separates the reasoning', () => {
    expect(chatMessage('<think>a</think>b', 'begun', undefined)).toEqual({ content: 'b', reasoning: 'a', calls: [] })
    expect(chatMessage('a</think>b', 'begun', undefined)).toMatchObject({ content: 'b', reasoning: 'a' })
    expect(chatMessage('cut', 'begun', undefined)).toMatchObject({ content: '', reasoning: 'cut' })
    expect(chatMessage('plain', 'possible', undefined)).toMatchObject({ content: 'plain', reasoning: undefined })
    expect(chatMessage('a<tool_call>\n', 'begun', undefined)).toMatchObject({
      content: '<tool_call>\n',
      reasoning: 'a',
    })
  })

  test('contains arguments that are written again as Python writes them', () => {
    expect(calls(written('{"name":"add","arguments":{"a":1.0,"b":"\\u00e9","c":1e-7}}'))).toEqual([
      { name: 'add', arguments: '{"a": 1.0, "b": "é", "c": 1e-07}' },
    ])
    expect(calls(written('{"name":"add","parameters":{},"arguments":{"a":1}}'))[0]?.arguments).toBe('{"a": 1}')
    expect(calls(written('{"name":"add"}'))[0]?.arguments).toBe('{}')
    expect(calls(`${written('{"name":"add"}')}${written('{"name":"add"}')}`)).toHaveLength(2)
    expect(
      calls(written('[{"name":"add"},{"name":"add","parameters":{"a":2}}]')).map((call) => call.arguments),
    ).toEqual(['{}', '{"a": 2}'])
  })

  test('omits calls of unknown tools, calls with invalid JSON, and text after a call', () => {
    expect(chatMessage(`x ${written('{"name":"sub"}')} y`, 'possible', ['add'])).toEqual({ content: 'x', calls: [] })
    expect(chatMessage(`x ${written('{"name":')} y`, 'possible', ['add'])).toMatchObject({ content: 'x', calls: [] })
    expect(chatMessage(written('3'), 'possible', ['add'])).toMatchObject({ content: written('3'), calls: [] })
    expect(chatMessage(written('{"name":"add"}'), 'possible', undefined).calls).toEqual([])
  })
  test('is read in linear time, even if many calls are opened and never closed', () => {
    const text = '<tool_call>\n'.repeat(100_000)
    expect(chatMessage(text, 'possible', ['add'])).toMatchObject({ content: '', calls: [] })
  })
})
