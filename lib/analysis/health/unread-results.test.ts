import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import { FORMAT, type PromptSegment, type ResponseSegment, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer, byteVocab } from '#testing/byte-tokenizer.ts'
import { runScriptedChat } from '#testing/scripted-chat.ts'
import { health } from './health.ts'
import { resultReadings } from './unread-results.ts'

const readings = (trajectory: Trajectory) => resultReadings(trajectory, segmentStarts(trajectory))
const areRead = (trajectory: Trajectory) => readings(trajectory).map(({ isRead }) => isRead)
const findings = (trajectory: Trajectory) =>
  runToEnd(health(trajectory)).findings.filter(({ kind }) => kind === 'result-not-read')

const encode = byteTokenizer.encode
const prompt = (text: string): PromptSegment => ({ kind: 'prompt', ids: encode(text), messages: [] })
const CALL = '<tool_call>{"name": "add", "arguments": {}}</tool_call>'
const call = (...results: readonly string[]): ResponseSegment => {
  const ids = encode(CALL)
  return {
    kind: 'response',
    ids,
    thinks: [],
    toolCalls: results.map((text, index) => ({
      kind: 'parsed',
      id: `call_${index}`,
      name: 'add',
      input: {},
      arguments: [],
      raw: CALL,
      span: { start: 0, end: ids.length },
      text: { start: 0, end: CALL.length },
      result: { status: 'success', text },
    })),
  }
}
const trajectory = (...segments: Trajectory['segments']): Trajectory => ({
  format: FORMAT,
  id: 't',
  createdAt: '2026-01-01T00:00:00.000Z',
  model: { tools: [{ name: 'add', inputSchema: {} }], parser: 'hermes' },
  vocab: byteVocab(),
  segments,
  outcome: { kind: 'ended', reason: 'end_turn' },
  provenance: { kind: 'rollout', application: 'test' },
})

test('a result that the prompt after its call does not contain is a warning at the call', () => {
  const lost = trajectory(prompt('first'), call('the sum is 42'), prompt('<tool></tool>'))
  expect(findings(lost)).toEqual([
    {
      kind: 'result-not-read',
      severity: 'warning',
      label: '1 tool result not in the prompt',
      message:
        'The prompt after the call of add does not contain its recorded result, so the model did not read it: the sum is 42',
      count: 1,
      places: [{ start: 5, end: 5 + encode(CALL).length }],
      remedy: expect.stringContaining('chat template'),
    },
  ])
})

test('only the prompts between a call and the next response count as those after the call', () => {
  expect(areRead(trajectory(prompt('42'), call('42'), prompt('none'), call(), prompt('42')))).toEqual([false])
  expect(areRead(trajectory(prompt('q'), call('42'), prompt('4'), prompt('2')))).toEqual([true])
  expect(areRead(trajectory(prompt('q'), call('one', 'two'), prompt('[one]')))).toEqual([true, false])
})

const ODD = '  {"path": "C:\\new\\u00e9", "text": "a<b> & \'c\'\n\té ﬁ 𝒜 \u0007", "none": null}  '
const ascii = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
test.each([
  ['raw', ODD],
  ['trimmed', ODD.trim()],
  ['as a JSON string', JSON.stringify(ODD)],
  ['inside JSON inside JSON', JSON.stringify({ output: JSON.stringify({ content: ODD }) })],
  ['by a tojson for HTML', JSON.stringify(ODD).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')],
  ['as ASCII JSON', ascii(JSON.stringify(ODD))],
  [
    'as Python’s repr',
    `'${ODD.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replace('\n', '\\n').replace('\t', '\\t').replace('\u0007', '\\x07')}'`,
  ],
  ['as XML', ODD.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&#39;')],
  ['parsed, and printed by Python', ODD.replace('null', 'None')],
  ['with composed characters', ODD.normalize('NFKC')],
])('a result that the template prints %s counts as read', (_, printed) => {
  expect(areRead(trajectory(prompt('q'), call(ODD), prompt(`<tool>${printed}</tool>`)))).toEqual([true])
})

test('nothing is reported for results, prompts and calls that cannot be compared', () => {
  const after = prompt('after')
  expect(areRead(trajectory(prompt('q'), call('', '–', 'null'), after))).toEqual([])
  expect(areRead(trajectory(prompt('q'), call('42')))).toEqual([])
  expect(areRead(trajectory(prompt('q'), call('42'), { ...after, ids: [...after.ids, 0xc3] }))).toEqual([])
  const known = trajectory(prompt('q'), call('42'), after)
  expect(areRead({ ...known, vocab: {} })).toEqual([])
  const { [after.ids[0] as number]: _, ...rest } = known.vocab
  expect(
    areRead({ ...known, vocab: rest, model: { ...known.model, tokenizer: { name: 'bytes', specialIds: [] } } }),
  ).toEqual([])
})

test('every result of the examples counts as read', () => {
  const found = readdirSync('public/examples').flatMap((name) => {
    const decoded = decodeValue(JSON.parse(readFileSync(`public/examples/${name}`, 'utf8')))
    return decoded.ok ? areRead(decoded.trajectory) : []
  })
  expect(found.length).toBeGreaterThanOrEqual(5)
  expect(found).toEqual(found.map(() => true))
})

test('a chat endpoint that tokenizes the messages again leaves no result unread', async () => {
  const exact = '<tool_call>{"name":"calculator","arguments":{"expression":"25 * 17"}}</tool_call>'
  const spaced = '<tool_call>{"name": "calculator", "arguments": {"expression": "25 * 17"}}</tool_call>'
  for (const script of [exact, spaced, `<think>hm</think>${exact}`]) {
    const { trajectory } = await runScriptedChat({ scripts: [script, '425'], tools: [calculator] })
    expect([script, areRead(trajectory)]).toEqual([script, [true]])
  }
})
