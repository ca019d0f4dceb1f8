/**
 * A Parquet file as Hugging Face datasets reads it: `messages` in the form of chat completions, and the tokens with loss
 * mask and logprobs. `labels` repeats the mask, because trainers that find `input_ids` read no `loss_mask`, and train every token of a row
 * without labels. A row group has up to 1,000 rows or 1,000,000 tokens, so the memory depends on neither their number.
 */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { UNTRAINED_LABEL } from '../columns.ts'
import { chatMessagesBySegment, chatTools } from './chat-messages.ts'
import { listDroppedContent } from './export-losses.ts'
import type { TokenField, TrainingRow } from './training-row.ts'
import type { RecordEncoder, Writer } from './writer.ts'

/** Writes Parquet. */
export const parquetWriter: Writer = {
  name: 'parquet',
  label: 'Hugging Face Parquet',
  keeps: 'Messages, tools, ids, labels, loss mask, logprobs, reward, group: a row of a dataset for each trajectory.',
  write,
  rows,
  encoding: { extension: 'parquet', mediaType: 'application/vnd.apache.parquet', encoder },
}

function write(trajectory: Trajectory) {
  const { id, model, reward, group, outcome } = trajectory
  const tools = chatTools(model.tools)
  const tokens = ids(trajectory)
  const mask = lossMask(trajectory)
  return {
    value: {
      id,
      messages: chatMessagesBySegment(trajectory)
        .flat()
        .map(({ role, content, reasoning_content, tool_calls, tool_call_id }) => ({
          role,
          content,
          reasoning_content: reasoning_content ?? null,
          tool_calls: tool_calls ?? null,
          tool_call_id: tool_call_id ?? null,
        })),
      tools: tools.length > 0 ? JSON.stringify(tools) : null,
      input_ids: tokens,
      labels: tokens.map((id, index) => (mask[index] === 1 ? id : UNTRAINED_LABEL)),
      loss_mask: mask,
      logprobs: logprobs(trajectory),
      reward: reward ?? null,
      group: group?.id ?? null,
      sample: group?.index ?? null,
      outcome: outcome.kind === 'ended' ? outcome.reason : outcome.kind,
    },
    losses: ['white space around each text', ...listDroppedContent(trajectory, KEPT)],
  }
}

const KEPT = ['messages', 'spans', 'reward', 'group', 'outcome', 'texts'] as const

type Row = ReturnType<typeof write>['value']

const MOST_ROWS = 1000
const MOST_TOKENS = 1_000_000

function encoder(): RecordEncoder {
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({ writer: bytes, schema: [...SCHEMA], createdBy: 'rollscope' })
  /** Takes the bytes that were written since the last time. */
  const take = (): Uint8Array => {
    const part = bytes.getBytes().slice()
    bytes.index = 0
    return part
  }
  let rows: Row[] = []
  let tokens = 0
  const writeRows = () => {
    const columnData = COLUMNS.map((name) => ({ name, data: rows.map((row) => cellOf(row, name)) }))
    void writer.write({ columnData, rowGroupSize: rows.length })
    rows = []
    tokens = 0
  }
  return {
    add(record) {
      const row = record as Row
      rows.push(row)
      tokens += row.input_ids.length
      if (rows.length === MOST_ROWS || tokens >= MOST_TOKENS) writeRows()
      return take()
    },
    end() {
      if (rows.length > 0) writeRows()
      void writer.finish()
      return take()
    },
  }
}

const COLUMNS = [
  'id',
  'messages',
  'tools',
  'input_ids',
  'labels',
  'loss_mask',
  'logprobs',
  'reward',
  'group',
  'sample',
  'outcome',
] as const satisfies readonly (keyof Row)[]

/** The columns of INT64 have whole numbers as BigInt. */
function cellOf(row: Row, name: (typeof COLUMNS)[number]): unknown {
  if (name === 'input_ids' || name === 'labels') return row[name].map(BigInt)
  return name === 'sample' && row.sample !== null ? BigInt(row.sample) : row[name]
}

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]

const text = (name: string): Element => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: 'OPTIONAL',
})
const number = (name: string, type: 'INT32' | 'INT64' | 'DOUBLE'): Element => ({
  name,
  type,
  repetition_type: 'OPTIONAL',
})
const struct = (name: string, children: readonly Element[], direct: number): readonly Element[] => [
  { name, repetition_type: 'OPTIONAL', num_children: direct },
  ...children,
]
/** A list in the form that every reader knows: three levels. */
const list = (name: string, element: readonly Element[]): readonly Element[] => [
  { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...element,
]

const FUNCTION = struct('function', [text('name'), text('arguments')], 2)
const CALL = struct('element', [text('id'), text('type'), ...FUNCTION], 3)
const MESSAGE = struct(
  'element',
  [text('role'), text('content'), text('reasoning_content'), ...list('tool_calls', CALL), text('tool_call_id')],
  5,
)
const SCHEMA: readonly Element[] = [
  { name: 'root', num_children: COLUMNS.length },
  text('id'),
  ...list('messages', MESSAGE),
  text('tools'),
  ...list('input_ids', [number('element', 'INT64')]),
  ...list('labels', [number('element', 'INT64')]),
  ...list('loss_mask', [number('element', 'INT32')]),
  ...list('logprobs', [number('element', 'DOUBLE')]),
  number('reward', 'DOUBLE'),
  text('group'),
  number('sample', 'INT64'),
  text('outcome'),
]

function rows(record: object): readonly TrainingRow[] {
  const { input_ids } = record as Row
  const tokens = { start: 0, end: input_ids.length }
  const field = (name: keyof Row, meaning: TokenField['meaning']): TokenField => ({
    name,
    meaning,
    parts: [{ kind: 'array', path: [name], tokens }],
  })
  return [
    { fields: [field('input_ids', 'ids'), field('loss_mask', 'mask'), field('logprobs', 'logprobs')], lengths: [] },
  ]
}
