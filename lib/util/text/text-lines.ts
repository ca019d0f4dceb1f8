/**
 * A long text as UTF-8 with its lines and the rows that they wrap into. The bytes are outside of the page's heap and
 * are transferred between threads without a copy. No character is wider in cells than in bytes, so a row of n bytes
 * fits n columns.
 */

import { elementAt } from '#lib/util/element-at.ts'
import { countWhile } from '../bisect.ts'

export interface TextLines {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Offset of each line, then that of a line after the last: a line's bytes end one before the next offset. */
  readonly starts: Int32Array<ArrayBuffer>
}

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

export const lineCount = ({ starts }: TextLines): number => starts.length - 1
export const lineStart = ({ starts }: TextLines, line: number): number => elementAt(starts, line)
/** Returns the end without the line break. */
export const lineEnd = ({ starts }: TextLines, line: number): number => elementAt(starts, line + 1) - 1

export const lineAt = ({ starts }: TextLines, offset: number): number =>
  Math.min(lastAtMost(starts, offset), starts.length - 2)

export const textBetween = ({ bytes }: TextLines, start: number, end: number): string =>
  new TextDecoder().decode(bytes.subarray(start, end))

/** Number of the first row of each line, then the number of rows. */
export interface Rows {
  readonly columns: number
  readonly firsts: Int32Array
}

export function wrapped({ starts }: TextLines, columns: number): Rows {
  const firsts = new Int32Array(starts.length)
  for (let line = 0; line + 1 < starts.length; line++) {
    const length = elementAt(starts, line + 1) - 1 - elementAt(starts, line)
    firsts[line + 1] = elementAt(firsts, line) + Math.max(1, Math.ceil(length / columns))
  }
  return { columns, firsts }
}

export const rowCount = ({ firsts }: Rows): number => firsts.at(-1) as number

export interface Row {
  readonly line: number
  /** Index of the row within its line, from 0. */
  readonly part: number
  /** Half-open offsets. */
  readonly start: number
  readonly end: number
}

export function rowNumbered(text: TextLines, { columns, firsts }: Rows, row: number): Row {
  const line = Math.min(lastAtMost(firsts, row), firsts.length - 2)
  const part = row - elementAt(firsts, line)
  return { line, part, start: partStart(text, line, part, columns), end: partStart(text, line, part + 1, columns) }
}

export function rowAt(text: TextLines, { columns, firsts }: Rows, offset: number): number {
  const line = lineAt(text, offset)
  const first = elementAt(firsts, line)
  const parts = elementAt(firsts, line + 1) - first
  const part = Math.min(parts - 1, Math.floor((offset - lineStart(text, line)) / columns))
  const isBehind = part + 1 < parts && offset >= partStart(text, line, part + 1, columns)
  return first + part + (isBehind ? 1 : 0)
}

/** A row begins with a whole character. */
function partStart(text: TextLines, line: number, part: number, columns: number): number {
  const end = lineEnd(text, line)
  let start = Math.min(lineStart(text, line) + part * columns, end)
  while (start < end && (elementAt(text.bytes, start) & 0xc0) === 0x80) start--
  return start
}

function lastAtMost(sorted: Int32Array, value: number): number {
  const begun = countWhile(sorted.length, (index) => elementAt(sorted, index) <= value)
  return Math.max(0, begun - 1)
}
