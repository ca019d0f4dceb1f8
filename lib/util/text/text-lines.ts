/**
 * Provides a long text as UTF-8, with its lines and the rows that they wrap into. The bytes are outside of the page's
 * heap and are transferred between threads without a copy. No character is wider in cells than in bytes, so a row of n
 * bytes fits n columns.
 */

import { int32At, uint8At } from '#lib/util/element-at.ts'
import { countWhile } from '../bisect.ts'

/** A text as UTF-8 bytes with its lines. Lines are numbered from 0. */
export interface TextLines {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Offset of each line, then that of a line after the last: a line's bytes end one before the next offset. */
  readonly starts: Int32Array<ArrayBuffer>
}

/** Splits a text into lines. A missing line break at its end is added. */
export function textLines(text: string): TextLines {
  const bytes = new TextEncoder().encode(text.endsWith('\n') ? text : `${text}\n`)
  let count = 0
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count++
  const starts = new Int32Array(count + 1)
  let line = 0
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) starts[++line] = at + 1
  return { bytes, starts }
}

const LINE_END = 0x0a

/** Returns the number of lines. */
export const lineCount = ({ starts }: TextLines): number => starts.length - 1
/** Returns the byte offset of a line. */
export const lineStart = ({ starts }: TextLines, line: number): number => int32At(starts, line)
/** Returns the byte offset of a line's end, without its line break. */
export const lineEnd = ({ starts }: TextLines, line: number): number => int32At(starts, line + 1) - 1

/** Returns the line at a byte offset. */
export const lineAt = ({ starts }: TextLines, offset: number): number =>
  Math.min(lastAtMost(starts, offset), starts.length - 2)

/** Decodes the bytes between two offsets. */
export const textBetween = ({ bytes }: TextLines, start: number, end: number): string =>
  new TextDecoder().decode(bytes.subarray(start, end))

/** Rows of wrapped lines: the number of the first row of each line, and the number of all rows last. */
export interface WrappedRows {
  readonly columns: number
  readonly firsts: Int32Array
}

/** Wraps lines into rows that fit this number of columns. An empty line has one row. */
export function wrapLines({ starts }: TextLines, columns: number): WrappedRows {
  const firsts = new Int32Array(starts.length)
  for (let line = 0; line + 1 < starts.length; line++) {
    const length = int32At(starts, line + 1) - 1 - int32At(starts, line)
    firsts[line + 1] = int32At(firsts, line) + Math.max(1, Math.ceil(length / columns))
  }
  return { columns, firsts }
}

/** Returns the number of rows. */
export const rowCount = ({ firsts }: WrappedRows): number => firsts.at(-1) as number

/** A row of a wrapped line. */
export interface WrappedRow {
  readonly line: number
  /** Index of the row within its line, from 0. */
  readonly part: number
  /** Byte offsets of the row, half-open. */
  readonly start: number
  readonly end: number
}

/** Returns the row with a number, from 0. */
export function rowNumbered(text: TextLines, { columns, firsts }: WrappedRows, row: number): WrappedRow {
  const line = Math.min(lastAtMost(firsts, row), firsts.length - 2)
  const part = row - int32At(firsts, line)
  return { line, part, start: partStart(text, line, part, columns), end: partStart(text, line, part + 1, columns) }
}

/** Returns the number of the row at a byte offset. */
export function wrappedRowAt(text: TextLines, { columns, firsts }: WrappedRows, offset: number): number {
  const line = lineAt(text, offset)
  const first = int32At(firsts, line)
  const parts = int32At(firsts, line + 1) - first
  const part = Math.min(parts - 1, Math.floor((offset - lineStart(text, line)) / columns))
  const isBehind = part + 1 < parts && offset >= partStart(text, line, part + 1, columns)
  return first + part + (isBehind ? 1 : 0)
}

/** Returns the byte offset of a part of a line, moved back so that a row begins with a whole character. */
function partStart(text: TextLines, line: number, part: number, columns: number): number {
  const end = lineEnd(text, line)
  let start = Math.min(lineStart(text, line) + part * columns, end)
  while (start < end && (uint8At(text.bytes, start) & 0xc0) === 0x80) start--
  return start
}

function lastAtMost(sorted: Int32Array, value: number): number {
  const begun = countWhile(sorted.length, (index) => int32At(sorted, index) <= value)
  return Math.max(0, begun - 1)
}
