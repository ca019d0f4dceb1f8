import { expect, test } from 'vitest'
import type { ResponseSegment, ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { missedCalls } from './missed-calls.ts'

const HERMES = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'
const QWEN = '<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>'
const BEAM = '<rfl:parameter'

/** Builds one response with a token for each piece. */
function responding(pieces: readonly string[], change: Partial<ResponseSegment> = {}, model = {}): Trajectory {
  const segment: ResponseSegment = {
    kind: 'response',
    ids: pieces.map((_, id) => id),
    thinks: [],
    toolCalls: [],
    ...change,
  }
  return {
    ...sample,
    model: { tools: [], parser: 'hermes', ...model },
    vocab: Object.fromEntries(pieces.map((piece, id) => [id, piece])),
    segments: [{ kind: 'prompt', ids: [], messages: [] }, segment],
  }
}
const callAt = (start: number, end: number, kind: 'parsed' | 'malformed'): ToolCall =>
  ({
    kind,
    id: 'a',
    name: 'add',
    input: {},
    arguments: [],
    raw: '',
    why: '',
    span: { start: 0, end: 1 },
    text: { start, end },
  }) as ToolCall
const readers = (trajectory: Trajectory) => missedCalls(trajectory).map(({ reader }) => `${reader.kind} ${reader.name}`)

test('missedCalls names the other parser that reads a call and the tokens of the call', () => {
  expect(missedCalls(responding(['Well. ', QWEN, ' ok']))).toEqual([
    { segment: 1, reader: { kind: 'rollscope', name: 'qwen_xml' }, spans: [{ start: 1, end: 2 }] },
  ])
  const malformed = [callAt(0, QWEN.length, 'malformed')]
  expect(readers(responding([QWEN], { toolCalls: malformed }))).toEqual(['rollscope qwen_xml'])
})

test('missedCalls reports a call that the run’s parser reads and the file lacks', () => {
  expect(readers(responding([HERMES]))).toContain('rollscope hermes')
})

test('missedCalls reports nothing for a parser that reads no more calls than were recorded', () => {
  expect(readers(responding([HERMES], {}, { parser: undefined }))).toContain('rollscope hermes')
  const parsed = [callAt(0, HERMES.length, 'parsed')]
  expect(readers(responding([HERMES, QWEN], { toolCalls: parsed }))).toEqual([])
  expect(readers(responding([HERMES, QWEN, QWEN], { toolCalls: parsed }))).toEqual(['rollscope qwen_xml'])
})

test('missedCalls ignores calls of tools that the run does not have', () => {
  expect(readers(responding([QWEN], {}, { tools: [{ name: 'other', inputSchema: {} }] }))).toEqual([])
})

test('missedCalls reports brackets only if they name a tool of the run', () => {
  expect(readers(responding(['[add(a=1)]']))).toEqual([])
  expect(readers(responding(['[add(a=1)]'], {}, { tools: [{ name: 'add', inputSchema: {} }] }))).toEqual([
    'rollscope pythonic',
  ])
})

test('missedCalls names SGLang’s parser for an unknown format outside of think blocks if no call was read', () => {
  expect(missedCalls(responding(['So ', BEAM, '…']))).toEqual([
    { segment: 1, reader: { kind: 'sglang', name: 'beam' }, spans: [{ start: 1, end: 2 }] },
  ])
  expect(readers(responding([BEAM], { thinks: [{ start: 0, end: 1, closed: true }] }))).toEqual([])
  const stopped = { thinks: [{ start: 0, end: 2, closed: false }], finish: { kind: 'stop', matched: 1 } } as const
  const model = { tokenizer: { name: 't', specialIds: [1] } }
  expect(readers(responding([BEAM, '<end>'], stopped, model))).toEqual([])
  expect(readers(responding([BEAM, HERMES], { toolCalls: [callAt(19, 70, 'parsed')] }))).toEqual([])
  expect(readers(responding([BEAM, QWEN]))).toEqual(['rollscope qwen_xml'])
  // Neither parser reads it, so no other parser is named.
  expect(readers(responding(['<seed:tool_call>']))).toEqual([])
})

test('missedCalls reports nothing if the texts of the tokens are unknown', () => {
  expect(readers({ ...responding([QWEN]), vocab: {} })).toEqual([])
})
