/** One array of a trainer's file, laid beside the tokens of the trajectory. */

import { type TokenField, valueAt } from '#lib/formats/training-row.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'

export interface SheetColumn {
  readonly name: string
  readonly meaning: TokenField['meaning']
  /** One for each token of the trajectory: the entry, or what is meant; NaN: null in the file. Of several entries, the first. */
  readonly values: Int32Array | Uint8Array | Float64Array
  /** Which tokens have one: flat [start, end, kind], half-open and sorted. */
  readonly parts: Int32Array
  /** Entries that the file holds, and those that its tokens call for. */
  readonly entries: number
  readonly expected: number
  /** Entries for each token, where there are several. */
  readonly width: number
}

/** In `parts`: an entry of the file, or no entry and a meaning. */
const ENTRY = 0
const MEANT = 1

export function columnOf(record: object, { name, meaning, parts }: TokenField, tokens: number): SheetColumn {
  const values = emptyValues(meaning, tokens)
  const found = { entries: 0, expected: 0, width: 1 }
  for (const part of parts) {
    const { start, end } = part.tokens
    if (part.kind === 'meant') {
      values.fill(part.value, start, end)
      continue
    }
    const { width = 1 } = part
    const array = valueAt(record, part.path) as readonly (number | null)[]
    found.entries += array.length
    found.expected += width * (end - start)
    found.width = Math.max(found.width, width)
    for (let token = start; token < end; token++) values[token] = array[width * (token - start)] ?? Number.NaN
  }
  const filled = parts.filter(({ tokens: { start, end } }) => end > start)
  const places = filled.flatMap(({ kind, tokens: { start, end } }) => [start, end, kind === 'array' ? ENTRY : MEANT])
  return { name, meaning, values, parts: Int32Array.from(places), ...found }
}

/** As small as what they hold allows; unknown stands only among numbers. */
function emptyValues(meaning: TokenField['meaning'], tokens: number): SheetColumn['values'] {
  if (meaning === 'ids') return new Int32Array(tokens)
  return meaning === 'mask' ? new Uint8Array(tokens) : new Float64Array(tokens).fill(Number.NaN)
}

export type Entry =
  /** null: the file holds null. */
  | { readonly kind: 'entry'; readonly value: number | null }
  | { readonly kind: 'meant'; readonly value: number }
  | { readonly kind: 'absent' }

export function entryAt({ parts, values }: SheetColumn, token: number): Entry {
  const place = countWhile(parts.length / 3, (index) => elementAt(parts, 3 * index + 1) <= token)
  const start = parts[3 * place]
  if (start === undefined || token < start) return { kind: 'absent' }
  const value = elementAt(values, token)
  if (parts[3 * place + 2] === MEANT) return { kind: 'meant', value }
  return { kind: 'entry', value: Number.isNaN(value) ? null : value }
}
