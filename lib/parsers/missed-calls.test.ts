import { expect, test } from 'vitest'
import type { ResponseSegment, ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { missedCalls } from './missed-calls.ts'

const HERMES = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'
const QWEN = '<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>'
const INTERN = '<|action_start|>'

/** One response, a token for each of its pieces. */
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

test('A call that another parser reads names that parser and the tokens of the call', () => {
  expect(missedCalls(responding(['Well. ', QWEN, ' ok']))).toEqual([
    { segment: 1, reader: { kind: 'rollscope', name: 'qwen_xml' }, spans: [{ start: 1, end: 2 }] },
  ])
  const malformed = [callAt(0, QWEN.length, 'malformed')]
  expect(readers(responding([QWEN], { toolCalls: malformed }))).toEqual(['rollscope qwen_xml'])
})

test('A call that the parser of the run reads, and that the file does not hold, is missed', () => {
  expect(readers(responding([HERMES]))).toContain('rollscope hermes')
})

test('A parser misses nothing that reads no more calls than were recorded', () => {
  expect(readers(responding([HERMES], {}, { parser: undefined }))).toContain('rollscope hermes')
  const parsed = [callAt(0, HERMES.length, 'parsed')]
  expect(readers(responding([HERMES, QWEN], { toolCalls: parsed }))).toEqual([])
  expect(readers(responding([HERMES, QWEN, QWEN], { toolCalls: parsed }))).toEqual(['rollscope qwen_xml'])
})

test('A call of a tool that the run does not have is no missed call', () => {
  expect(readers(responding([QWEN], {}, { tools: [{ name: 'other', inputSchema: {} }] }))).toEqual([])
})

test('Brackets are a missed call only where they name a tool of the run', () => {
  expect(readers(responding(['[add(a=1)]']))).toEqual([])
  expect(readers(responding(['[add(a=1)]'], {}, { tools: [{ name: 'add', inputSchema: {} }] }))).toEqual([
    'rollscope pythonic',
  ])
})

test('A form that no parser here reads names SGLang’s parser, unless it stands in a think block or a call was read', () => {
  expect(missedCalls(responding(['So ', INTERN, '…']))).toEqual([
    { segment: 1, reader: { kind: 'sglang', name: 'interns1' }, spans: [{ start: 1, end: 2 }] },
  ])
  expect(readers(responding([INTERN], { thinks: [{ start: 0, end: 1, closed: true }] }))).toEqual([])
  const stopped = { thinks: [{ start: 0, end: 2, closed: false }], finish: { kind: 'stop', matched: 1 } } as const
  const model = { tokenizer: { name: 't', specialIds: [1] } }
  expect(readers(responding([INTERN, '<end>'], stopped, model))).toEqual([])
  expect(readers(responding([INTERN, HERMES], { toolCalls: [callAt(19, 70, 'parsed')] }))).toEqual([])
  expect(readers(responding([INTERN, QWEN]))).toEqual(['rollscope qwen_xml'])
  // Neither reads it, so there is no other parser to name.
  expect(readers(responding(['<seed:tool_call>']))).toEqual([])
})

test('Nothing is missed where the texts of the tokens are not known', () => {
  expect(readers({ ...responding([QWEN]), vocab: {} })).toEqual([])
})
