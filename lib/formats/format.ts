/** What a file format is: how it is recognised, read and written. One file of this folder for each; registry.ts lists them. */

import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import type { GroupNumbers } from './group-numbers.ts'
import type { TrainingRow } from './training-row.ts'

export interface Format {
  /** In addresses and in a trajectory's provenance. */
  readonly name: string
  /** For people. */
  readonly label: string
  /** What a file written so keeps and what it loses, for the person who chooses: one line. */
  readonly keeps: string
  /** Whether a JSON value looks like one record of this format; reading it says what is wrong with it. */
  sniff(value: unknown): boolean
  /** One record that `sniff` recognises. Never throws. */
  read(value: unknown, source: Source): ReadResult
  /**
   * Omitted: the format is only read. `groups` are the numbers of all groups in the same file; unless given, the trajectory
   * is the only one.
   */
  readonly write?: (trajectory: Trajectory, groups?: GroupNumbers) => ExportedFile
  /** What a trainer gets of such a record, which is the trajectory's as `write` gives it. One row, unless the format splits. */
  readonly rows?: (record: object, trajectory: Trajectory) => readonly TrainingRow[]
}

/** What a record cannot say of itself. */
export interface Source {
  /** The file's name; undefined when there is none. */
  readonly file: string | undefined
  /** ISO 8601, for records without a time. */
  readonly now: string
  readonly newId: () => string
}

export type ReadResult =
  | { readonly ok: true; readonly trajectory: Trajectory }
  | { readonly ok: false; readonly error: Violation; readonly hint?: string }

export interface ExportedFile {
  /** The record as a JSON value. */
  readonly value: object
  /** What of this trajectory the record does not say, for a person. */
  readonly lost: readonly string[]
}
