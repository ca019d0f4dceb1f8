/** The tokens of a trajectory with the mask that it carries: what was really read and sampled, and what will be trained. */

import type { PromptSegment, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf, unknownPiece } from '#lib/trajectory/tokens/pieces.ts'
import { isTrained, logprobsOf } from '#lib/trajectory/tokens/tokens.ts'
import { isAsciiSpace, type MaskedPart, type MaskedTokens, maskedTokensBuilder, replyParts } from './masked-tokens.ts'

/** The tokens of a trajectory with their recorded logprobs. */
export interface TrajectoryTokens extends MaskedTokens {
  /** Natural logarithms; null means unknown. */
  readonly logprobs: readonly (number | null)[]
}

/** Returns the tokens of all segments, with their recorded mask. */
export function trajectoryTokens({ segments, vocab, model }: Trajectory): TrajectoryTokens {
  const known = new Map<number, Uint8Array>()
  const bytes = (id: number): Uint8Array => {
    const found = known.get(id) ?? bytesOf(vocab[id] ?? unknownPiece(id))
    known.set(id, found)
    return found
  }
  const endOfTurnId = model.tokenizer?.endOfTurnId
  const own = maskedTokensBuilder(bytes)
  let message = 0
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'response') {
      const parts = replyParts(segment.ids, bytes, endOfTurnId)
      const replied = message
      own.add(segment.ids, (token) => ({
        trained: isTrained(segment, token),
        part: parts[token] ?? 'reply',
        message: replied,
      }))
      message++
      continue
    }
    const parts = promptParts(segment, segments[index - 1], bytes, endOfTurnId)
    own.add(segment.ids, (token) => ({
      trained: isTrained(segment, token),
      part: parts[token] ?? 'unknown',
      message: undefined,
    }))
    message += segment.messages.length
  }
  return { ...own.build(), logprobs: segments.flatMap(logprobsOf) }
}

/** Returns the parts of a prompt. What follows the last end of a turn opens the reply; if turns have no end token, this cannot be known. */
function promptParts(
  { ids, messages }: PromptSegment,
  before: PromptSegment | ResponseSegment | undefined,
  bytes: (id: number) => Uint8Array,
  endOfTurnId: number | undefined,
): readonly MaskedPart[] {
  const isClosed = endOfTurnId !== undefined && before?.kind === 'response' && before.ids.at(-1) === endOfTurnId
  const firstOther = ids.findIndex((id) => !isAsciiSpace(bytes(id)))
  const spaces = isClosed ? (firstOther === -1 ? ids.length : firstOther) : 0
  const lastEnd = endOfTurnId === undefined ? -1 : ids.lastIndexOf(endOfTurnId)
  const isToolTurn = messages.length > 0 && messages.every(({ role }) => role === 'tool')
  return ids.map((_, token) => {
    if (token < spaces) return 'after-end'
    if (lastEnd >= 0 && token > lastEnd) return 'header'
    return isToolTurn ? 'tool' : lastEnd >= 0 ? 'context' : 'unknown'
  })
}
