/** Compares conversations of LangChain, Pydantic AI and LangSmith with what the packages find in them (lib/formats/golden/writers/make_messages.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#lib/json/json-object.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { openText } from '../reading/open.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { calls, refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { langsmith } from '../traces/langsmith.ts'
import { langchain } from './langchain.ts'
import { pydanticAi } from './pydantic-ai.ts'

const golden = JSON.parse(readFileSync('lib/formats/golden/messages.json', 'utf8')) as {
  readonly langchain: readonly { readonly role: string; readonly content: string }[]
  readonly 'pydantic-ai': readonly (readonly string[])[]
  readonly langsmith: readonly (readonly [type: string, trace: string])[]
}

function opened(name: string) {
  const found = openText(readFileSync(`lib/formats/golden/foreign/${name}`, 'utf8'), fileSource(name))
  return found.ok ? found.trajectories : expect.fail(found.error.message)
}

const call = { name: 'calculator', input: { expression: '25 * 17' }, id: 'call_1' }

test.each([
  ['langgraph-state.json', 1],
  ['langchain-messages.jsonl', 2],
] as const)('The conversation of %s has the messages that LangChain converts for OpenAI', (name, count) => {
  const trajectories = opened(name)
  expect(trajectories).toHaveLength(count)
  for (const trajectory of trajectories) {
    const messages = conversation(trajectory)
    expect(messages.map(({ role, content }) => ({ role, content }))).toEqual(
      golden.langchain.map(({ role, content }) => ({ role, content })),
    )
    expect(messages[2]).toMatchObject({ toolCalls: [call] })
    expect(messages[3]).toMatchObject({ callId: 'call_1', name: 'calculator' })
    expect(trajectory).toMatchObject({ model: { name: 'tiny-qwen3' }, outcome: { reason: 'end_turn' } })
  }
})

describe('A message of LangChain', () => {
  const messageIn = (message: object) => trajectoryOf(langchain, [message]).segments[0]

  test('has the calls and the reasoning of its model, in each form', () => {
    const use = { type: 'tool_use', id: 'a', name: 'f', input: {} }
    const parsed = { name: 'f', args: { x: 1 }, id: 'a', type: 'tool_call' }
    const invalid = { name: 'g', args: '{"x"', id: 'b', error: 'no JSON', type: 'invalid_tool_call' }
    const written = { id: 'c', type: 'function', function: { name: 'h', arguments: '{}' } }
    const ai = (more: object) => messageIn({ type: 'AIMessageChunk', content: ['so', use], ...more })
    expect(ai({ tool_calls: [parsed], invalid_tool_calls: [invalid] })).toMatchObject({
      message: {
        content: [{ type: 'text', text: 'so' }],
        tool_calls: [
          { id: 'a', function: { name: 'f', arguments: { x: 1 } } },
          { id: 'b', function: { name: 'g', arguments: '{"x"' } },
        ],
      },
    })
    expect(ai({ additional_kwargs: { tool_calls: [written], reasoning_content: 'hm' } })).toMatchObject({
      message: { tool_calls: [written], reasoning_content: 'hm' },
    })
    expect(ai({})).toMatchObject({ message: { content: [{ text: 'so' }, use] } })
  })

  test('of LangChain.js has its class instead of a type', () => {
    const human = {
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'HumanMessage'],
      kwargs: { content: 'q' },
    }
    expect(messageIn(human)).toMatchObject({ messages: [{ role: 'user', content: 'q' }] })
    const other = {
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'prompts', 'PromptTemplate'],
      kwargs: { content: 'q' },
    }
    expect(langchain.sniff(other)).toBe(false)
    expect(langchain.sniff({ type: 'constructor', id: [3], lc: 1, kwargs: { content: 'q' } })).toBe(false)
  })

  test('may be the error of a tool, and a message without a known content is refused at its path', () => {
    expect(messageIn({ type: 'tool', content: 'no', tool_call_id: 'a', status: 'error' })).toMatchObject({
      messages: [{ role: 'tool', callId: 'a', content: 'no', isError: true }],
    })
    const wrong = { type: 'human', content: 3 }
    expect(refusalOf(langchain, [{ type: 'human', content: 'q' }, wrong])).toMatchObject({ path: '[1]' })
    expect(refusalOf(langchain, { messages: [wrong] })).toMatchObject({ path: '[0].messages[0]' })
  })

  test('of a state is beside the other values of the state, which the trajectory keeps', () => {
    const state = { messages: [{ type: 'human', content: 'q' }], remaining_steps: 3 }
    expect(trajectoryOf(langchain, state).foreign).toEqual({ langchain: { remaining_steps: 3 } })
  })
})

test('The messages of Pydantic AI have the parts that it finds, and its instructions once', () => {
  const [trajectory] = opened('pydantic-ai.json')
  if (!trajectory) throw new Error('the file has a conversation')
  const [, ...messages] = conversation(trajectory)
  expect(conversation(trajectory)[0]).toEqual({ role: 'system', content: 'Be brief.' })
  expect(golden['pydantic-ai']).toEqual([['user-prompt'], ['thinking', 'tool-call'], ['tool-return'], ['text']])
  expect(messages).toMatchObject([
    { role: 'user', content: 'What is 25 * 17?' },
    { role: 'assistant', reasoning: 'A product is needed.', toolCalls: [call] },
    { role: 'tool', callId: 'call_1', name: 'calculator', content: '425' },
    { role: 'assistant', content: '425.' },
  ])
  expect(trajectory).toMatchObject({
    createdAt: expect.stringMatching(/^2026-11-30T/),
    model: { name: 'tiny-qwen3' },
    outcome: { reason: 'end_turn' },
  })
})

describe('A request of Pydantic AI', () => {
  const request = (...parts: readonly object[]) => trajectoryOf(pydanticAi, [{ kind: 'request', parts }])

  test('has system prompts, failed calls and answers that were sent back', () => {
    expect(
      conversation(
        request(
          { part_kind: 'system-prompt', content: 's' },
          { part_kind: 'retry-prompt', content: [{ loc: ['x'] }], tool_name: 'f', tool_call_id: 'a' },
          { part_kind: 'retry-prompt', content: [{ loc: ['x'] }] },
          { part_kind: 'tool-return', content: null, tool_name: 'f', tool_call_id: 'b' },
        ),
      ),
    ).toEqual([
      { role: 'system', content: 's' },
      { role: 'tool', callId: 'a', name: 'f', content: '[{"loc":["x"]}]', isError: true },
      { role: 'user', content: '[{"loc":["x"]}]' },
      { role: 'tool', callId: 'b', name: 'f', content: 'null' },
    ])
  })

  test('has images, whose bytes have the alphabet of URLs', () => {
    const binary = { kind: 'binary', media_type: 'image/png', data: 'iVBORw0KGgo_-A==' }
    const content = [
      'see',
      { kind: 'image-url', url: 'https://a/b.png' },
      binary,
      { ...binary, media_type: 'audio/wav' },
    ]
    expect(conversation(request({ part_kind: 'user-prompt', content }))[0]).toMatchObject({
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', reference: 'https://a/b.png' },
        { type: 'image', image: 'data:image/png;base64,iVBORw0KGgo/+A==' },
        { type: 'binary', media_type: 'audio/wav' },
      ],
    })
  })

  test('is not a record with other parts, and a response keeps parts of other kinds', () => {
    expect(pydanticAi.sniff({ kind: 'request', parts: [{ text: 'a' }] })).toBe(false)
    const file = { part_kind: 'file', id: 'x' }
    expect(trajectoryOf(pydanticAi, { kind: 'response', parts: [file] }).segments[0]).toMatchObject({
      message: { content: [{ type: 'file', id: 'x' }] },
    })
  })
})

describe('The runs of LangSmith', () => {
  const records = foreignRecords('langsmith-runs.jsonl') as readonly JsonObject[]

  test('are a trajectory for each trace with a model, with the ids and logprobs of a reply that has them', () => {
    const [graph, reply] = trajectoriesOf(langsmith, records)
    if (!graph || !reply) throw new Error('the file has two traces')
    expect([graph, reply].map(({ foreign }) => foreign?.langsmith)).toMatchObject(
      Array.from(new Set(golden.langsmith.map(([, trace]) => trace)), (trace_id) => ({ trace_id })),
    )
    expect(conversation(graph).map(({ role, content }) => ({ role, content }))).toEqual(
      golden.langchain.map(({ role, content }) => ({ role, content })),
    )
    expect(graph.model.name).toBe('tiny-qwen3')
    expect(calls(reply)).toMatchObject([{ prompt: [1, 2, 3], response: { ids: [9, 10], logprobs: [-0.5, -0.5] } }])
    expect(calls(reply)[0]?.response.timing?.elapsedMs).toBeGreaterThan(0)
    expect(reply.segments.at(-1)).toMatchObject({ request: { samplingParams: { temperature: 0.5 } } })
  })

  test('may lack times, messages, outputs and the counts of tokens', () => {
    const ai = { type: 'ai', content: 'a', usage_metadata: { input_tokens: 3, output_tokens: 1 } }
    const run = (more: object) => ({ trace_id: 't', run_type: 'llm', ...more })
    const generations = [[{ message: ai }]]
    expect(trajectoriesOf(langsmith, [run({ outputs: null }), run({ outputs: { generations: [] } })])).toEqual([])
    const [found] = trajectoriesOf(langsmith, [
      run({ inputs: { messages: 'q' }, outputs: { generations }, extra: { invocation_params: { model_name: 'm' } } }),
    ])
    expect(found).toMatchObject({
      model: { name: 'm' },
      segments: [{ usage: { promptTokens: 3, completionTokens: 1 } }],
    })
    expect(trajectoriesOf(langsmith, run({ outputs: { generations } }))).toHaveLength(1)
  })
})
