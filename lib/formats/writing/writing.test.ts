import { parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { qwenXml } from '#lib/parsers/tags/qwen-xml.ts'
import { expertSlices, withNestedExperts } from '#lib/trajectory/experts/slices.ts'
import type { Message, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { writableFormats } from '../registry.ts'
import { strandsSglang } from '../strands-sglang.ts'
import { trajectoryOf } from '../test-trajectories.ts'
import { atif } from '../traces/atif.ts'
import { verifiersTrace } from '../traces/verifiers-trace.ts'
import { slime } from '../trainers/slime.ts'
import { atifWriter } from './atif.ts'
import { chatMessagesBySegment } from './chat-messages.ts'
import { csvWriter } from './csv.ts'
import { parquetWriter } from './parquet.ts'
import { skyrlWriter } from './skyrl.ts'
import { verifiersWriter } from './verifiers.ts'
import { verlWriter } from './verl.ts'
import { encodedFile, encodeRecords, type Writer } from './writer.ts'

const example = exampleTrajectory('two-steps')
/** The reader has undefined for a list that is null. */
const withoutNulls = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_, inner) => inner ?? undefined))
const bytesOf = ({ encoding }: Writer, records: readonly object[]) =>
  new Uint8Array(encoding ? encodeRecords(encoding, records) : [])
const textOf = (writer: Writer, records: readonly object[]): string =>
  new TextDecoder().decode(bytesOf(writer, records))

test.each([
  [{ kind: 'ended', reason: 'end_turn' }, 'stop', 'outcome'],
  [{ kind: 'ended', reason: 'unknown' }, 'length', 'outcome: written as truncated'],
  [{ kind: 'ended', reason: 'max_tool_calls' }, 'length', 'outcome'],
  [{ kind: 'failed', code: 'X', message: 'm' }, 'length', 'outcome'],
] as const)(
  'SkyRL gets the stop reason of an outcome, and what it does not get of it is a loss: %j',
  (outcome, reason, loss) => {
    const { value, losses } = skyrlWriter.write({ ...sampleTrajectory, outcome })
    expect(value).toHaveProperty('stop_reasons', [reason])
    expect(losses.filter((line) => line.startsWith('outcome'))).toEqual([loss])
  },
)

test('The formats that keep advantages say so, and no other has them', () => {
  const advantage = 0.8125
  const segments = example.segments.map((segment) => ({
    ...segment,
    columns: { advantage: Array.from(segment.ids, () => advantage) },
  }))
  const having = writableFormats.filter(({ write }) =>
    JSON.stringify(write({ ...example, segments }).value).includes(String(advantage)),
  )
  expect(having.map(({ name }) => name)).toEqual(['rollscope', 'verifiers'])
  expect(writableFormats.filter(({ keepsAdvantages }) => keepsAdvantages)).toEqual(having)
})

// The prompts of all calls together would take more than 10 GB.
test('What a format leaves out of a trajectory of many turns is known without writing the file', () => {
  const [prompt, response] = example.segments
  if (prompt?.kind !== 'prompt' || response?.kind !== 'response') throw new Error('an example begins with a turn')
  const turn: readonly Segment[] = [
    { ...prompt, ids: Array<number>(100).fill(1) },
    { ...response, thinks: [], toolCalls: [] },
  ]
  const segments = Array.from({ length: 5000 }, () => turn).flat()
  expect(atifWriter.write({ ...example, segments }).losses).not.toEqual([])
})

test('Replies of an exported conversation have their thinking and calls apart, and results name their call', () => {
  const messages = chatMessagesBySegment(example).flat()
  expect(messages.map(({ role }) => role)).toEqual(
    example.segments.flatMap((segment) =>
      segment.kind === 'response' ? ['assistant'] : segment.messages.map(({ role }) => role),
    ),
  )
  const call = messages.find(({ tool_calls }) => tool_calls)?.tool_calls?.[0]
  expect(JSON.parse(call?.function.arguments ?? '')).toHaveProperty('expression')
  expect(messages.find(({ role }) => role === 'tool')?.tool_call_id).toBe(call?.id)
  for (const { content } of messages) expect(content).not.toContain('<tool_call>')
})

test('An exported conversation has the names of its tools and participants', () => {
  const named = [
    { role: 'user', name: 'Ann', content: 'q' },
    { role: 'tool', name: 'add', content: '4' },
  ] as const
  const trajectory = { ...sampleTrajectory, segments: [{ kind: 'prompt', ids: [], messages: named }] } as const
  expect(chatMessagesBySegment(trajectory)).toEqual([named])
})

test('A malformed call of an exported conversation stays in the text of its reply', () => {
  const [reply] = chatMessagesBySegment(sampleTrajectory)[1] ?? []
  expect(reply?.tool_calls?.map(({ id }) => id)).toEqual(['call_0000'])
  expect(reply?.content).toContain('1')
})

test('The reply of an exported conversation is null if the texts of its tokens are unknown', () => {
  const messages = chatMessagesBySegment({ ...sampleTrajectory, vocab: {} }).flat()
  expect(messages.find(({ role }) => role === 'assistant')).toEqual({ role: 'assistant', content: null })
})

test('A CSV file has one row for each trajectory, and no cell that a spreadsheet reads as a formula', () => {
  const titled = { ...example, title: '=HYPERLINK("http://a")', note: '\0x', tags: ['-1', 'b'], reward: 0.5 }
  const lines = textOf(
    csvWriter,
    [titled, example].map((one) => csvWriter.write(one).value),
  )
    .split('\r\n')
    .filter((line) => line !== '')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toContain(`"'=HYPERLINK(""http://a"")",'-1 b,'\0x,`)
  expect(lines[1]).toContain(',0.5,')
})

test('A CSV file leaves the calls empty if the file of a trajectory has only ids', () => {
  const { tokenizer: _, parser: __, ...model } = sampleTrajectory.model
  const segments: Trajectory['segments'] = [{ kind: 'response', ids: [8], thinks: [], toolCalls: [] }]
  expect(csvWriter.write({ ...sampleTrajectory, model, segments }).value).toMatchObject({
    tool_calls: null,
    failed_calls: null,
  })
})

test('A Parquet file that is read back has the messages, ids, labels, loss mask and logprobs of each trajectory', async () => {
  const trajectories: readonly Trajectory[] = [{ ...example, reward: 1 }, sampleTrajectory]
  const records = trajectories.map((one) => parquetWriter.write(one).value)
  const bytes = bytesOf(parquetWriter, records)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const rows = await parquetReadObjects({ file })
  for (const [index, trajectory] of trajectories.entries()) {
    const row = rows[index] as Record<string, unknown[]>
    expect(row.input_ids?.map(Number)).toEqual(ids(trajectory))
    expect(row.loss_mask).toEqual(lossMask(trajectory))
    const labels = lossMask(trajectory).map((bit, token) => (bit === 1 ? ids(trajectory)[token] : -100))
    expect(row.labels?.map(Number)).toEqual(labels)
    expect(row.logprobs).toEqual(logprobs(trajectory))
    expect(withoutNulls(row.messages)).toEqual(withoutNulls((records[index] as typeof row).messages))
  }
  expect(rows.map(({ reward }) => reward)).toEqual([1, null])
})

test('A Parquet file has the number of a sample above 31 bits, as trainers number their samples over a whole run', async () => {
  const indices = [2 ** 31, 2 ** 53 - 1]
  const records = indices.map((index) => parquetWriter.write({ ...sampleTrajectory, group: { id: 'g', index } }).value)
  const bytes = bytesOf(parquetWriter, [...records, parquetWriter.write(sampleTrajectory).value])
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const rows = await parquetReadObjects({ file })
  expect(rows.map(({ sample }) => sample)).toEqual([...indices.map(BigInt), null])
})

test('A Parquet file is written in row groups of at most 1,000 rows', async () => {
  const record = parquetWriter.write(sampleTrajectory).value
  const encoder = parquetWriter.encoding?.encoder()
  const parts = Array.from({ length: 2000 }, () => encoder?.add(record).length)
  const written = parts.flatMap((length, index) => (length === 0 ? [] : [index]))
  // The first four bytes of a file are its mark.
  expect(written).toEqual([0, 999, 1999])
  expect(parts[0]).toBe(4)
  // No row is left for the end of the file.
  expect(encoder?.end().length).toBeGreaterThan(4)
})

test.each(writableFormats.map((format) => [format.name, format] as const))(
  'A trajectory without segments is written as %s',
  (_, format) => {
    const { content } = encodedFile(format, format.write({ ...sampleTrajectory, segments: [] }).value)
    expect(content.length).toBeGreaterThan(0)
  },
)

test('An export of messages gives each call an id of its own, and results without one the id of their call', () => {
  const [prompt, reply] = sampleTrajectory.segments
  if (prompt?.kind !== 'prompt' || reply?.kind !== 'response') throw new Error('the sample begins with a turn')
  const calls = (...ids: readonly (string | undefined)[]): Message => ({
    role: 'assistant',
    content: '',
    toolCalls: ids.map((id) => ({ name: 'f', input: {}, ...(id !== undefined && { id }) })),
  })
  const result: Message = { role: 'tool', content: '' }
  const messages = [
    calls(undefined, 'mine', undefined),
    result,
    result,
    result,
    calls(undefined),
    { ...result, callId: 'x' },
  ]
  const more = { ...prompt, messages: [calls('call_1'), result] }
  const segments: readonly Segment[] = [
    { ...prompt, messages },
    { ...reply, toolCalls: [] },
    { ...prompt, messages: [result] },
    more,
  ]
  const written = chatMessagesBySegment({ ...sampleTrajectory, segments }).flat()
  expect(written.flatMap((one) => one.tool_calls?.map(({ id }) => id) ?? one.tool_call_id ?? one.role)).toEqual([
    ...['call_0', 'mine', 'call_2', 'call_0', 'call_2', 'tool', 'call_3', 'x'],
    ...['assistant', 'tool', 'call_1', 'tool'],
  ])
})

test('A call without an id gets the first free one, also after 100,000 calls that have theirs', () => {
  const [prompt] = sampleTrajectory.segments
  if (prompt?.kind !== 'prompt') throw new Error('the sample begins with a prompt')
  const call = { name: 'f', input: {} }
  const toolCalls = [...Array.from({ length: 100_000 }, (_, index) => ({ ...call, id: `call_${index}` })), call]
  const messages: readonly Message[] = [{ role: 'assistant', content: '', toolCalls }]
  const written = chatMessagesBySegment({ ...sampleTrajectory, segments: [{ ...prompt, messages }] })
  expect(written[0]?.[0]?.tool_calls?.at(-1)?.id).toBe('call_100000')
})

test('An export of messages has the digits of given arguments', () => {
  const [prompt, ...others] = sampleTrajectory.segments
  if (prompt?.kind !== 'prompt') throw new Error('the sample begins with a prompt')
  const call = { name: 'add', input: { a: 1 } }
  const given = { role: 'assistant' as const, content: '', toolCalls: [{ ...call, json: '{"a": 1.0}' }, call] }
  const messages = [...prompt.messages, given]
  const written = chatMessagesBySegment({ ...sampleTrajectory, segments: [{ ...prompt, messages }, ...others] })
  expect(written[0]?.at(-1)?.tool_calls?.map((one) => one.function.arguments)).toEqual(['{"a": 1.0}', '{"a":1}'])
})

test.each([
  [hermes, '<tool_call>{"name": "f", "arguments": {"x": 1.0, "b": 12345678901234567890, "10": -0.0}}</tool_call>'],
  [
    qwenXml,
    '<tool_call>\n<function=f>\n<parameter=x>\n1.0\n</parameter>\n<parameter=b>\n12345678901234567890\n</parameter>\n<parameter=10>\n-0.0\n</parameter>\n</function>\n</tool_call>',
  ],
])('An export of messages has the arguments of a reply as the model wrote them: %#', (parser, text) => {
  const turn = {
    messages: [{ role: 'user', content: 'Q' }],
    reply: byteTokenizer.encode(text),
    finish: { kind: 'length' },
  } as const
  const { trajectory } = simulateRollout(chatml, [turn], { parser })
  const [, reply] = chatMessagesBySegment(trajectory).flat()
  expect(reply?.tool_calls?.map((one) => one.function.arguments)).toEqual([
    '{"x":1.0,"b":12345678901234567890,"10":-0.0}',
  ])
})

test('A trace of verifiers ends a reply with tool_calls if only the message of its file has the calls', () => {
  const { tokenizer: _, parser: __, ...model } = sampleTrajectory.model
  const message = { content: '', tool_calls: [{ id: 'c', function: { name: 'add', arguments: '{}' } }] }
  const segments: Trajectory['segments'] = [{ kind: 'response', ids: [8], thinks: [], toolCalls: [], message }]
  expect(verifiersWriter.write({ ...sampleTrajectory, model, segments }).value).toMatchObject({
    calls: [{ finish_reason: 'tool_calls' }],
  })
})

test('A trace of verifiers has the error of a failed run, a system message for a developer’s, and the columns of its trainer', () => {
  const [prompt, response, ...others] = sampleTrajectory.segments
  if (prompt?.kind !== 'prompt' || response?.kind !== 'response') throw new Error('the sample begins with a prompt')
  const columns = { advantage: response.ids.map(() => 0.5), entropy: [...response.ids.map(() => 1).slice(1), null] }
  const { value } = verifiersWriter.write({
    ...sampleTrajectory,
    title: 'Sums',
    outcome: { kind: 'failed', code: 'HTTP', message: 'gone' },
    segments: [{ ...prompt, messages: [{ role: 'developer', content: 'be' }] }, { ...response, columns }, ...others],
  })
  expect(value).toMatchObject({
    task: { data: { name: 'Sums' } },
    errors: [{ type: 'HTTP', message: 'gone' }],
    ok: false,
    nodes: [{ message: { role: 'system', content: 'be' } }, { advantages: columns.advantage }, {}, {}, {}],
  })
  expect((value as { readonly nodes: readonly object[] }).nodes[1]).not.toHaveProperty('entropies')
})

test.each([
  ['end_turn', true, 'agent_completed', 'end_turn'],
  ['length', true, 'max_output_tokens', 'truncated'],
  ['max_tool_iterations', true, 'max_turns', 'truncated'],
  ['context_full', true, 'max_total_tokens', 'truncated'],
  ['cancelled', false, 'cancelled', 'unknown'],
  ['unknown', false, 'unknown', 'unknown'],
] as const)(
  'A trace of verifiers that ended with %s is ok, since prime-rl trains no other, and names its limit as verifiers does',
  (reason, is_completed, stop_condition, readBack) => {
    const segments = sampleTrajectory.segments.map((segment) =>
      segment.kind === 'response' ? { ...segment, finish: { kind: 'stop' as const } } : segment,
    )
    const { value } = verifiersWriter.write({ ...sampleTrajectory, segments, outcome: { kind: 'ended', reason } })
    expect(value).toMatchObject({ ok: true, is_completed, stop_condition })
    expect(trajectoryOf(verifiersTrace, value).outcome).toEqual({ kind: 'ended', reason: readBack })
  },
)

test('A trace of verifiers has the numbers of its trainer by their meaning, whatever their columns are called', () => {
  const [prompt, response] = sampleTrajectory.segments
  if (prompt?.kind !== 'prompt' || response?.kind !== 'response') throw new Error('the sample begins with a prompt')
  const numbers = (value: number) => response.ids.map(() => value)
  const columns = { advantages: numbers(0.5), old_logprobs: numbers(-1), base: numbers(-2) }
  const { value } = verifiersWriter.write({
    ...sampleTrajectory,
    columnMeanings: { base: { quantity: 'logprob', model: 'reference' } },
    segments: [prompt, { ...response, columns }],
  })
  const { advantages, old_logprobs: trainer_logprobs, base: reference_logprobs } = columns
  expect(value).toMatchObject({ nodes: [{}, {}, { advantages, trainer_logprobs, reference_logprobs }] })
})

test('An ATIF file lists results that follow no call as lost, and keeps arguments that are no object as text', () => {
  const messages: Message[] = [
    { role: 'tool', content: '4' },
    { role: 'assistant', content: '', toolCalls: [{ name: 'f', input: [1] }] },
  ]
  const { value, losses } = atifWriter.write({
    ...sampleTrajectory,
    segments: [{ kind: 'prompt', ids: [8], messages }],
  })
  expect(losses).toContain('results that follow no call')
  expect(value).toMatchObject({ steps: [{ tool_calls: [{ arguments: { text: '[1]' } }] }] })
})

test('An ATIF file has the digits of arguments', () => {
  const json = '{"a":12345678901234567890,"b":1.0,"c":1}'
  const toolCalls = [{ name: 'f', input: JSON.parse(json) as unknown, json }]
  const messages: Message[] = [{ role: 'assistant', content: '', toolCalls }]
  const { value } = atifWriter.write({ ...sampleTrajectory, segments: [{ kind: 'prompt', ids: [8], messages }] })
  expect(JSON.stringify(value)).toContain(`"arguments":${json}`)
})

test('An ATIF file whose replies have unknown texts has empty messages', () => {
  const { value } = atifWriter.write({ ...sampleTrajectory, title: 'Sums', vocab: {} })
  expect(value).toMatchObject({ extra: { rollscope: { title: 'Sums' } } })
  expect(value).toMatchObject({
    steps: [{ source: 'system' }, { source: 'user' }, { source: 'agent', message: '' }, {}],
  })
})

test('The masks of an ATIF file that do not belong to its ids are not used', () => {
  const { value } = atifWriter.write(sampleTrajectory)
  const record = value as { readonly extra: { readonly rollscope: { readonly token_ids: readonly number[] } } }
  const { rollscope } = record.extra
  const changed = (change: object) => ({ ...record, extra: { rollscope: { ...rollscope, ...change } } })
  const masks = [
    {},
    { token_ids: rollscope.token_ids.map((id) => id + 1) },
    { loss_mask: [1] },
    { loss_mask: 'x' },
  ].map((change) => lossMask(trajectoryOf(atif, changed(change))))
  const usual = [0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1]
  expect(masks).toEqual([lossMask(sampleTrajectory), usual, usual, usual])
})

test('verl, SkyRL, slime and strands-sglang get the routed experts of a run, and those with a gap are a listed loss', () => {
  const tokens = tokenCount(sampleTrajectory)
  const nested = Array.from({ length: tokens - 1 }, (_, token) => [[token, token + 1]])
  const segments = withNestedExperts(sampleTrajectory.segments, nested)
  const routed: Trajectory = { ...sampleTrajectory, segments: [...(segments ?? [])] }
  expect(verlWriter.write(routed).value).toMatchObject({ routed_experts: nested })
  expect(skyrlWriter.write(routed).value).toMatchObject({ rollout_expert_indices: [nested] })
  expect(slime.write?.(routed).value).toMatchObject({ rollout_routed_experts: nested })
  expect(strandsSglang.write?.(routed).value).toMatchObject({ routed_experts: expertSlices(routed) })
  const [first, ...others] = routed.segments
  const gap = { ...routed, segments: [first as Segment, ...others.slice(1)] }
  for (const { write } of [verlWriter, skyrlWriter, slime, strandsSglang]) {
    expect(write?.(routed).losses).not.toContain('routed experts')
    expect(write?.(gap).losses).toContain('routed experts')
  }
})

test('A Parquet row keeps how a run failed', () => {
  const failed: Trajectory = { ...sampleTrajectory, outcome: { kind: 'failed', code: 'HTTP', message: 'gone' } }
  expect(parquetWriter.write(failed).value).toMatchObject({ outcome: 'failed' })
})

test('Routed experts of a Rollout that belong to no tokens are a listed loss for verl, which makes a tensor of numbers', () => {
  const { value, losses } = verlWriter.write({ ...sampleTrajectory, routedExperts: ['AAAAAA=='] })
  expect(value).not.toHaveProperty('routed_experts')
  expect(losses).toContain('routed experts')
})
