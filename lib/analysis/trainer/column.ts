/** Aligns one array of a trainer's file with the tokens of the trajectory. */

import { type TokenField, valueAtPath } from '#lib/formats/writing/training-row.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { int32At } from '#lib/util/element-at.ts'

/** A field of a trainer's file, with one value for each token of the trajectory. */
export interface SheetColumn {
  readonly name: string
  readonly meaning: TokenField['meaning']
  /** One value for each token: its first entry, or the value that a missing entry means. NaN is null in the file. */
  readonly values: Int32Array | Uint8Array | Float64Array
  /** Ranges of tokens that have a value: flat [start, end, kind, …], half-open and sorted. */
  readonly parts: Int32Array
  /** Number of entries in the file, and the number that its tokens require. */
  readonly entries: number
  readonly expected: number
  /** Entries for each token; 1 unless the format writes several. */
  readonly width: number
}

/** Kinds in `parts`: the file has an entry, or it has none and the format defines the value. */
const ENTRY = 0
const IMPLIED = 1

/** Reads a field of a record. `tokens` is the number of tokens of the trajectory. */
export function columnOf(record: object, { name, meaning, parts }: TokenField, tokens: number): SheetColumn {
  const values = emptyValues(meaning, tokens)
  const found = { entries: 0, expected: 0, width: 1 }
  for (const part of parts) {
    const { start, end } = part.tokens
    if (part.kind === 'implied') {
      values.fill(part.value, start, end)
      continue
    }
    const { width = 1 } = part
    const array = valueAtPath(record, part.path) as readonly (number | null)[]
    found.entries += array.length
    found.expected += width * (end - start)
    found.width = Math.max(found.width, width)
    for (let token = start; token < end; token++) values[token] = array[width * (token - start)] ?? Number.NaN
  }
  const filled = parts.filter(({ tokens: { start, end } }) => end > start)
  const places = filled.flatMap(({ kind, tokens: { start, end } }) => [start, end, kind === 'array' ? ENTRY : IMPLIED])
  return { name, meaning, values, parts: Int32Array.from(places), ...found }
}

/** Returns the smallest array type that can hold the values. Only numbers can be unknown (NaN). */
function emptyValues(meaning: TokenField['meaning'], tokens: number): SheetColumn['values'] {
  if (meaning === 'ids') return new Int32Array(tokens)
  return meaning === 'mask' ? new Uint8Array(tokens) : new Float64Array(tokens).fill(Number.NaN)
}

/** What a file has for one token: an entry, a value that a missing entry means, or nothing. */
export type Entry =
  /** `value` is null if the file has null. */
  | { readonly kind: 'entry'; readonly value: number | null }
  | { readonly kind: 'implied'; readonly value: number }
  | { readonly kind: 'absent' }

/** Returns the entry of a column for a token of the trajectory. */
export function entryAt({ parts, values }: SheetColumn, token: number): Entry {
  const place = countWhile(parts.length / 3, (index) => int32At(parts, 3 * index + 1) <= token)
  const start = parts[3 * place]
  const value = values[token]
  if (start === undefined || value === undefined || token < start) return { kind: 'absent' }
  if (parts[3 * place + 2] === IMPLIED) return { kind: 'implied', value }
  return { kind: 'entry', value: Number.isNaN(value) ? null : value }
}
