/** Rules for the drifts that no other rule explains: a side that ends, and texts that differ. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { firstTouched, spanAt } from './drift-side.ts'
import { cores, type DriftPart, type DriftPosition, type DriftVerdict, isEmpty, isLast, ordinaryText } from './place.ts'
import { isHeader } from './special-tokens.ts'

/** Recognises a side that ends where the other continues. */
export function truncation({ left, right }: DriftPosition): DriftVerdict | undefined {
  if (!isLast(left) || !isLast(right)) return undefined
  const isLeftLonger = left.text().length > right.text().length
  const [long, short] = isLeftLonger ? [left, right] : [right, left]
  const rest = long.text().slice(short.text().length)
  if (!long.text().startsWith(short.text()) || rest.trim() === '' || ordinaryText(long).trim() === '') return undefined
  if (isEmpty(short) && (isHeader(long) || isOnePart(long))) return undefined
  const count = long.span.end - long.span.start - (short.span.end - short.span.start)
  return {
    kind: 'truncation',
    cause: `The ${isLeftLonger ? 'right' : 'left'} ends here, the other continues for ${count} more tokens: a maximum length, or missing turns.`,
  }
}

/** A missing part that is one whole think block or call was removed rather than truncated. */
function isOnePart(part: DriftPart): boolean {
  const words = part.words()
  const [first, last] = [elementAt(words, 0), words.at(-1) as number]
  return [part.side.thinks, part.side.calls].some((spans) => {
    const found = firstTouched(spans, part.span)
    return found?.start === first && last < found.end
  })
}

/** Explains every remaining drift as different text. */
export function content(place: DriftPosition): DriftVerdict {
  const { left, right } = cores(place)
  if (left.trim() === '' && right.trim() === '')
    return { kind: 'content', cause: 'White space differs within a text: a step of the pipeline normalises it.' }
  const [ours, theirs] = [place.left, place.right].map((part) => part.text().trim() !== '')
  if (ours && theirs)
    return {
      kind: 'content',
      cause: 'The text differs: a different reply, a different message, or an edited text.',
    }
  const [part, on] = ours ? [place.left, 'left'] : [place.right, 'right']
  return {
    kind: 'content',
    cause: isWithin(part.side.responses, part.span)
      ? `Text of a reply is on the ${on} only: a template that omits text next to a call, a parser that removed it, or a different reply.`
      : `Text is on the ${on} only: a message, or a part of one, that the other side lacks.`,
  }
}

function isWithin(spans: readonly Span[], { start, end }: Span): boolean {
  const found = spanAt(spans, start)
  return found !== undefined && end <= found.end
}
