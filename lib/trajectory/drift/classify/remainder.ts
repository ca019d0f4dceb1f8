/** What other rules do not explain: a side that ends, texts that differ. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { firstTouched, spanAt } from './drift-side.ts'
import { cores, type DriftPart, type DriftPosition, type DriftVerdict, isEmpty, isLast, ordinaryText } from './place.ts'
import { isHeader } from './special-tokens.ts'

/** One side ends where the other goes on with a text. */
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
    cause: `The ${isLeftLonger ? 'right' : 'left'} ends here, the other goes on for ${count} more tokens: a maximal length, or turns that were left out.`,
  }
}

/** Just a think block or a call: that was rather taken out than cut off. */
function isOnePart(part: DriftPart): boolean {
  const words = part.words()
  const [first, last] = [elementAt(words, 0), words.at(-1) as number]
  return [part.side.thinks, part.side.calls].some((spans) => {
    const found = firstTouched(spans, part.span)
    return found?.start === first && last < found.end
  })
}

/** Explains whatever is left. */
export function content(place: DriftPosition): DriftVerdict {
  const { left, right } = cores(place)
  if (left.trim() === '' && right.trim() === '')
    return { kind: 'content', cause: 'Other white space within a text: something on the way tidies texts.' }
  const [ours, theirs] = [place.left, place.right].map((part) => part.text().trim() !== '')
  if (ours && theirs)
    return {
      kind: 'content',
      cause: 'Other text on each side: another reply, another message, or a text that was edited.',
    }
  const [part, on] = ours ? [place.left, 'left'] : [place.right, 'right']
  return {
    kind: 'content',
    cause: isWithin(part.side.responses, part.span)
      ? `Text of a reply that stands on the ${on} only: a template that leaves out what is said beside a call, a parser that took it, or another reply.`
      : `Text that stands on the ${on} only: a message, or a part of one, that the other side has not.`,
  }
}

function isWithin(spans: readonly Span[], { start, end }: Span): boolean {
  const found = spanAt(spans, start)
  return found !== undefined && end <= found.end
}
