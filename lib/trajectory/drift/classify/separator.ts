/** White space at an edge. White space elsewhere belongs to a text. */
import { type DriftSide, isBlank, isSpecialAt, spanAt } from './drift-side.ts'
import { cores, type DriftPart, type DriftPosition, type DriftVerdict } from './place.ts'

/** Recognises white space that differs at an edge. */
export function separator(place: DriftPosition): DriftVerdict | undefined {
  const { left, right, before, after } = cores(place)
  if (left.trim() !== '' || right.trim() !== '') return undefined
  const sides = [place.left, place.right]
  const isAtEdge = (before.trim() === '' && sides.some(beginsAtEdge)) || (after.trim() === '' && sides.some(endsAtEdge))
  return isAtEdge
    ? {
        kind: 'separator',
        cause: `White space differs at an edge (${JSON.stringify(left)} on the left, ${JSON.stringify(right)} on the right): the reply was trimmed, or the template writes a different separator than the model.`,
      }
    : undefined
}

function beginsAtEdge({ side, span }: DriftPart): boolean {
  let token = span.start
  while (token > 0 && !isEdge(side, token) && isBlank(side, token - 1)) token--
  return isEdge(side, token) || isSpecialAt(side, token - 1)
}

function endsAtEdge({ side, span }: DriftPart): boolean {
  const { length } = side.ids
  let token = span.end
  while (token < length && !isEdge(side, token) && isBlank(side, token)) token++
  return isEdge(side, token) || isSpecialAt(side, token)
}

/** Returns whether a segment, a think block or a call begins or ends before this token. */
const isEdge = ({ edges, thinks, calls }: DriftSide, token: number): boolean =>
  edges.has(token) || [thinks, calls].some((spans) => spanAt(spans, token) !== spanAt(spans, token - 1))
