/**
 * What a trainer gets of a written record: which of its fields are arrays over tokens, and over which tokens. Each format
 * says it of its own records, so that a view of them is never a second writer.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'

/** One sample of a batch. */
export interface TrainingRow {
  readonly fields: readonly TokenField[]
  readonly lengths: readonly StatedLength[]
}

export interface TokenField {
  /** As the format's documentation writes it: `loss_mask`, `segments[].ids`. */
  readonly name: string
  readonly meaning: 'ids' | 'mask' | 'logprobs' | 'number'
  /** In order of their tokens, which are those of the trajectory; a token in none of them has no entry. */
  readonly parts: readonly FieldPart[]
}

export type FieldPart =
  | {
      readonly kind: 'array'
      /** Where in the record it stands. */
      readonly path: Path
      readonly tokens: Span
      /** Entries for each token. Omitted: one. */
      readonly width?: number
    }
  /** Nothing is written for these tokens, and the format says what that means. */
  | { readonly kind: 'meant'; readonly value: number; readonly tokens: Span }

/** A number in the record that tells how long its arrays are; of a list of segments, the sum. */
interface StatedLength {
  readonly name: string
  readonly path: Path
  readonly tokens: Span
}

export type Path = readonly (string | number)[]

/** What stands at a place of a record; undefined: nothing. */
export const valueAt = (record: unknown, path: Path): unknown =>
  path.reduce((value, key) => (value as Readonly<Record<string | number, unknown>> | undefined)?.[key], record)
