/** The chosen tokens as they are copied: their text, their ids, everything known of each. */

import { bytesOf, textOf } from '#lib/core/pieces.ts'
import { isTrained, segmentsOf } from '#lib/core/tokens.ts'
import type { Span, Vocab } from '#lib/core/trajectory.ts'
import { numberAt, type SegmentView, type TrajectoryView } from '#lib/core/trajectory-view.ts'
import { rangeOf, type Selection } from './selection.ts'

export interface CopiedText {
  readonly text: string
  /** Whether the text is all: its bytes are those of the tokens. */
  readonly isExact: boolean
}

/** The bytes of all tokens together, as UTF-8. Where they begin or end inside a character, U+FFFD stands for its part. */
export function selectedText(trajectory: TrajectoryView, selection: Selection): CopiedText {
  const ids = selectedIds(trajectory, selection)
  const text = textOf(ids, trajectory.vocab)
  return { text, isExact: hasBytes(text, ids, trajectory.vocab) }
}

export const selectedIds = (trajectory: TrajectoryView, selection: Selection): readonly number[] =>
  parts(trajectory, rangeOf(selection)).flatMap(({ segment, start, end }) =>
    Array.from({ length: end - start }, (_, offset) => segment.ids[start + offset] as number),
  )

/** One object a token: its place, id, text (or the hexadecimal digits of its bytes), loss mask and logprob. */
export const selectedJson = (trajectory: TrajectoryView, selection: Selection): string =>
  `[\n${parts(trajectory, rangeOf(selection))
    .flatMap(({ segment, firstToken, start, end }) =>
      Array.from({ length: end - start }, (_, offset) => {
        const index = start + offset
        const id = segment.ids[index] as number
        const entry = trajectory.vocab[id]
        return `  ${JSON.stringify({
          index: firstToken + index,
          id,
          ...(typeof entry === 'string' ? { text: entry } : entry && { hex: entry.hex }),
          mask: isTrained(segment, index) ? 1 : 0,
          logprob: numberAt(segment.logprobs, index),
        })}`
      }),
    )
    .join(',\n')}\n]\n`

interface Part extends Span {
  readonly segment: SegmentView
  readonly firstToken: number
}

/** The segments that a range touches, and which of their tokens. */
function parts(trajectory: TrajectoryView, range: Span): readonly Part[] {
  let firstToken = 0
  return segmentsOf(trajectory).flatMap((segment) => {
    const part = {
      segment,
      firstToken,
      start: Math.max(0, range.start - firstToken),
      end: Math.min(segment.ids.length, range.end - firstToken),
    }
    firstToken += segment.ids.length
    return part.start < part.end ? [part] : []
  })
}

const encoder = new TextEncoder()

function hasBytes(text: string, ids: readonly number[], vocab: Vocab): boolean {
  const bytes = encoder.encode(text)
  let at = 0
  for (const id of ids) {
    const entry = vocab[id]
    if (entry === undefined) return false
    for (const byte of bytesOf(entry)) if (bytes[at++] !== byte) return false
  }
  return at === bytes.length
}
