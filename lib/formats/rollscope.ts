/** Rollscope's own format, which keeps everything in both directions. */

import { isObject } from '#lib/json/json-object.ts'
import { decodeValue, recordOf } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Format } from './format.ts'
import type { FieldPart, TokenField, TrainingRow } from './writing/training-row.ts'

/** The format of Rollscope files. */
export const rollscope: Format = {
  name: 'rollscope',
  label: 'Rollscope',
  keeps: 'Everything. Opens here again unchanged, without a tokenizer.',
  takesMessagesOnly: true,
  keepsAdvantages: true,
  sniff: (value) => isObject(value) && typeof value.format === 'string' && value.format.startsWith('rollscope.'),
  read: (value) => {
    const decoded = decodeValue(value)
    return decoded.ok ? { ok: true, trajectories: [decoded.trajectory] } : decoded
  },
  write: (trajectory) => ({ value: recordOf(trajectory), losses: [] }),
  rows: (record) => [rowOf(record as Trajectory)],
}

/** Arrays restart in each segment; omitted ones have a default. */
function rowOf({ segments }: Trajectory): TrainingRow {
  let start = 0
  const placed = segments.map((segment, index) => {
    const tokens = { start, end: start + segment.ids.length }
    start = tokens.end
    return { segment, path: ['segments', index], tokens }
  })
  const field = (
    name: string,
    meaning: TokenField['meaning'],
    part: (place: (typeof placed)[number]) => readonly FieldPart[],
  ): TokenField => ({ name: `segments[].${name}`, meaning, parts: placed.flatMap(part) })
  const columnNames = [...new Set(segments.flatMap(({ columns = {} }) => Object.keys(columns)))]
  const fields = [
    field('ids', 'ids', ({ path, tokens }) => [{ kind: 'array', path: [...path, 'ids'], tokens }]),
    field('mask', 'mask', ({ segment, path, tokens }) => [
      segment.mask
        ? { kind: 'array', path: [...path, 'mask'], tokens }
        : { kind: 'implied', value: segment.kind === 'response' ? 1 : 0, tokens },
    ]),
    field('logprobs', 'logprobs', ({ segment, path, tokens }) =>
      segment.logprobs ? [{ kind: 'array', path: [...path, 'logprobs'], tokens }] : [],
    ),
    ...columnNames.map((name) =>
      field(`columns.${name}`, 'number', ({ segment: { columns = {} }, path, tokens }) =>
        Object.hasOwn(columns, name) ? [{ kind: 'array', path: [...path, 'columns', name], tokens }] : [],
      ),
    ),
  ]
  const alternatives = (['ids', 'logprobs'] as const).map((name) =>
    field(`topLogprobs.${name}`, 'number', ({ segment: { topLogprobs }, path, tokens }) =>
      topLogprobs ? [{ kind: 'array', path: [...path, 'topLogprobs', name], tokens, width: topLogprobs.k }] : [],
    ),
  )
  return { fields: [...fields, ...alternatives.filter(({ parts }) => parts.length > 0)], lengths: [] }
}
