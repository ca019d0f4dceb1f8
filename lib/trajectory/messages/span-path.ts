/** The path of a token in the parsed response, outermost part first: `call 2`, `arguments.filter.names[2]`. */
import { jsonPathAt, pathText } from '#lib/json/json-path.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import type { ToolCall } from '../format/trajectory.ts'
import { textWithStarts } from '../tokens/pieces.ts'
import { idsBetween, type Token, type TokenSpan } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { callsById } from './tool-calls.ts'

/** Returns the path of a token. */
export const spanPath = (trajectory: TrajectoryView, token: Token): readonly string[] =>
  token.spans.map((span) => spanLabel(trajectory, token, span))

function spanLabel(trajectory: TrajectoryView, token: Token, span: TokenSpan): string {
  switch (span.kind) {
    case 'think':
      return span.closed ? 'think' : 'think (not closed)'
    case 'tool-call':
      return callLabel(trajectory, span.call)
    case 'argument':
      return `arguments.${span.name}${pathText(pathInArgument(trajectory, token, span))}`
    case 'special':
      return 'special token'
    default:
      return unreachable(span)
  }
}

/** Calls are numbered through the whole trajectory; a call of an open response has no number yet. */
function callLabel({ segments }: TrajectoryView, { id, kind }: ToolCall): string {
  const number = callsById(segments).get(id)?.number
  return `call ${number ?? id}${kind === 'malformed' ? ' (malformed)' : ''}`
}

function pathInArgument(
  { vocab }: TrajectoryView,
  { segment, indexInSegment }: Token,
  { call, name }: Extract<TokenSpan, { kind: 'argument' }>,
): readonly (string | number)[] {
  if (call.kind !== 'parsed' || !isNested(call.input[name])) return []
  const place = call.arguments.find((argument) => argument.name === name)
  if (!place) return []
  const { text, starts } = textWithStarts(idsBetween(segment.ids, { start: 0, end: place.span.end }), vocab)
  const { start, end } = place.text
  return jsonPathAt(text.slice(start, end), Math.max(0, elementAt(starts, indexInSegment) - start))
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null
