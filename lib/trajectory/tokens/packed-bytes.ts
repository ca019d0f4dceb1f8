/**
 * A packed trajectory as bytes, which are stored and sent: a reader parses no column, and its columns are views of the bytes.
 * First come eight 32-bit numbers: mark, version and the lengths of the parts. The parts follow in an order in which each is
 * aligned: numbers, ids, alternatives, masks, content without a field, and the rest of the trajectory as JSON. All are little
 * endian.
 */
import { uint32At } from '#lib/util/element-at.ts'
import { type Labels, withLabels } from '../format/labels.ts'
import type { Trajectory } from '../format/trajectory.ts'
import { type ColumnBuffers, type Packed, packColumns, segmentsIn } from './packed.ts'
import type { SegmentView, TrajectoryView } from './trajectory-view.ts'

/** Version of the bytes. Bytes of another version are not read. */
export const PACKED_VERSION = 1

/** The first number: "RSPK". */
const MARK = 0x4b505352
const PREFIX_BYTES = 32

/** Returns the bytes of a trajectory without its labels: they change on their own, and are sent beside the bytes. */
export function packedBytes(trajectory: Trajectory): Uint8Array<ArrayBuffer> {
  const { trajectory: view, columns, foreign = new Uint8Array() } = packColumns(withLabels(trajectory, {}))
  const { foreign: _, ...rest } = view
  const header = new TextEncoder().encode(JSON.stringify({ ...rest, segments: rest.segments.map(withLengths) }))
  const { numbers, ids, alternatives, mask } = columns
  const parts = [numbers, ids, alternatives, mask, foreign, header]
  const bytes = new Uint8Array(PREFIX_BYTES + parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  new Uint32Array(bytes.buffer, 0, 8).set([MARK, PACKED_VERSION, ...parts.map(({ byteLength }) => byteLength)])
  let at = PREFIX_BYTES
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return bytes
}

/**
 * Returns the trajectory in the bytes of a buffer from `start`, which is a multiple of 8. Returns undefined for bytes of
 * another version, and for truncated ones.
 */
export function readPackedBytes(buffer: ArrayBuffer, start = 0): Packed | undefined {
  if (buffer.byteLength < start + PREFIX_BYTES) return undefined
  const [mark, version, ...lengths] = new Uint32Array(buffer, start, 8)
  let end = start + PREFIX_BYTES
  const parts = lengths.map((length): Part => {
    end += length
    return { start: end - length, length }
  })
  if (mark !== MARK || version !== PACKED_VERSION || end !== buffer.byteLength) return undefined
  const [numbers, ids, alternatives, mask, foreign, header] = parts as [Part, Part, Part, Part, Part, Part]
  const columns: ColumnBuffers = {
    numbers: new Float64Array(buffer, numbers.start, numbers.length / 8),
    ids: new Int32Array(buffer, ids.start, ids.length / 4),
    alternatives: new Int32Array(buffer, alternatives.start, alternatives.length / 4),
    mask: new Uint8Array(buffer, mask.start, mask.length),
  }
  const text = new TextDecoder().decode(new Uint8Array(buffer, header.start, header.length))
  const rest = JSON.parse(text) as TrajectoryView
  return {
    trajectory: {
      ...rest,
      segments: segmentsIn(columns, rest.segments),
      ...(foreign.length > 0 && { foreign: new Uint8Array(buffer, foreign.start, foreign.length) }),
    },
    buffers: [buffer],
  }
}

interface Part {
  readonly start: number
  readonly length: number
}

/** Returns the segment with the length of each column in its place. */
function withLengths({ ids, logprobs, mask, topLogprobs, columns, ...segment }: SegmentView) {
  const lengthOf = ({ length }: ArrayLike<unknown>) => ({ length })
  return {
    ...segment,
    ids: lengthOf(ids),
    ...(logprobs && { logprobs: lengthOf(logprobs) }),
    ...(mask && { mask: lengthOf(mask) }),
    ...(topLogprobs && {
      topLogprobs: { ...topLogprobs, ids: lengthOf(topLogprobs.ids), logprobs: lengthOf(topLogprobs.logprobs) },
    }),
    ...(columns && {
      columns: Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, lengthOf(column)])),
    }),
  }
}

/** Media type of an answer with a packed record and its labels. */
export const PACKED_TYPE = 'application/vnd.rollscope.packed'

/** The labels begin after the 32-bit position of the record, which is aligned. */
const LABELS_START = 8

/** Returns an answer: the position of the record, the labels as JSON with spaces after them, and the bytes of the record. */
export function packedAnswer(labels: Labels, record: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(labels))
  const start = LABELS_START + 8 * Math.ceil(text.length / 8)
  const answer = new Uint8Array(start + record.length).fill(' '.charCodeAt(0), LABELS_START, start)
  new Uint32Array(answer.buffer, 0, 1)[0] = start
  answer.set(text, LABELS_START)
  answer.set(record, start)
  return answer
}

/** Returns the trajectory of an answer; undefined if the record has another version. */
export function readPackedAnswer(buffer: ArrayBuffer): Packed | undefined {
  const start = uint32At(new Uint32Array(buffer, 0, 1), 0)
  const packed = readPackedBytes(buffer, start)
  if (!packed) return undefined
  const text = new TextDecoder().decode(new Uint8Array(buffer, LABELS_START, start - LABELS_START))
  return { ...packed, trajectory: { ...packed.trajectory, ...(JSON.parse(text) as Labels) } }
}
