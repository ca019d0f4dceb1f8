/** Text that is before a call on one side and after it on the other. An alignment cannot determine which of the two moved. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { type DriftSide, isBlank, spanAt } from './drift-side.ts'
import { type DriftPart, type DriftPosition, type DriftVerdict, partOf } from './place.ts'

/** Recognises text and calls in a different order. */
export function movedAroundCall({ left, right, across }: DriftPosition): DriftVerdict | undefined {
  const from = right.words().length === 0 ? 'left' : 'right'
  const [part, other] = from === 'left' ? [left, right] : [right, left]
  if (other.words().length > 0 || part.words().length === 0) return undefined
  const text = part.text().trim()
  const behind = callsAfter(part)
  const before = callsBefore(part)
  const isMoved =
    (behind && textAfter(other.side, across(from, behind).end, part).startsWith(text)) ||
    (before && textBefore(other.side, across(from, before).start, part).endsWith(text))
  if (!isMoved) return undefined
  return {
    kind: 'call-rewritten',
    detail: 'moved',
    cause:
      'Text and call are in a different order: a message stores its content apart from its calls, and the template writes one before the other.',
  }
}

/** Returns the calls between a part and the next, if they follow each other directly. */
function callsAfter({ side, span }: DriftPart): Span | undefined {
  const first = spanAt(side.calls, skipBlank(side, span.end))
  let last = first
  for (let next = first; next; next = spanAt(side.calls, skipBlank(side, next.end))) last = next
  return first && last && { start: first.start, end: last.end }
}

function callsBefore({ side, span }: DriftPart): Span | undefined {
  const last = spanAt(side.calls, skipBlankBack(side, span.start) - 1)
  let first = last
  for (let next = last; next; next = spanAt(side.calls, skipBlankBack(side, next.start) - 1)) first = next
  return first && last && { start: first.start, end: last.end }
}

function skipBlank(side: DriftSide, start: number): number {
  let token = start
  while (token < side.ids.length && isBlank(side, token)) token++
  return token
}

function skipBlankBack(side: DriftSide, end: number): number {
  let token = end
  while (token > 0 && isBlank(side, token - 1)) token--
  return token
}

/** The same text may need some tokens more. */
const roomFor = ({ span }: DriftPart): number => 2 * (span.end - span.start) + 8

const textAfter = (side: DriftSide, start: number, part: DriftPart): string =>
  partOf(side, { start, end: Math.min(side.ids.length, start + roomFor(part)) })
    .text()
    .trimStart()

const textBefore = (side: DriftSide, end: number, part: DriftPart): string =>
  partOf(side, { start: Math.max(0, end - roomFor(part)), end })
    .text()
    .trimEnd()
