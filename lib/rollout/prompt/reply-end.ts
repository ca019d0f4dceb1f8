/** Finds the end of a reply in the next prompt of a server that has rendered and tokenized it again. */
import type { BytesOf } from '#lib/trajectory/drift/align/spelling.ts'
import { alignTokens } from '#lib/trajectory/drift/align.ts'

/**
 * Returns the index in `reported` of the first token after the reply, whose prompt was `read`. It counts closed turns,
 * because a template writes as many as there are messages; if that fails, it aligns both sequences. A reply that does not
 * close its turn ends before the token that closes it.
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
  // If a drift extends to the end, the reply's part of it is unknown; it is assumed to have as many tokens as before.
  const length = last.left.end - last.left.start
  return last.kind === 'equal' ? last.right.end : Math.min(last.right.start + length, last.right.end)
}
