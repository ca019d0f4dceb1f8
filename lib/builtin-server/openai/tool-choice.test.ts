/**
 * Compares chats with a forced call with the real SGLang 0.5.23: prompts are equal, and so are ids up to the arguments. SGLang allows any
 * JSON as arguments, which a model may write without end; this server requires an object.
 */

import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createTestModel, eventsIn, testClient } from '#lib/builtin-server/test-model.ts'
import { answerTo, isForcedCall, recorded, recordedNames } from '#lib/builtin-server/test-openai.ts'
import { runs } from '#testing/property-runs.ts'
import { readChatBody } from './chat-body.ts'

interface Call {
  readonly function: { readonly name: string; readonly arguments: string }
}

interface Choice {
  readonly message: {
    readonly content: string
    readonly reasoning_content: string | null
    readonly tool_calls?: readonly Call[]
  }
  readonly finish_reason: string
  readonly prompt_token_ids: readonly number[]
  readonly response_token_ids: readonly number[]
}

const model = createTestModel()
afterAll(() => model.close())
const { post } = testClient(model)

const firstChoice = (response: unknown): Choice => (response as { choices: [Choice] }).choices[0]

const names = recordedNames('chat-tool-choice-').filter(isForcedCall)

/** Id of the token `":`, which precedes the arguments. */
const BEFORE_ARGUMENTS = 266

test.each(names)('The recorded forced call %s has the same ids up to its arguments', async (name) => {
  const { status, json } = await answerTo(model, name)
  expect(status).toBe(200)
  const [ours, theirs] = [firstChoice(json()), firstChoice(recorded(name).response)]
  expect(ours.prompt_token_ids).toEqual(theirs.prompt_token_ids)
  const beginning = theirs.response_token_ids.slice(0, theirs.response_token_ids.lastIndexOf(BEFORE_ARGUMENTS) + 1)
  expect(beginning.length).toBeGreaterThan(8)
  expect(ours.response_token_ids.slice(0, beginning.length)).toEqual(beginning)
  expect(ours.message.reasoning_content).toBe(theirs.message.reasoning_content)
})

test('The recorded forced calls include replies with thinking and without', () => {
  expect(names).toHaveLength(4)
})

const only = (name: string, schema: object) => ({
  type: 'object',
  properties: { [name]: schema },
  required: [name],
  additionalProperties: false,
})
const clock = { name: 'clock', parameters: only('zone', { type: 'string', maxLength: 6 }) }
const lookup = { name: 'look "up"', parameters: only('n', { enum: ['one', 'two'] }) }
const tools = (isStrict: boolean) =>
  [clock, lookup].map((tool) => ({ type: 'function', function: { ...tool, strict: isStrict } }))
const named = (name: string) => ({ type: 'function', function: { name } })

const asked = {
  messages: [{ role: 'user', content: 'Hello!' }],
  chat_template_kwargs: { enable_thinking: false },
  max_completion_tokens: 60,
}

describe('A reply with a forced call, however it is sampled,', () => {
  test('begins with a requested tool and an object as arguments, which fits the schema of a strict tool', async () => {
    const choice = fc.constantFrom('required', named('clock'), named('look "up"'))
    await fc.assert(
      fc.asyncProperty(choice, fc.boolean(), fc.nat(), async (tool_choice, isStrict, seed) => {
        const body = { ...asked, tools: tools(isStrict), tool_choice, seed, temperature: 1 }
        const response = await post('/v1/chat/completions', body)
        expect(response.status).toBe(200)
        const { message, finish_reason } = firstChoice(await response.json())
        // Without a schema, an object may exceed the length of a reply.
        if (finish_reason === 'length') return
        const [call] = message.tool_calls as readonly [Call]
        if (typeof tool_choice === 'object') expect(call.function.name).toBe(tool_choice.function.name)
        const value = JSON.parse(call.function.arguments)
        expect(value).toBeTypeOf('object')
        if (isStrict && call.function.name === 'look "up"') expect(['one', 'two']).toContain(value.n)
        if (isStrict && call.function.name === 'clock') expect([...value.zone].length).toBeLessThanOrEqual(6)
      }),
      { numRuns: runs(8) },
    )
  })

  test('has the same arguments in a stream as in a complete reply', async () => {
    const body = { ...asked, tools: tools(true), tool_choice: named('look "up"'), temperature: 0 }
    const whole = firstChoice(await (await post('/v1/chat/completions', body)).json())
    const response = await post('/v1/chat/completions', { ...body, stream: true })
    const deltas = (eventsIn(await response.text()) as { choices: { delta: { tool_calls?: Call[] } }[] }[]).flatMap(
      ({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []),
    )
    const written = deltas.map((call) => call.function.arguments).join('')
    expect(written).toBe(whole.message.tool_calls?.[0]?.function.arguments)
    expect(deltas[0]?.function.name).toBe('look "up"')
  })

  test('thinks first, if thinking is on', async () => {
    const body = { ...asked, chat_template_kwargs: {}, tools: tools(true), tool_choice: 'required', temperature: 0 }
    const { message } = firstChoice(await (await post('/v1/chat/completions', body)).json())
    expect(message.reasoning_content).not.toBe('')
    expect(message.tool_calls).toHaveLength(1)
  })
})

test('A forced call with an impossible schema is refused before the first token', async () => {
  const parameters = { type: 'object', properties: { a: { type: 'string', format: 'date' } } }
  const strict = { type: 'function', function: { name: 'f', parameters, strict: true } }
  const response = await post('/v1/chat/completions', { ...asked, tools: [strict], tool_choice: 'required' })
  expect(response.status).toBe(400)
  expect((await response.json()).message).toMatch(/^Failed to compile json grammar: /)
})

test('A forced call is refused for a model whose calls have no known form', () => {
  const body = { messages: [{}], tools: tools(false), tool_choice: 'required' }
  const parsers = { toolCalls: undefined, reasoning: undefined }
  expect(() => readChatBody(body, 100, parsers)).toThrow(/does not know this model’s format of calls/)
})
