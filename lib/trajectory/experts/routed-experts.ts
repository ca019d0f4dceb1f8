/**
 * The experts of a mixture of experts that read the tokens of a trajectory. Servers return them as int32 in base64, 64 kB for a
 * hundred tokens of a large model. They are stored in the smallest integers that fit, a quarter of these bytes for up to 256 experts.
 */

import { int32At, uint8At } from '#lib/util/element-at.ts'
import { fromBase64, toBase64 } from '#lib/util/text/base64.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { RoutedExperts } from '../format/trajectory.ts'
import { tokenCount } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'

/** Entries of the tokens from `start` on, `perToken` for each. */
export interface ExpertRows {
  readonly start: number
  readonly perToken: number
  /** Experts that each layer chooses for a token. Undefined: unknown. */
  readonly perLayer?: number | undefined
  readonly entries: Int32Array
}

/** A slice of a server: rows, or the reason why it cannot be assigned to tokens. */
type ReadExpertsResult =
  | { readonly ok: true; readonly experts: RoutedExperts }
  | { readonly ok: false; readonly why: string }

/**
 * Reads the slice of one call: base64 int32, for `rows` tokens from `start` on. `perToken` is the number of entries of a token in the
 * calls before; undefined if this is the first one.
 */
export function readExperts(
  base64: string,
  { start, rows, perToken }: { readonly start: number; readonly rows: number; readonly perToken: number | undefined },
): ReadExpertsResult {
  const refuse = (what: string): ReadExpertsResult => ({
    ok: false,
    why: `The server returned ${what} for ${countWithNoun(rows, 'token')}: which belongs to which is unknown, so none is kept.`,
  })
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = fromBase64(base64)
  } catch {
    return refuse('routed experts that are not base64')
  }
  if (bytes.length % 4 !== 0) return refuse(`${bytes.length} bytes of routed experts, not a multiple of 4,`)
  const entries = readInt32s(bytes)
  const entriesPerToken = perToken ?? entries.length / rows
  if (
    rows < 1 ||
    entries.length !== rows * entriesPerToken ||
    !Number.isInteger(entriesPerToken) ||
    entriesPerToken < 1
  )
    return refuse(
      `${countWithNoun(entries.length, 'routed expert')}${perToken === undefined ? '' : ` (${perToken} for each token before)`}`,
    )
  return { ok: true, experts: packExperts({ start, perToken: entriesPerToken, entries }) }
}

/** Packs rows into the smallest integers. */
export function packExperts({ start, perToken, perLayer, entries }: ExpertRows): RoutedExperts {
  const bytes = bytesFor(entries)
  const data = new Uint8Array(entries.length * bytes)
  for (let index = 0; index < entries.length; index++) {
    const entry = int32At(entries, index)
    for (let byte = 0; byte < bytes; byte++) data[index * bytes + byte] = entry >> (8 * byte)
  }
  return { start, perToken, ...(perLayer !== undefined && { perLayer }), bytes, data: toBase64(data) }
}

function bytesFor(entries: Int32Array): 1 | 2 | 4 {
  let all = 0
  for (let index = 0; index < entries.length; index++) all |= int32At(entries, index)
  return all < 0 || all > 0xffff ? 4 : all > 0xff ? 2 : 1
}

/** Unpacks rows. A file may have a part of a row at its end, which is left out. */
export function unpackExperts({ start, perToken, perLayer, bytes, data }: RoutedExperts): ExpertRows {
  const packed = fromBase64(data)
  const entries = new Int32Array(Math.floor(packed.length / bytes / perToken) * perToken)
  for (let index = 0; index < entries.length; index++) {
    let entry = 0
    for (let byte = 0; byte < bytes; byte++) entry |= uint8At(packed, index * bytes + byte) << (8 * byte)
    entries[index] = entry
  }
  return { start, perToken, ...(perLayer !== undefined && { perLayer }), entries }
}

/** Returns rows as servers return them: int32 in base64. */
export function int32Base64(entries: Int32Array): string {
  const bytes = new DataView(new ArrayBuffer(4 * entries.length))
  for (let index = 0; index < entries.length; index++) bytes.setInt32(4 * index, int32At(entries, index), true)
  return toBase64(new Uint8Array(bytes.buffer))
}

function readInt32s(bytes: Uint8Array<ArrayBuffer>): Int32Array {
  const view = new DataView(bytes.buffer)
  return Int32Array.from({ length: bytes.length / 4 }, (_, index) => view.getInt32(4 * index, true))
}

/** Number of tokens that rows have experts of. */
const rowCount = ({ perToken, entries }: ExpertRows): number => entries.length / perToken

/**
 * Returns the first token without experts, from which the next call requests them, and the entries of each token so far. It is never
 * after the last token, which no call has read, whatever a file says.
 */
export function expertsSoFar({ segments }: Pick<TrajectoryView, 'segments'>): {
  readonly end: number
  readonly perToken: number | undefined
} {
  const routed = segments.findLast((segment) => segment.kind === 'response' && segment.routedExperts !== undefined)
  if (routed?.kind !== 'response' || !routed.routedExperts) return { end: 0, perToken: undefined }
  const rows = unpackExperts(routed.routedExperts)
  const last = Math.max(0, tokenCount({ segments }) - 1)
  return { end: Math.min(rows.start + rowCount(rows), last), perToken: rows.perToken }
}

/** Returns the rows of all responses as one; undefined if no response has any. */
export const joinedExperts = ({ segments }: Pick<TrajectoryView, 'segments'>): ExpertRows | undefined =>
  joinRows(
    segments.flatMap((segment) =>
      segment.kind === 'response' && segment.routedExperts ? [unpackExperts(segment.routedExperts)] : [],
    ),
  )

/** Joins packed parts; undefined if there are none. */
export function joinRoutedExperts(parts: readonly (RoutedExperts | undefined)[]): RoutedExperts | undefined {
  const joined = joinRows(parts.flatMap((part) => (part ? [unpackExperts(part)] : [])))
  return joined && packExperts(joined)
}

/**
 * Joins parts in order: from the first token with experts to the last one before a gap. Rows of a later part replace earlier ones of the
 * same token. Undefined if there are no parts.
 */
export function joinRows(parts: readonly ExpertRows[]): ExpertRows | undefined {
  const [first, ...others] = parts
  if (!first) return undefined
  let joined = first
  for (const part of others) {
    const end = joined.start + rowCount(joined)
    if (part.perToken !== joined.perToken || part.start > end || part.start < joined.start) break
    const earlierRows = joined.entries.subarray(0, (part.start - joined.start) * part.perToken)
    const entries = new Int32Array(earlierRows.length + part.entries.length)
    entries.set(earlierRows)
    entries.set(part.entries, earlierRows.length)
    joined = { ...joined, entries }
  }
  return joined
}

/** The layers of an entry, and the experts of each. */
export interface ExpertShape {
  readonly layers: number
  /** Experts that each layer chooses for a token. */
  readonly perLayer: number
}

/**
 * Returns how many experts each layer chooses. Servers do not report it, so it is found in the rows unless they say it. A layer never
 * chooses an expert twice: it is the largest divisor whose groups have no equal entries. A group of zeros in every row is a layer
 * without experts. With few rows a group of several layers may have no equal entries by chance.
 */
export function expertShape({ perToken, perLayer: known, entries }: ExpertRows): ExpertShape {
  if (known !== undefined && perToken % known === 0) return { layers: perToken / known, perLayer: known }
  for (let perLayer = Math.min(perToken, MOST_EXPERTS); perLayer > 1; perLayer--)
    if (perToken % perLayer === 0 && areDistinct(entries, perToken, perLayer))
      return { layers: perToken / perLayer, perLayer }
  return { layers: perToken, perLayer: 1 }
}

/** No model in use chooses more experts of one layer for a token. */
const MOST_EXPERTS = 64

function areDistinct(entries: Int32Array, perToken: number, perLayer: number): boolean {
  for (let layer = 0; layer < perToken; layer += perLayer)
    if (!isDense(entries, perToken, layer, perLayer) && hasEqual(entries, perToken, layer, perLayer)) return false
  return true
}

function isDense(entries: Int32Array, perToken: number, layer: number, perLayer: number): boolean {
  for (let row = layer; row < entries.length; row += perToken)
    for (let at = row; at < row + perLayer; at++) if (entries[at] !== 0) return false
  return true
}

function hasEqual(entries: Int32Array, perToken: number, layer: number, perLayer: number): boolean {
  for (let row = layer; row < entries.length; row += perToken)
    for (let at = row; at < row + perLayer; at++)
      for (let other = at + 1; other < row + perLayer; other++) if (entries[at] === entries[other]) return true
  return false
}
