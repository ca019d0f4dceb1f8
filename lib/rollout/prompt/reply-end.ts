/** Where a reply ends in the next prompt of a server that has rendered and tokenized it again. Pure. */
import type { BytesOf } from '#lib/trajectory/drift/align/spelling.ts'
import { alignTokens } from '#lib/trajectory/drift/align.ts'

/**
 * Index of the first token of `reported` behind the reply, whose prompt was `read`. By the number of turns that are
 * closed, which a template writes as often as there are messages; where that does not tell, by aligning both sequences.
 * A reply that does not close its turn ends before the token that closes it.
 */
export function replyEnd(
  read: readonly number[],
  reply: readonly number[],
  reported: readonly number[],
  endOfTurnId: number | undefined,
  bytes: BytesOf,
): number {
  const isClosed = endOfTurnId !== undefined && reply.at(-1) === endOfTurnId
  const inside = isClosed ? reply.slice(0, -1) : reply
  if (endOfTurnId !== undefined && !inside.includes(endOfTurnId)) {
    let closing = -1
    for (let turns = read.filter((id) => id === endOfTurnId).length; turns >= 0; turns--) {
      closing = reported.indexOf(endOfTurnId, closing + 1)
      if (closing < 0) break
    }
    if (closing >= 0) return isClosed ? closing + 1 : closing
  }
  const before = [...read, ...reply]
  const last = alignTokens(before, reported, bytes).findLast(({ left }) => left.end > left.start)
  if (!last) return 0
  // Of a drift that reaches to the end nobody can tell how much of it is the reply: as many tokens as it had.
  const length = last.left.end - last.left.start
  return last.kind === 'equal' ? last.right.end : Math.min(last.right.start + length, last.right.end)
}
