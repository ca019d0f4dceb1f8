/** Tool calls that were re-serialised from a parsed value, changed, moved or dropped. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { type CallSpan, type DriftSide, firstTouched, spanAt } from '../drift-side.ts'
import { cores, type DriftPart, type DriftPosition, type DriftVerdict, partOf } from '../place.ts'
import { type CallReading, readingOf } from './call-reading.ts'
import type { CallWriting } from './call-writing.ts'

/** Recognises a drift in a tool call. */
export function toolCall(place: DriftPosition): DriftVerdict | undefined {
  const { left, right } = place
  const [ours, theirs] = [callAt(left), callAt(right)]
  // Text outside of calls, where the other side has a call or nothing.
  if (!ours && (!theirs || left.words().length > 0)) return undefined
  const from = ours ? 'left' : 'right'
  const own = (ours ?? theirs) as CallSpan
  if (isAroundCall(place, ours ? left : right, own)) return undefined
  const reading = readingOf(own, from, place)
  const [writing] = [...reading.writingsAt(place), ...(reading.same === 'all' ? reading.writings : [])]
  if (writing) return rewrittenAlike(writing, reading)
  return otherwise(own, from, reading, place)
}

const CAUSES: Readonly<Record<CallWriting, string>> = {
  'key-order': 'its keys are in a different order',
  quotes: 'it is quoted differently, as Python prints a dict',
  booleans: 'true, false and null are spelled differently, as in Python',
  numbers: 'a number is spelled differently (1.0 and 1, an exponent, a big integer)',
  escapes: 'characters in its strings are escaped differently (\\u…, \\/)',
  spacing: 'its white space differs',
}

function rewrittenAlike(writing: CallWriting, { writings }: CallReading): DriftVerdict {
  const others = writings.filter((other) => other !== writing)
  return {
    kind: 'call-json',
    detail: writing,
    cause: `The call was parsed and its JSON written again: ${CAUSES[writing]}${
      others.length > 0 ? `; in this call also: ${others.join(', ')}` : ''
    }.`,
  }
}

function otherwise(
  own: CallSpan,
  from: 'left' | 'right',
  { other, same }: CallReading,
  place: DriftPosition,
): DriftVerdict {
  const [side, across] = from === 'left' ? [place.left.side, place.right.side] : [place.right.side, place.left.side]
  const to = from === 'left' ? 'right' : 'left'
  if (isNothing(across, other)) {
    const isMoved = across.calls.some(
      (call) => call.call.raw.trim() === own.call.raw.trim() && !firstTouched(side.calls, place.across(to, call)),
    )
    if (isMoved)
      return {
        kind: 'call-rewritten',
        detail: 'moved',
        cause: `The call${nameOf(own)} is elsewhere in the turn: the template writes calls after the content, whatever their order was.`,
      }
    return {
      kind: 'call-rewritten',
      detail: 'dropped',
      cause:
        own.call.kind === 'malformed'
          ? `The call${nameOf(own)} could not be parsed (${own.call.why}), and the parser dropped its text.`
          : `The call${nameOf(own)} is on the ${from} only: it was lost from the message.`,
    }
  }
  if (same === 'arguments')
    return {
      kind: 'call-rewritten',
      detail: 'format',
      cause: `The call${nameOf(own)} has the same arguments in different markup: the template writes calls in its own format, not in the model’s.`,
    }
  if ([place.left.side, place.right.side].every((each) => isSampled(each, each === side ? own : other)))
    return { kind: 'content', cause: 'Both sides were sampled, and the model wrote a different call.' }
  return {
    kind: 'call-rewritten',
    detail: 'changed',
    cause:
      own.call.kind === 'malformed'
        ? `The call${nameOf(own)} could not be parsed (${own.call.why}), and the other side has different text in its place.`
        : `The call${nameOf(own)} differs on the other side: a parser, a schema or the template changed its value.`,
  }
}

const nameOf = ({ call }: CallSpan): string => (call.name === undefined ? '' : ` of ${call.name}`)

/** Returns the call that contains all words of a part, or that surrounds a part without words. */
function callAt(part: DriftPart): CallSpan | undefined {
  const { side, span } = part
  const words = part.words()
  const found = spanAt(side.calls, words[0] ?? span.start)
  if (!found) return undefined
  if (words.length === 0) return found.start < span.start && span.end < found.end ? found : undefined
  return words.every((token) => spanAt(side.calls, token)) ? found : undefined
}

/** Returns whether the part is white space at an edge of the call, in a token that the call begins or ends with. */
function isAroundCall(place: DriftPosition, { span }: DriftPart, call: Span): boolean {
  const { left, right, before, after } = cores(place)
  if (left.trim() !== '' || right.trim() !== '') return false
  return (span.start <= call.start && before.trim() === '') || (span.end >= call.end && after.trim() === '')
}

const isNothing = (side: DriftSide, span: Span): boolean => partOf(side, span).words().length === 0

const isSampled = ({ sampled }: DriftSide, { start }: Span): boolean => spanAt(sampled, start) !== undefined
