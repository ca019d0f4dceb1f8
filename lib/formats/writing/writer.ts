/** What is needed to export trajectories in a format. */
import { readableJson } from '#lib/json/readable-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { ExportedFile } from '../format.ts'
import type { SampleNumbering } from './group-numbers.ts'
import type { TrainingRow } from './training-row.ts'

/** Writes one format. */
export interface Writer {
  /** Name in URLs. */
  readonly name: string
  /** Name for people. */
  readonly label: string
  /** The content that a file of this format keeps, in one line. */
  readonly keeps: string
  /** Writes a record. `groups` numbers all groups of the same file; without it the trajectory is the only one. */
  readonly write: (trajectory: Trajectory, groups?: SampleNumbering) => ExportedFile
  /**
   * Returns the training rows of a record that `write` made from the trajectory: one row, unless the format splits.
   * Omitted: the format has no arrays over tokens.
   */
  readonly rows?: (record: object, trajectory: Trajectory) => readonly TrainingRow[]
  /** Whether a file keeps the advantage of each trained token. Omitted: it does not. */
  readonly keepsAdvantages?: true
  /** How records become a file. Omitted: one JSON value, or a line of JSON for each. */
  readonly encoding?: FileEncoding
}

/** A file that is not JSON. */
interface FileEncoding {
  /** Extension of the file's name, without the dot. */
  readonly extension: string
  readonly mediaType: string
  /** Encodes records in their order. Each part is made when it is taken. */
  readonly encode: (records: Iterable<object>) => Iterable<Uint8Array>
}

/** Returns the content of a file with one record, in the encoding of its format. */
export function encodedFile(
  { encoding }: Writer,
  record: object,
): { readonly content: string | Uint8Array; readonly mediaType: string } {
  if (!encoding) return { content: readableJson(record), mediaType: 'application/json' }
  return { content: joinedBytes([...encoding.encode([record])]), mediaType: encoding.mediaType }
}

function joinedBytes(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
