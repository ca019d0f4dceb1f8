/**
 * Describes a written record for a trainer: which fields are arrays over tokens, and over which tokens. Each format
 * describes its own records, so a view of them never duplicates the writer.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'

/** One sample of a batch. */
export interface TrainingRow {
  readonly fields: readonly TokenField[]
  readonly lengths: readonly StatedLength[]
}

/** A field with entries for tokens. */
export interface TokenField {
  /** Notation of the format's documentation: `loss_mask`, `segments[].ids`. */
  readonly name: string
  readonly meaning: 'ids' | 'mask' | 'logprobs' | 'number'
  /** Parts in order of their tokens, which are the trajectory's; a token in no part has no entry. */
  readonly parts: readonly FieldPart[]
}

/** A part of a field. */
export type FieldPart =
  | {
      readonly kind: 'array'
      /** Position in the record. */
      readonly path: Path
      readonly tokens: Span
      /** Entries for each token. Omitted: one. */
      readonly width?: number
    }
  /** The record has no entry for these tokens; in this format that means `value`. */
  | { readonly kind: 'implied'; readonly value: number; readonly tokens: Span }

/** A number in the record with the length of its arrays; for a list of segments, the sum. */
interface StatedLength {
  readonly name: string
  readonly path: Path
  readonly tokens: Span
}

/** A position in a record. */
export type Path = readonly (string | number)[]

/** Returns the value at a position of a record, or undefined. */
export const valueAtPath = (record: unknown, path: Path): unknown =>
  path.reduce((value, key) => (value as Readonly<Record<string | number, unknown>> | undefined)?.[key], record)
