/** Copies of the selected tokens: their text, their ids, their bytes, or all that is known of each. */

import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf, textOf, unknownPiece } from '#lib/trajectory/tokens/pieces.ts'
import { idsIn, type SegmentRange, segmentRangesIn } from '#lib/trajectory/tokens/range-sums.ts'
import { idsBetween, isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { hexOf } from '../pieces/piece-text.ts'
import { type Selection, selectedRange } from '../selection.ts'

/** Text of the selected tokens as it is copied. */
export interface CopiedText {
  readonly text: string
  /** Whether the UTF-8 bytes of the text are exactly the bytes of the tokens. */
  readonly isExact: boolean
}

/**
 * Returns the bytes of all selected tokens, decoded as UTF-8. If the selection begins or ends inside a character, U+FFFD replaces the cut
 * character.
 */
export function selectedText(trajectory: TrajectoryView, selection: Selection): CopiedText {
  const ids = selectedIds(trajectory, selection)
  const text = textOf(ids, trajectory.vocab)
  return { text, isExact: hasBytes(text, ids, trajectory.vocab) }
}

/** Returns the token ids of the selection, in the order of the trajectory. */
export const selectedIds = (trajectory: TrajectoryView, selection: Selection): Int32Array =>
  idsIn(trajectory, selectedRange(selection))

/** Returns the bytes of the selected tokens, such as `E6 97 A5`. A token whose bytes are unknown appears as its id in brackets. */
export const selectedHex = (trajectory: TrajectoryView, selection: Selection): string =>
  Array.from(selectedIds(trajectory, selection), (id) => {
    const entry = trajectory.vocab[id]
    return entry === undefined ? unknownPiece(id) : hexOf(bytesOf(entry))
  })
    .filter((hex) => hex !== '')
    .join(' ')

/**
 * Returns a JSON array with an object for each token: its index, id, text (or the hexadecimal digits of its bytes), loss mask and logprob.
 */
export const selectedJson = (trajectory: TrajectoryView, selection: Selection): string =>
  `[\n${segmentRangesIn(trajectory, selectedRange(selection))
    .flatMap((part) => idsBetween(part.segment.ids, part).map((id, at) => recordOf(trajectory, part, id, at)))
    .map((record) => `  ${JSON.stringify(record)}`)
    .join(',\n')}\n]\n`

function recordOf({ vocab }: TrajectoryView, { segment, offset, start }: SegmentRange, id: number, at: number) {
  const entry = vocab[id]
  return {
    index: offset + start + at,
    id,
    ...(typeof entry === 'string' ? { text: entry } : entry && { hex: entry.hex }),
    mask: isTrained(segment, start + at) ? 1 : 0,
    logprob: numberAt(segment.logprobs, start + at),
  }
}

const encoder = new TextEncoder()

function hasBytes(text: string, ids: Int32Array, vocab: Vocab): boolean {
  const bytes = encoder.encode(text)
  let at = 0
  for (const id of ids) {
    const entry = vocab[id]
    if (entry === undefined) return false
    for (const byte of bytesOf(entry)) if (bytes[at++] !== byte) return false
  }
  return at === bytes.length
}
