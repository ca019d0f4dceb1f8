/** What is needed to export trajectories in a format. */
import { readableJson } from '#lib/json/readable-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { ExportedFile } from '../format.ts'
import type { SampleNumbers } from './group-numbers.ts'
import type { TrainingRow } from './training-row.ts'

/** Writes one format. */
export interface Writer {
  /** Name in URLs. */
  readonly name: string
  /** Name for people. */
  readonly label: string
  /** The content that a file of this format keeps, in one line. */
  readonly keeps: string
  /** Writes a record. `numbers` are those of the sample in its file; without them the trajectory is the only one. */
  readonly write: (trajectory: Trajectory, numbers?: SampleNumbers) => ExportedFile
  /**
   * Returns the training rows of a record that `write` made from the trajectory: one row, unless the format splits.
   * Omitted: the format has no arrays over tokens.
   */
  readonly rows?: (record: object, trajectory: Trajectory) => readonly TrainingRow[]
  /** Whether a file keeps the advantage of each trained token. Omitted: it does not. */
  readonly keepsAdvantages?: true
  /** Whether a trajectory without tokens can be written, for its messages. Omitted: it cannot, because no trainer can use such a file. */
  readonly takesMessagesOnly?: true
  /** How records become a file. Omitted: one JSON value, or a line of JSON for each. */
  readonly encoding?: FileEncoding
}

/** A file that is not JSON. */
interface FileEncoding {
  /** Extension of the file's name, without the dot. */
  readonly extension: string
  readonly mediaType: string
  /** Begins a file. */
  readonly encoder: () => RecordEncoder
}

/** Encodes the records of one file, in their order. */
export interface RecordEncoder {
  /** Returns the bytes of the file that are complete with this record; there may be none. */
  readonly add: (record: object) => Uint8Array
  /** Returns the last bytes of the file. */
  readonly end: () => Uint8Array
}

/** Returns the content of a file with one record, in the encoding of its format. */
export function encodedFile(
  { encoding }: Writer,
  record: object,
): { readonly content: string | Uint8Array<ArrayBuffer>; readonly mediaType: string } {
  if (!encoding) return { content: readableJson(record), mediaType: 'application/json' }
  return { content: encodeRecords(encoding, [record]), mediaType: encoding.mediaType }
}

/** Returns the bytes of a file with these records. */
export function encodeRecords(
  { encoder }: Pick<FileEncoding, 'encoder'>,
  records: readonly object[],
): Uint8Array<ArrayBuffer> {
  const { add, end } = encoder()
  return joinedBytes([...records.map((record) => add(record)), end()])
}

function joinedBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
