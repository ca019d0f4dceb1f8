/** Records have the fields that the tools write; recorded files are in files.test.ts. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { readForeignMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { miniSweAgent } from '../coding-agents/mini-swe-agent.ts'
import { formatOf } from '../registry.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { agentLightningEvents, agentLightningTriplet } from './agent-lightning.ts'
import { inspectLog } from './inspect-log.ts'
import { mlflowTrace } from './mlflow.ts'
import { otlp } from './otlp.ts'

const texts = (trajectory: Trajectory) => conversation(trajectory).map(({ role, content }) => [role, content])
const reply = (prompt: readonly number[], ids: readonly number[]) => ({
  choices: [{ message: { role: 'assistant', content: 'ok' }, token_ids: ids, finish_reason: 'stop' }],
  prompt_token_ids: prompt,
  system_fingerprint: 'vllm-0.32',
})
const kinds = ({ segments }: Trajectory) => segments.map(({ kind, ids }) => [kind, ids])

describe('a sample of Inspect', () => {
  const of = (more: object = {}) => ({
    id: 1,
    epoch: 2,
    input: 'q',
    target: 't',
    messages: [
      { role: 'user', content: 'attachment://a' },
      { role: 'assistant', content: 'x' },
    ],
    scores: { s: { value: 'P' } },
    attachments: { a: 'a long text' },
    ...more,
  })

  test('has the texts of its attachments, and opens without events', () => {
    const trajectory = trajectoryOf(inspectLog, of())
    expect(texts(trajectory)).toEqual([
      ['user', 'a long text'],
      ['assistant', 'x'],
    ])
    expect(trajectory).toMatchObject({ reward: 0.5, group: { id: '1', index: 1 }, outcome: { reason: 'end_turn' } })
  })

  test.each<[object | undefined, number | undefined]>([
    [{ s: { value: 0.25 } }, 0.25],
    [{ s: { value: true } }, 1],
    [{ s: { value: false } }, 0],
    [{ s: { value: 'I' } }, 0],
    [{ s: { value: 'words' } }, undefined],
    [{ s: { value: 'C' }, other: { value: 'C' } }, undefined],
    [undefined, undefined],
  ])('with the scores %j has the reward of Inspect’s value_to_float', (scores, reward) => {
    expect(trajectoryOf(inspectLog, of({ scores })).reward).toBe(reward)
  })

  test('that failed or reached a limit says so', () => {
    const outcomes = [{ error: { message: 'no' } }, { error: {} }, { limit: { type: 'token' } }].map(
      (more) => trajectoryOf(inspectLog, of(more)).outcome,
    )
    expect(outcomes).toEqual([
      { kind: 'failed', code: 'INSPECT_ERROR', message: 'no' },
      { kind: 'failed', code: 'INSPECT_ERROR', message: '' },
      { kind: 'ended', reason: 'truncated' },
    ])
  })

  test('with raw replies of ids takes the messages of a request from the pool of its sample', () => {
    const event = (response: unknown, more: object = {}) => ({
      event: 'model',
      timestamp: '2026-01-02T00:00:00Z',
      working_time: 0.5,
      tools: [{ name: 'f', parameters: { type: 'object' } }],
      call: { request: { model: 'm' }, response, call_refs: [[0, 1], 7], call_key: 'messages' },
      ...more,
    })
    const events_data = { calls: [{ role: 'user', content: 'pooled' }] }
    const whole = trajectoryOf(inspectLog, of({ events: [event(reply([1], [2])), { event: 'state' }], events_data }))
    expect(kinds(whole)).toEqual([
      ['prompt', [1]],
      ['response', [2]],
    ])
    expect(whole).toMatchObject({
      createdAt: '2026-01-02T00:00:00.000Z',
      model: { tools: [{ name: 'f' }] },
      segments: [{ messages: [{ content: 'pooled' }] }, { timing: { elapsedMs: 500 } }],
    })
    const plain = { request: { messages: [{ role: 'user', content: 'in it' }] }, response: reply([1], [2]) }
    const bare = event(undefined, { call: plain, timestamp: 7, tools: undefined })
    expect(trajectoryOf(inspectLog, of({ events: [bare] })).segments[0]).toMatchObject({
      messages: [{ content: 'in it' }],
    })
    const unasked = event(undefined, { call: { response: reply([1], [2]) } })
    expect(trajectoryOf(inspectLog, of({ events: [unasked] })).segments[0]).toMatchObject({ messages: [] })
    const partly = of({
      events: [event(reply([1], [2])), event({ content: 'x' }), event(undefined, { call: 7, model: 'm' })],
    })
    expect(trajectoryOf(inspectLog, partly).segments.map(({ ids }) => ids)).toEqual([[], []])
    expect(refusalOf(inspectLog, of({ events: [{ event: 'state' }, event(reply([-1], [2]))] }))).toMatchObject({
      path: 'events[1].call.response.prompt_token_ids[0]',
    })
  })

  test('of a log that is no sample is refused with its position', () => {
    const log = { version: 2, eval: { task: 't' }, samples: [of(), { id: 1 }] }
    expect(formatOf(log)?.name).toBe('inspect')
    expect(refusalOf(inspectLog, log)).toMatchObject({ path: 'samples[1]', expected: 'a sample with messages' })
    expect(refusalOf(inspectLog, of({ messages: [{ role: 'robot' }] }))).toMatchObject({ path: 'messages[0].role' })
    expect(trajectoriesOf(inspectLog, { version: 2, eval: { task: 't' } })).toEqual([])
  })
})

describe('an OpenTelemetry trace', () => {
  const value = (content: unknown): object => {
    if (Array.isArray(content)) return { arrayValue: { values: content.map(value) } }
    if (typeof content === 'object' && content !== null)
      return { kvlistValue: { values: Object.entries(content).map(([key, item]) => ({ key, value: value(item) })) } }
    if (typeof content === 'boolean') return { boolValue: content }
    if (typeof content === 'number')
      return Number.isInteger(content) ? { intValue: String(content) } : { doubleValue: content }
    return { stringValue: content }
  }
  const span = (attributes: object, more: object = {}) => ({
    traceId: 't',
    spanId: 's',
    name: 'chat',
    startTimeUnixNano: '1795386106748098639',
    endTimeUnixNano: '1795386106948098639',
    attributes: Object.entries(attributes).map(([key, content]) => ({ key, value: value(content) })),
    ...more,
  })
  const trace = (...spans: readonly object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] })

  test('of OpenInference without whole replies opens as messages, with flattened calls, parts and tools', () => {
    const call = 'llm.output_messages.0.message.tool_calls.0.tool_call'
    const trajectory = trajectoryOf(
      otlp,
      trace(
        span({
          'openinference.span.kind': 'LLM',
          'llm.model_name': 'm',
          'llm.invocation_parameters': '{"temperature": 0.5}',
          'llm.input_messages.0.message.role': 'user',
          'llm.input_messages.0.message.contents.0.message_content.type': 'text',
          'llm.input_messages.0.message.contents.0.message_content.text': 'q',
          'llm.input_messages.1.other': 'x',
          'llm.tools.0.tool.json_schema': '{"type":"function","function":{"name":"f","parameters":{}}}',
          'llm.tools.1.other': 'x',
          'llm.output_messages.0.message.role': 'assistant',
          [`${call}.id`]: 'c',
          [`${call}.function.name`]: 'f',
          [`${call}.function.arguments`]: '{"x": 1}',
          'llm.token_count.prompt': 4,
          'a.very.long.name': true,
          [`llm.tools.${'x.'.repeat(20)}y`]: 'too deep',
          'llm.tools.__proto__.x': 'no',
        }),
      ),
    )
    expect(conversation(trajectory)).toMatchObject([
      { role: 'user', content: 'q' },
      { role: 'assistant', toolCalls: [{ id: 'c', name: 'f', input: { x: 1 } }] },
    ])
    expect(trajectory).toMatchObject({
      model: { name: 'm', tools: [{ name: 'f' }] },
      segments: [{}, { usage: { promptTokens: 4 }, timing: { elapsedMs: expect.closeTo(200, 3) } }],
      outcome: { reason: 'unknown' },
      foreign: { otlp: { traceId: 't', calls: [{ request: { temperature: 0.5 } }] } },
    })
  })

  test('of the GenAI conventions opens as messages, with reasoning, calls and results', () => {
    const input = [
      { role: 'user', parts: [{ type: 'text', content: 'q' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'hm' },
          { type: 'tool_call', id: 'c', name: 'f', arguments: { x: 1 } },
        ],
      },
      {
        role: 'tool',
        parts: [
          { type: 'tool_call_response', id: 'c', response: { y: 2 } },
          { type: 'tool_call_response', result: 'r' },
          { type: 'tool_call_response' },
        ],
      },
    ]
    const trajectory = trajectoryOf(
      otlp,
      trace(
        span({
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'm',
          'gen_ai.request.temperature': 0.5,
          'gen_ai.system_instructions': '[{"type": "text", "content": "be"}]',
          'gen_ai.input.messages': JSON.stringify(input),
          'gen_ai.output.messages': [
            { role: 'assistant', parts: [{ type: 'text', content: 'a' }], finish_reason: 'stop' },
          ],
          'gen_ai.tool.definitions': '[{"name": "f", "parameters": {}}]',
          'gen_ai.usage.output_tokens': 3,
        }),
      ),
    )
    expect(conversation(trajectory)).toEqual([
      { role: 'system', content: 'be' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: '', reasoning: 'hm', toolCalls: [{ id: 'c', name: 'f', input: { x: 1 } }] },
      { role: 'tool', callId: 'c', content: '{"y":2}' },
      { role: 'tool', content: 'r' },
      { role: 'tool', content: '' },
      { role: 'assistant', content: 'a' },
    ])
    expect(trajectory).toMatchObject({ model: { name: 'm', tools: [{ name: 'f' }] } })
  })

  test('of the GenAI conventions keeps images and other parts, and texts beside results', () => {
    const blob = { type: 'blob', modality: 'image', mime_type: 'image/png', content: 'iVBORw0KGgo=' }
    const input = [
      { role: 'user', parts: [{ type: 'text', content: 'q' }, blob, { type: 'uri', modality: 'image', uri: 'a.png' }] },
      {
        role: 'user',
        parts: [
          { type: 'tool_call_response', id: 'c', response: '4' },
          { type: 'text', content: 'and?' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'compaction', id: 'x' },
          { ...blob, modality: 'audio' },
        ],
      },
    ]
    const output = [{ role: 'assistant', parts: [{ type: 'text', content: 'a' }] }]
    const attributes = { 'gen_ai.input.messages': JSON.stringify(input), 'gen_ai.output.messages': output }
    const trajectory = trajectoryOf(otlp, trace(span({ 'gen_ai.operation.name': 'chat', ...attributes })))
    expect(conversation(trajectory)).toMatchObject([
      {
        content: [
          { type: 'text', text: 'q' },
          { type: 'image', image: 'data:image/png;base64,iVBORw0KGgo=' },
          { type: 'image', reference: 'a.png' },
        ],
      },
      { role: 'tool', callId: 'c', content: '4' },
      { role: 'user', content: 'and?' },
      {
        content: [
          { type: 'compaction', id: 'x' },
          { type: 'blob', modality: 'audio' },
        ],
      },
      { content: 'a' },
    ])
  })

  test.each(['strands-events.json', 'strands-latest.json', 'strands-printed.jsonl'])(
    'of Strands Agents, %s, opens as the conversation of its agent',
    (name) => {
      const records = foreignRecords(name)
      expect(records.map((record) => formatOf(record)?.name)).toEqual(records.map(() => 'otlp'))
      const trajectory = trajectoryOf(otlp, records)
      const messages = JSON.parse(readFileSync('lib/formats/golden/strands-traces.json', 'utf8')) as readonly unknown[]
      expect(conversation(trajectory)).toEqual([
        { role: 'system', content: 'Use the calculator.' },
        ...messages.flatMap((message) => readForeignMessage(message) ?? expect.fail('no message')),
      ])
      expect(trajectory).toMatchObject({
        outcome: { reason: 'end_turn' },
        segments: [{}, { usage: { promptTokens: 20, completionTokens: 8 } }, {}, { finish: { kind: 'stop' } }],
      })
    },
  )

  test('as the SDK prints it may lack times and the attributes of events', () => {
    const printed = {
      name: 'chat',
      context: { trace_id: '0x1', span_id: '0x2' },
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': '[{"role":"assistant","parts":[]}]' },
      events: [{ name: 'x' }],
    }
    const trajectory = trajectoryOf(otlp, [printed])
    expect(trajectory.segments).toMatchObject([{ kind: 'response' }])
    expect(trajectory.segments[0]).not.toHaveProperty('timing')
    expect(formatOf({ ...printed, context: {} })).toBeUndefined()
  })

  test('with events of other versions has their texts, calls and results', () => {
    const event = (name: unknown, attributes: object) => ({
      name,
      attributes: Object.entries(attributes).map(([key, content]) => ({ key, value: value(content) })),
    })
    const events = [
      event(7, {}),
      event('gen_ai.user.message', { content: 'q' }),
      event('gen_ai.assistant.message', { tool_calls: '[{"id":"c","function":{"name":"f","arguments":"{}"}}]' }),
      event('gen_ai.tool.message', { id: 'c', content: '4' }),
      event('gen_ai.assistant.message', {
        content: '[{"reasoning":{"text":"hm"}},{"toolUse":{"name":"g","toolUseId":"d"}}]',
      }),
      event('gen_ai.tool.message', { content: '[{"type":"toolResult","toolUseId":"d","content":[{"text":"5"}]}]' }),
      event('gen_ai.choice', { message: { content: 'a' }, finish_reason: 'max_tokens' }),
    ]
    const trajectory = trajectoryOf(otlp, trace(span({ 'gen_ai.operation.name': 'chat' }, { events })))
    expect(conversation(trajectory)).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', input: {} }] },
      { role: 'tool', callId: 'c', content: '4' },
      { role: 'assistant', content: '', reasoning: 'hm', toolCalls: [{ id: 'd', name: 'g', input: {} }] },
      { role: 'tool', callId: 'd', content: '5' },
      { role: 'assistant', content: 'a' },
    ])
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'length' })
  })

  test('is one run for each trace, of the innermost model spans in the order of their times', () => {
    const llm = (ids: readonly number[], more: object) =>
      span(
        { 'openinference.span.kind': 'LLM', 'output.value': JSON.stringify(reply([1, 2, 3].slice(0, ids[0]), [9])) },
        more,
      )
    const outer = span({ 'openinference.span.kind': 'LLM' }, { spanId: 'outer' })
    const late = llm([3], { spanId: 'late', startTimeUnixNano: 2e18, endTimeUnixNano: 1 })
    const early = llm([2], { spanId: 'early', parentSpanId: 'outer', startTimeUnixNano: 1e18 })
    const other = llm([1], { traceId: 'u' })
    const idle = span({}, { traceId: 'v', attributes: 7 })
    const runs = trajectoriesOf(otlp, [trace(late, outer), trace(early, other, idle)])
    expect(runs.map((run) => kinds(run)[0])).toEqual([
      ['prompt', [1, 2]],
      ['prompt', [1, 2, 3]],
      ['prompt', [1]],
    ])
    expect(formatOf(trace())?.name).toBe('otlp')
  })

  test('without a call of a model is refused', () => {
    const none = trace(span({ 'openinference.span.kind': 'LLM' }), span({ 'gen_ai.operation.name': 'execute_tool' }))
    expect(refusalOf(otlp, none)).toMatchObject({ path: 'resourceSpans', expected: 'a span with a call of a model' })
    const wrong = {
      resourceSpans: [{ scopeSpans: [{ spans: [{ name: 's', attributes: [{ key: 'k', value: 7 }] }] }] }],
    }
    expect(refusalOf(otlp, wrong)).toMatchObject({ path: 'resourceSpans' })
    expect(refusalOf(otlp, [7, { resourceSpans: [{ scopeSpans: 7 }] }])).toMatchObject({ path: 'resourceSpans' })
  })
})

describe('a trace of MLflow', () => {
  const trace = (...spans: readonly unknown[]) => ({ info: { trace_id: 't' }, data: { spans } })
  const span = (attributes: object, start = 1e18) => ({
    span_id: 's',
    start_time_unix_nano: start,
    attributes: Object.fromEntries(Object.entries(attributes).map(([key, item]) => [key, JSON.stringify(item)])),
  })

  test('whose outputs are a text or a message opens as messages', () => {
    const trajectories = trajectoriesOf(
      mlflowTrace,
      trace(
        span({ 'mlflow.spanType': 'LLM', 'mlflow.spanOutputs': { role: 'assistant', content: 'two' } }, 2e18),
        span({
          'mlflow.spanType': 'CHAT_MODEL',
          model: 'm',
          'mlflow.spanInputs': { messages: [{ role: 'user', content: 'q' }] },
          'mlflow.spanOutputs': 'one',
          'mlflow.chat.tokenUsage': { input_tokens: 3 },
        }),
        { ...span({ 'mlflow.spanType': 'LLM', 'mlflow.spanOutputs': 'none' }), start_time_unix_nano: null },
        span({ 'mlflow.spanType': 'TOOL' }),
        { attributes: 7 },
      ),
    )
    expect(trajectories.map(texts)).toEqual([
      [['assistant', 'none']],
      [
        ['user', 'q'],
        ['assistant', 'one'],
      ],
      [['assistant', 'two']],
    ])
  })

  test('without a call of a model is refused', () => {
    const none = trace(span({ 'mlflow.spanType': 'LLM', 'mlflow.spanOutputs': 7 }))
    expect(formatOf(none)?.name).toBe('mlflow')
    expect(refusalOf(mlflowTrace, none)).toMatchObject({
      path: 'data.spans',
      expected: 'a span with a call of a model',
    })
    expect(refusalOf(mlflowTrace, { info: { trace_id: 't' }, data: {} })).toMatchObject({ path: 'data.spans' })
  })
})

describe('events of Agent Lightning', () => {
  const event = (event_type: string, data: unknown, more: object = {}) => ({
    event_type,
    rollout_id: 'r',
    attempt_id: '0',
    timestamp: 1_700_000_000,
    data,
    ...more,
  })

  test('are one run for each attempt, with its last reward, and skip what is no reply', () => {
    const runs = trajectoriesOf(agentLightningEvents, [
      event('model_request', { response: reply([1], [2]), latency_ms: 500 }),
      event('model_request', { response: reply([1, 2, 3], [4]) }, { timestamp: 'x' }),
      event('model_request', { response: { error: 'no' } }),
      event('reward', { value: 0.25 }),
      event('reward', { value: 0.5 }),
      event('reward', 7),
      event('model_request', { response: reply([1], [2]), latency_ms: -1 }, { attempt_id: '1' }),
      event('reward', { value: 'high' }, { attempt_id: '1' }),
      event('other', {}, { attempt_id: '2' }),
    ])
    expect(runs.map(kinds)).toEqual([
      [
        ['prompt', [1]],
        ['response', [2]],
        ['prompt', [3]],
        ['response', [4]],
      ],
      [
        ['prompt', [1]],
        ['response', [2]],
      ],
    ])
    expect(runs.map(({ reward, createdAt }) => [reward, createdAt])).toEqual([
      [0.5, '2023-11-14T22:13:19.500Z'],
      [undefined, '2023-11-14T22:13:20.000Z'],
    ])
  })

  test('of one record are read too', () => {
    expect(
      kinds(trajectoryOf(agentLightningEvents, event('model_request', { response: reply([1], [2]) }))),
    ).toHaveLength(2)
  })
})

describe('a triplet of Agent Lightning', () => {
  test.each<[string, readonly unknown[]]>([
    ['numbers', [-1, -2]],
    ['objects', [{ logprob: -1 }, { logprob: -2 }]],
  ])('has its ids, reward and logprobs as %s', (_, logprobs) => {
    const triplet = {
      prompt: { token_ids: [1], text: 'q' },
      response: { token_ids: [2, 3], logprobs },
      reward: 1,
      metadata: { a: 1 },
    }
    expect(formatOf(triplet)?.name).toBe('agent-lightning-triplet')
    const trajectory = trajectoryOf(agentLightningTriplet, triplet)
    expect(trajectory).toMatchObject({
      segments: [{ ids: [1] }, { ids: [2, 3], logprobs: [-1, -2] }],
      reward: 1,
      provenance: { missing: ['texts', 'messages', 'logprob_values', 'temperature', 'special_tokens'] },
      foreign: { 'agent-lightning-triplet': { metadata: { a: 1 }, prompt: { text: 'q' } } },
    })
  })

  test('without logprobs, or with too few, keeps its ids', () => {
    const of = (response: object) => trajectoryOf(agentLightningTriplet, { prompt: { token_ids: [1] }, response })
    expect(of({ token_ids: [2] }).provenance).toMatchObject({
      missing: ['texts', 'messages', 'logprobs', 'special_tokens'],
    })
    const few = of({ token_ids: [2, 3], logprobs: [-1] })
    expect(few.segments[1]).toMatchObject({ ids: [2, 3], problems: [{ kind: 'count' }] })
    expect(few.foreign).toEqual({ 'agent-lightning-triplet': { response: { logprobs: [-1] } } })
    expect(
      refusalOf(agentLightningTriplet, { prompt: { token_ids: [1.5] }, response: { token_ids: [] } }),
    ).toMatchObject({
      path: 'prompt.token_ids[0]',
    })
  })
})

test.each([
  ['Submitted', 'end_turn'],
  ['LimitsExceeded', 'truncated'],
  ['RuntimeError', 'unknown'],
  [undefined, 'unknown'],
])('a trajectory of mini-swe-agent with the exit status %s ended as %s', (exit_status, reason) => {
  const value = { trajectory_format: 'mini-swe-agent-1', messages: [7], info: { exit_status } }
  expect(refusalOf(miniSweAgent, value)).toMatchObject({ path: 'messages[0]' })
  expect(refusalOf(miniSweAgent, { ...value, messages: 7 })).toMatchObject({ path: 'messages' })
  expect(trajectoryOf(miniSweAgent, { ...value, messages: [{ role: 'user', content: 'q' }] }).outcome).toEqual({
    kind: 'ended',
    reason,
  })
  expect(trajectoryOf(miniSweAgent, { ...value, info: 7, messages: [] }).segments).toEqual([])
})
