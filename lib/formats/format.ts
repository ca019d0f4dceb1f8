/**
 * The file format interface: recognise, read and write. Each format has a file in this folder; registry.ts lists them.
 */

import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import type { Writer } from './writing/writer.ts'

/** A file format. */
export interface Format {
  /** Name in URLs and in a trajectory's provenance. */
  readonly name: string
  /** Name for people. */
  readonly label: string
  /** The content that a file of this format keeps and loses, in one line. */
  readonly keeps: string
  /** Returns whether a JSON value looks like one record of this format; `read` reports its problems. */
  sniff(value: unknown): boolean
  /** Reads one record that `sniff` recognises, or with `joins` a list of records. Never throws. */
  read(value: unknown, source: RecordSource): ReadResult
  /**
   * True if the records of a file belong together, such as the chunks of a stream or the spans of a trace: `sniff` gets each
   * record, and `read` gets the list of all in their order. 'list': if each line of a file is a list, those of a list belong together.
   * Omitted: each record is read alone.
   */
  readonly joins?: true | 'list'
  /** True if each record may be a file of its own: those of one folder of an archive belong together, in the order of their names. Omitted: files are read apart. */
  readonly joinsFiles?: true
  /** Writes a record. Omitted for formats that are only read, or that another file of this folder writes. */
  readonly write?: Writer['write']
  readonly rows?: Writer['rows']
  readonly keepsAdvantages?: Writer['keepsAdvantages']
  readonly takesMessagesOnly?: Writer['takesMessagesOnly']
}

/** Information that a record does not contain. */
export interface RecordSource {
  /** The file's name; undefined if there is none. */
  readonly file: string | undefined
  /** ISO 8601, for records without a time. */
  readonly now: string
  readonly newId: () => string
}

/**
 * The trajectories of a record, or the violation that makes it invalid. A record may contain several: the leaves of a tree,
 * the samples of a group, the runs of a trace.
 */
export type ReadResult =
  | { readonly ok: true; readonly trajectories: readonly Trajectory[] }
  | { readonly ok: false; readonly error: Violation; readonly hint?: string }

/** A written record. */
export interface ExportedFile {
  /** The record as a JSON value. */
  readonly value: object
  /** Content of the trajectory that the record lacks, in words. */
  readonly losses: readonly string[]
}
