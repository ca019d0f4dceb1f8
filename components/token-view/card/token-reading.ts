/**
 * What the token view shows beside the text of the tokens: colours, titles of segments and spoken facts, for a trajectory or for a side of
 * a comparison.
 */

import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Colouring } from '../colour/colouring.ts'

/** How a source of tokens is presented in the token view. */
export interface TokenReading {
  /** Returns the background of a token as a CSS colour; undefined = none. `index` counts in the trajectory, `offset` in the segment. */
  readonly colour: (index: number, segment: SegmentView, offset: number) => string | undefined
  /** Returns the colours of the stripes above and below a token, from the top, equally many for each token; undefined = no stripe. */
  readonly bands?: (index: number) => readonly (string | undefined)[]
  /** Returns the name of a segment in its rail. */
  readonly title: (segment: SegmentView, segmentIndex: number) => string
  /** Returns the text about the loss mask in the rail of a segment. */
  readonly mask: (segment: SegmentView, segmentIndex: number) => string
  /** Returns the words that a screen reader adds after the text and the id of a token. */
  readonly fact: (token: Token) => string
}

/** Returns the presentation of a trajectory that is coloured by one mode. */
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

/** Modes whose value is spoken for every token anyway. */
const ALREADY_SAID: ReadonlySet<string> = new Set(['mask', 'logprob', 'logprobs'])

/** Returns a reader of colours that prepares a segment once: the grid reads the tokens of a row one after the other. */
function colourReader({ palette, levels }: Colouring): TokenReading['colour'] {
  let last: { readonly segment: SegmentView; readonly level: (offset: number) => number } | undefined
  return (_index, segment, offset) => {
    if (last?.segment !== segment) last = { segment, level: levels(segment) }
    return palette[last.level(offset)]
  }
}

/** Returns the title of a segment; a prompt that contains only tool results is called “tool result”. */
export function segmentTitle(segment: SegmentView): string {
  if (segment.kind === 'response') return 'response'
  return segment.messages.length > 0 && segment.messages.every(({ role }) => role === 'tool') ? 'tool result' : 'prompt'
}
