/** What a branch inserted, edited and sampled, as short texts for the list of branches. */
import type { Tree } from '#lib/api/forest/tree.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { messageText, withResultText } from '#lib/trajectory/messages/conversation.ts'
import { forcedAt } from '#lib/trajectory/tokens/forced-tokens.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { segmentIndexAt, segmentStarts, tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { excerpt, fromWordAt } from '#lib/util/text/excerpt.ts'

/** The texts of a fork in a tree. */
export type ForkTexts = Pick<NonNullable<Tree['leaves'][number]['fork']>, 'inserted' | 'edited' | 'sampled'>

/** The texts of a trajectory that is no fork, or cannot be read. */
export const NO_FORK_TEXTS: ForkTexts = { inserted: null, edited: null, sampled: null }

/** Returns the texts of a branch. `parentOf` reads the trajectory with an id; undefined if it is not stored or damaged. */
export const forkTexts = (branch: Trajectory, parentOf: (id: string) => Trajectory | undefined): ForkTexts =>
  branch.forkedFrom
    ? { inserted: insertedText(branch), edited: editedText(branch, parentOf), sampled: sampledText(branch) }
    : NO_FORK_TEXTS

/** Characters of an inserted or edited text. */
const CHANGED_CHARACTERS = 80

/** Returns what a branch inserted at its first token of its own; null if it inserted nothing. */
function insertedText(branch: Trajectory): ForkTexts['inserted'] {
  const token = branch.forkedFrom && tokenAt(branch, branch.forkedFrom.token)
  const forced = token && forcedAt(token.segment, token.indexInSegment)
  if (!forced) return null
  const { vocab } = branch
  const inserted = Array.from(token.segment.ids).slice(forced.start, forced.end)
  return {
    text: excerpt(textOf(inserted, vocab), CHANGED_CHARACTERS),
    instead: forced.instead === undefined ? null : textOf([forced.instead], vocab),
  }
}

/** Returns a piece of the new text of an edited message; null if none was edited, or the other trajectory is unknown. */
function editedText(branch: Trajectory, parentOf: (id: string) => Trajectory | undefined): string | null {
  const { forkedFrom } = branch
  if (forkedFrom?.kind !== 'message' && forkedFrom?.kind !== 'tool_result') return null
  // The segment of a branch that has just started is not stored yet.
  if (forkedFrom.token >= tokenCount(branch)) return null
  const index = segmentIndexAt(segmentStarts(branch), forkedFrom.token)
  const parent = parentOf(forkedFrom.trajectory)
  const before = parent ? messageTexts(parent, index) : []
  const changed = messageTexts(branch, index).flatMap((text, message) => {
    const old = before[message]
    if (old === undefined || old === text) return []
    return [excerpt(fromWordAt(text, commonText(text, old)), CHANGED_CHARACTERS)]
  })
  return changed[0] ?? null
}

/** Returns the texts of the messages of a prompt segment; none of a response. */
function messageTexts(trajectory: Trajectory, index: number): readonly string[] {
  const segment = trajectory.segments[index]
  if (segment?.kind !== 'prompt') return []
  return segment.messages.map((message) => messageText(withResultText(message, trajectory)))
}

/** Characters of a sampled text. */
const SAMPLED_CHARACTERS = 200

/** Returns the beginning of what the model sampled after the fork, without stop tokens; null if it sampled nothing. */
function sampledText(branch: Trajectory): string | null {
  const { segments, vocab, forkedFrom } = branch
  const starts = segmentStarts(branch)
  const texts: string[] = []
  let length = 0
  for (const [index, segment] of segments.entries()) {
    if (segment.kind !== 'response') continue
    const first = Math.max(0, (forkedFrom?.token ?? 0) - elementAt(starts, index))
    const isStop = segment.finish?.kind === 'stop' && segment.finish.matched === segment.ids.at(-1)
    // A character has at most four bytes, so it has at most four tokens.
    const end = Math.min(segment.ids.length - (isStop ? 1 : 0), first + 4 * SAMPLED_CHARACTERS)
    const own: number[] = []
    for (let at = first; at < end; at++) if (!forcedAt(segment, at)) own.push(elementAt(segment.ids, at))
    if (own.length === 0) continue
    const text = textOf(own, vocab)
    texts.push(text)
    length += text.length
    if (length > SAMPLED_CHARACTERS) break
  }
  return texts.length === 0 ? null : excerpt(texts.join('\n'), SAMPLED_CHARACTERS)
}
