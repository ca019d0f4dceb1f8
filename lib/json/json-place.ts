/**
 * Finds values in JSON as readableJson writes it, and the value at a position. Deeper indented lines belong to the line
 * above, so most lines are never read; single lines are read character by character.
 */

import { elementAt } from '#lib/util/element-at.ts'
import { lineAt, lineCount, lineEnd, lineStart, type TextLines, textBetween } from '#lib/util/text/text-lines.ts'
import type { JsonPath } from './json-path.ts'

/** Returns the path of the innermost value at an offset. */
export function pathAt(text: TextLines, offset: number): JsonPath {
  let line = lineAt(text, offset)
  const inner = isClosing(text, line) ? [] : pathWithin(text, line, offset)
  if (isClosing(text, line)) {
    const indent = indentOf(text, line)
    do line--
    while (indentOf(text, line) > indent)
  }
  const outer: (string | number)[] = []
  while (line > 0 && indentOf(text, line) > 0) {
    const indent = indentOf(text, line)
    let before = 0
    let up = line - 1
    for (; indentOf(text, up) >= indent; up--) if (indentOf(text, up) === indent && !isClosing(text, up)) before++
    outer.unshift(keyOf(text, line) ?? before)
    line = up
  }
  return [...outer, ...inner]
}

/** Returns the half-open offsets of a value, or undefined if the path does not exist. */
export function placeOf(text: TextLines, path: JsonPath): { readonly start: number; readonly end: number } | undefined {
  let line = 0
  let rest = path
  while (rest.length > 0 && opensLines(text, line)) {
    const found = childLine(text, line, elementAt(rest, 0))
    if (found === undefined) return undefined
    line = found
    rest = rest.slice(1)
  }
  const start = valueWithin(text, line, rest)
  if (start === undefined) return undefined
  if (rest.length > 0 || !opensLines(text, line)) return { start, end: valueEnd(text, start, lineEnd(text, line)) }
  const indent = indentOf(text, line)
  let closing = line + 1
  while (indentOf(text, closing) > indent) closing++
  return { start, end: lineStart(text, closing) + indent + 1 }
}

function childLine(text: TextLines, parent: number, part: string | number): number | undefined {
  const indent = indentOf(text, parent)
  let number = 0
  for (let line = parent + 1; line < lineCount(text) && indentOf(text, line) > indent; line++) {
    if (indentOf(text, line) !== indent + INDENT || isClosing(text, line)) continue
    if (typeof part === 'number' ? part === number : keyOf(text, line) === part) return line
    number++
  }
  return undefined
}

const INDENT = 2
const [SPACE, QUOTE, COMMA, COLON, BACKSLASH] = [0x20, 0x22, 0x2c, 0x3a, 0x5c] as const
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const

function indentOf(text: TextLines, line: number): number {
  const start = lineStart(text, line)
  let at = start
  while (text.bytes[at] === SPACE) at++
  return at - start
}

const firstByte = (text: TextLines, line: number) => text.bytes[lineStart(text, line) + indentOf(text, line)]
const isClosing = (text: TextLines, line: number): boolean =>
  firstByte(text, line) === CLOSE_LIST || firstByte(text, line) === CLOSE_OBJECT

/** Returns whether the value of a line continues in the lines after it. */
function opensLines(text: TextLines, line: number): boolean {
  const last = text.bytes[lineEnd(text, line) - 1]
  return last === OPEN_LIST || last === OPEN_OBJECT
}

function keyOf(text: TextLines, line: number): string | undefined {
  const start = lineStart(text, line) + indentOf(text, line)
  if (text.bytes[start] !== QUOTE) return undefined
  const end = stringEnd(text, start)
  return text.bytes[end] === COLON ? (JSON.parse(textBetween(text, start, end)) as string) : undefined
}

/** Returns where the value of a line begins, after its key. */
function valueStart(text: TextLines, line: number): number {
  const start = lineStart(text, line) + indentOf(text, line)
  if (text.bytes[start] !== QUOTE) return start
  const end = stringEnd(text, start)
  return text.bytes[end] === COLON ? end + 2 : start
}

/** Returns where a value inside of a line begins. */
function valueWithin(text: TextLines, line: number, path: JsonPath): number | undefined {
  const end = lineEnd(text, line)
  let at = valueStart(text, line)
  for (const part of path) {
    const found = childWithin(text, at, end, part)
    if (found === undefined) return undefined
    at = found
  }
  return at
}

function childWithin(text: TextLines, container: number, end: number, part: string | number): number | undefined {
  const { bytes } = text
  const isList = bytes[container] === OPEN_LIST
  if (bytes[container] !== OPEN_LIST && bytes[container] !== OPEN_OBJECT) return undefined
  let at = container + 1
  for (let number = 0; at < end && bytes[at] !== CLOSE_LIST && bytes[at] !== CLOSE_OBJECT; number++) {
    if (isList && number === part) return at
    if (!isList) {
      const keyEnd = stringEnd(text, at)
      const isWanted = JSON.parse(textBetween(text, at, keyEnd)) === part
      at = keyEnd + 1
      if (isWanted) return at
    }
    at = valueEnd(text, at, end)
    if (bytes[at] === COMMA) at++
  }
  return undefined
}

/** Returns the rest of the path to an offset inside of its line. */
function pathWithin(text: TextLines, line: number, offset: number): JsonPath {
  const { bytes } = text
  const end = lineEnd(text, line)
  const open: { readonly isList: boolean; part: string | number | undefined }[] = []
  for (let at = valueStart(text, line); at <= offset && at < end; ) {
    const top = open.at(-1)
    switch (bytes[at]) {
      case OPEN_LIST:
      case OPEN_OBJECT:
        // The content of the next lines has its own path, and the bracket belongs to the whole value.
        if (at < offset && at + 1 < end)
          open.push(bytes[at] === OPEN_LIST ? { isList: true, part: 0 } : { isList: false, part: undefined })
        at++
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        open.pop()
        at++
        break
      case COMMA:
        if (top) top.part = top.isList ? (top.part as number) + 1 : undefined
        at++
        break
      case QUOTE: {
        const after = stringEnd(text, at)
        if (top && !top.isList && top.part === undefined) top.part = JSON.parse(textBetween(text, at, after)) as string
        at = after
        break
      }
      default:
        at++
    }
  }
  return open.flatMap(({ part }) => part ?? [])
}

function valueEnd(text: TextLines, start: number, end: number): number {
  const { bytes } = text
  let depth = 0
  let at = start
  while (at < end) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = stringEnd(text, at)
      if (depth === 0) return at
      continue
    }
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (byte === COMMA && depth === 0) return at
    at++
  }
  return at
}

/** Returns the index after the closing quote, as stringEnd does for texts. */
function stringEnd({ bytes }: TextLines, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at + 1
}
