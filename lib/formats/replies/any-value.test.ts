/**
 * Replaces each value of a record by values of other kinds: each record opens as trajectories that can be written and read, or is refused
 * with a path. A reader that trusts a field fails here.
 */
import { expect, test } from 'vitest'
import { isObject, without } from '#lib/json/json-object.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import { anthropic } from '../conversations/anthropic.ts'
import { chatMessages } from '../conversations/chat-messages.ts'
import { sharegpt } from '../conversations/sharegpt.ts'
import { relax, trl, verlDump } from '../conversations/text-dumps.ts'
import type { Format } from '../format.ts'
import { agentLightningEvents, agentLightningTriplet } from '../traces/agent-lightning.ts'
import { inspectLog } from '../traces/inspect-log.ts'
import { mlflowTrace } from '../traces/mlflow.ts'
import { otlp } from '../traces/otlp.ts'
import { chatCompletionStream } from './chat-chunks.ts'
import { chatCompletion } from './chat-completion.ts'
import { completion, completionStream } from './completion.ts'
import { llamaCppCompletion, llamaCppCompletionStream } from './llama-cpp.ts'
import { sglangGenerate, sglangGenerateStream } from './sglang-generate.ts'

const entry = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [{ token: 'a', logprob: -1, id: 5 }] }
const request = {
  model: 'm',
  system: 'be',
  messages: [{ role: 'user', content: 'q' }],
  tools: [{ function: { name: 'f', description: 'F.', parameters: {} } }],
  sampling_params: { temperature: 0.5 },
}
const choice = {
  index: 0,
  message: { role: 'assistant', content: 'a' },
  token_ids: [5],
  logprobs: { content: [entry] },
  finish_reason: 'stop',
  meta_info: { output_token_logprobs: [[-1, 5, 'a']], output_top_logprobs: [[[-1, 5, 'a']]] },
  provider_specific_fields: { matched_stop: 2 },
}
const reply = {
  id: 'r',
  model: 'm',
  choices: [choice],
  prompt_token_ids: [1],
  created: 1,
  usage: { prompt_tokens: 1, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 1 } },
  metadata: { weight_versions: [{ version: 'v', start: 0, end: 1 }] },
  system_fingerprint: 'x',
}
const delta = {
  role: 'assistant',
  content: 'a',
  tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }],
}
const generated = {
  text: 'a',
  output_ids: [5],
  meta_info: {
    id: 'g',
    finish_reason: { type: 'stop', matched: 2 },
    prompt_tokens: 1,
    completion_tokens: 1,
    output_token_logprobs: [[-1, 5, 'a']],
    output_top_logprobs: [[[-1, 5, 'a']]],
    input_token_logprobs: [[null, 1, 'p']],
    input_top_logprobs: [null],
  },
}
const completed = {
  id: 'c',
  model: 'm',
  usage: { prompt_tokens: 1 },
  choices: [
    {
      text: 'a',
      token_ids: [5],
      prompt_token_ids: [1],
      prompt_logprobs: [
        { '1': { logprob: -1, rank: 1, decoded_token: 'p' }, '7': { logprob: -1, rank: 2, decoded_token: '' } },
      ],
      logprobs: { tokens: ['a'], token_logprobs: [-1], top_logprobs: [{ a: -1 }] },
      finish_reason: 'stop',
    },
  ],
}
const llama = {
  index: 0,
  content: 'a',
  tokens: [5],
  stop: true,
  stop_type: 'word',
  stopping_word: 'x',
  tokens_predicted: 1,
  generation_settings: { temperature: 1 },
  completion_probabilities: [{ id: 5, token: 'a', bytes: [97], logprob: -1, top_logprobs: [] }],
}
const sample = {
  id: 's',
  epoch: 1,
  input: 'q',
  messages: [{ role: 'user', content: 'attachment://a' }],
  scores: { s: { value: 1 } },
  attachments: { a: 'x' },
  events_data: { calls: [{ role: 'user', content: 'q' }] },
  events: [
    {
      event: 'model',
      model: 'm',
      timestamp: '2026-01-01T00:00:00Z',
      working_time: 1,
      tools: [],
      call: { request, response: reply, call_refs: [[0, 1]], call_key: 'messages' },
    },
  ],
}
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const span = {
  traceId: 't',
  spanId: 's',
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  attributes: [
    attribute('openinference.span.kind', 'LLM'),
    attribute('input.value', JSON.stringify(request)),
    attribute('output.value', JSON.stringify(reply)),
    attribute('llm.input_messages.0.message.role', 'user'),
    attribute('llm.input_messages.0.message', 'not an object'),
  ],
}
const said = {
  traceId: 'u',
  attributes: [
    attribute('gen_ai.operation.name', 'chat'),
    attribute('gen_ai.output.messages', JSON.stringify([{ role: 'assistant', parts: [{ type: 'text' }] }])),
    attribute('gen_ai.input.messages', JSON.stringify([{ role: 'user' }, { parts: [{ type: 'tool_call_response' }] }])),
    { key: 'list', value: { arrayValue: { values: [{ intValue: 1 }] } } },
    { key: 'map', value: { kvlistValue: {} } },
    { key: 'none' },
  ],
}

const RECORDS: readonly (readonly [Format, object])[] = [
  [chatCompletion, { request, response: reply }],
  [chatCompletion, { records: [{ response: { ...reply, choices: [{ message: {}, token_ids: [5] }] } }] }],
  [
    chatCompletionStream,
    [
      {
        id: 'r',
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, token_ids: [5], logprobs: { content: [entry] } }],
      },
    ],
  ],
  [completion, completed],
  [completionStream, [completed, completed]],
  [sglangGenerate, { request: { input_ids: [1] }, response: generated }],
  [sglangGenerate, generated],
  [sglangGenerateStream, [generated, { ...generated, text: 'b' }]],
  [llamaCppCompletion, llama],
  [llamaCppCompletionStream, [{ ...llama, stop: false }, llama]],
  [inspectLog, { version: 2, eval: { task: 't' }, samples: [sample] }],
  [otlp, [{ resourceSpans: [{ scopeSpans: [{ spans: [span, said] }] }] }]],
  [
    mlflowTrace,
    {
      info: { trace_id: 't' },
      data: {
        spans: [{ attributes: { 'mlflow.spanType': '"LLM"', 'mlflow.spanInputs': '7', 'mlflow.spanOutputs': '"a"' } }],
      },
    },
  ],
  [
    agentLightningEvents,
    [
      { event_type: 'model_request', rollout_id: 'r', timestamp: 1, data: { request, response: reply, latency_ms: 1 } },
      { event_type: 'reward', rollout_id: 'r', data: { value: 1 } },
    ],
  ],
  [agentLightningTriplet, { prompt: { token_ids: [1] }, response: { token_ids: [5], logprobs: [-1] }, reward: 1 }],
  [
    anthropic,
    {
      request,
      response: { type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1 }, stop_reason: 'x' },
    },
  ],
  [
    sharegpt,
    {
      conversations: [
        { from: 'human', value: 'q' },
        { from: 'function_call', value: '{"name": "f"}' },
      ],
      tools: [],
    },
  ],
  [trl, [{ step: 1, prompt: 'q', completion: [{ role: 'assistant', content: 'a' }], correct: 1, advantage: 1 }, 7]],
  [verlDump, [{ input: 'q', output: 'a', score: 1, step: 1 }]],
  [relax, [{ prompt: 'q', response: 'a', reward: 1, total_length: 1, group_index: 1, status: 'completed' }]],
  [chatMessages, { ...request, reward: 1, status: 'completed', group_index: 1, sample_index: 0 }],
]

const OTHERS: readonly unknown[] = [null, 'x', [7]]

/** Returns each copy of a value in which one value inside of it is another or missing. */
function* changed(value: unknown): Generator<unknown> {
  if (!isObject(value) && !Array.isArray(value)) return
  for (const key of Object.keys(value)) {
    const put = (item: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), item) : { ...value, [key]: item }
    for (const other of OTHERS) yield put(other)
    yield Array.isArray(value) ? value.toSpliced(Number(key), 1) : (without(value, [key]) ?? {})
    for (const inner of changed(Reflect.get(value, key))) yield put(inner)
  }
}

test.each(RECORDS.map(([format, record], index) => [format.name, index, format, record] as const))(
  '%s opens or refuses record %i with any value in place of each of its values',
  (_name, _index, format, record) => {
    let opened = 0
    for (const value of [record, ...changed(record)]) {
      const records = format.joins && Array.isArray(value) ? value.filter((one) => format.sniff(one)) : [value]
      if (records.length === 0 || !records.every((one) => format.sniff(one))) continue
      const read = format.read(format.joins ? records : value, {
        file: 'f',
        now: '2026-01-01T00:00:00.000Z',
        newId: () => 'new',
      })
      if (!read.ok) {
        expect(read.error.path).not.toBe('')
        continue
      }
      opened++
      for (const trajectory of read.trajectories) {
        const again = decode(encode(trajectory))
        if (!again.ok) throw new Error(`${JSON.stringify(again.error)} of ${JSON.stringify(value)}`)
      }
    }
    expect(opened).toBeGreaterThan(5)
  },
)
