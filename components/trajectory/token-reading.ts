/** What the token view shows beside the tokens' texts: of a trajectory, or of something else that is made of tokens. */

import { isTrained, type Token } from '#lib/core/tokens.ts'
import { numberAt, type SegmentView } from '#lib/core/trajectory-view.ts'
import { type Heat, type HeatScale, heatColour } from './heat.ts'

export interface TokenReading {
  /**
   * Background of a token, a CSS colour; undefined = none. `index` counts from the first of all, `offset` in the segment.
   * Asked for every token at once by the minimap: it must be cheap.
   */
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

export const trajectoryReading = (heat: Heat, scale: HeatScale): TokenReading => ({
  colour: (_index, segment, offset) =>
    heatColour(heat, isTrained(segment, offset), numberAt(segment.logprobs, offset), scale),
  title: segmentTitle,
  mask: (segment) => (segment.mask ? 'mask 0/1' : segment.kind === 'response' ? 'mask 1' : 'mask 0'),
  fact: ({ trained, logprob }) =>
    `${trained ? 'trained' : 'context'}, ${logprob === null ? 'logprob unknown' : `logprob ${logprob.toFixed(3)}`}`,
})

/** A prompt that only brings tool results is named for them. */
export function segmentTitle(segment: SegmentView): string {
  if (segment.kind === 'response') return 'response'
  return segment.messages.length > 0 && segment.messages.every(({ role }) => role === 'tool') ? 'tool result' : 'prompt'
}
