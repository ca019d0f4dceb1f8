/** What the token view shows beside the tokens' texts: of a trajectory, or of something else that is made of tokens. */

import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Colouring } from '../colour/colouring.ts'

export interface TokenReading {
  /** Background of a token, a CSS colour; undefined = none. `index` counts from the first of all, `offset` in the segment. */
  readonly colour: (index: number, segment: SegmentView, offset: number) => string | undefined
  /** Colours of the stripes above and below a token, the same number for each, from the top; undefined = none. */
  readonly bands?: (index: number) => readonly (string | undefined)[]
  /** What a segment is called in its rail. */
  readonly title: (segment: SegmentView, segmentIndex: number) => string
  /** What its rail says of its mask. */
  readonly mask: (segment: SegmentView, segmentIndex: number) => string
  /** What a screen reader says of a token after its text and its id. */
  readonly fact: (token: Token) => string
}

export const trajectoryReading = (colouring: Colouring): TokenReading => ({
  colour: colourReader(colouring),
  title: segmentTitle,
  mask: (segment) => (segment.mask ? 'mask 0/1' : segment.kind === 'response' ? 'mask 1' : 'mask 0'),
  fact: ({ trained, logprob, segment, indexInSegment }) =>
    [
      trained ? 'trained' : 'context',
      logprob === null ? 'logprob unknown' : `logprob ${logprob.toFixed(3)}`,
      !ALREADY_SAID.has(colouring.mode.name) && colouring.words(segment, indexInSegment),
    ]
      .filter(Boolean)
      .join(', '),
})

/** Modes that show what is said of every token anyway. */
const ALREADY_SAID: ReadonlySet<string> = new Set(['mask', 'logprob', 'logprobs'])

/** Tokens are asked for a row at a time: what reads their segment is made once for many. */
function colourReader({ palette, levels }: Colouring): TokenReading['colour'] {
  let last: { readonly segment: SegmentView; readonly level: (offset: number) => number } | undefined
  return (_index, segment, offset) => {
    if (last?.segment !== segment) last = { segment, level: levels(segment) }
    return palette[last.level(offset)]
  }
}

/** A prompt that only brings tool results is named for them. */
export function segmentTitle(segment: SegmentView): string {
  if (segment.kind === 'response') return 'response'
  return segment.messages.length > 0 && segment.messages.every(({ role }) => role === 'tool') ? 'tool result' : 'prompt'
}
