/** What the token view shows beside the tokens' texts: of a trajectory, or of something else that is made of tokens. */
import type { Token } from '#lib/core/tokens.ts'
import type { Segment } from '#lib/core/trajectory.ts'
import { type Heat, type HeatScale, heatColour } from './heat.ts'

export interface TokenReading {
  /** Background of a token, a CSS colour; undefined = none. `index` counts from the first of all. */
  readonly colour: (index: number, trained: boolean, logprob: number | null) => string | undefined
  /** Colours of the stripes above and below a token, the same number for each, from the top; undefined = none. */
  readonly bands?: (index: number) => readonly (string | undefined)[]
  /** What a segment is called in its rail. */
  readonly title: (segment: Segment, segmentIndex: number) => string
  /** What its rail says of its mask. */
  readonly mask: (segment: Segment, segmentIndex: number) => string
  /** What a screen reader says of a token after its text and its id. */
  readonly fact: (token: Token) => string
}

export const trajectoryReading = (heat: Heat, scale: HeatScale): TokenReading => ({
  colour: (_index, trained, logprob) => heatColour(heat, trained, logprob, scale),
  title: segmentTitle,
  mask: (segment) => (segment.mask ? 'mask 0/1' : segment.kind === 'response' ? 'mask 1' : 'mask 0'),
  fact: ({ trained, logprob }) =>
    `${trained ? 'trained' : 'context'}, ${logprob === null ? 'logprob unknown' : `logprob ${logprob.toFixed(3)}`}`,
})

/** A prompt that only brings tool results is named for them. */
export function segmentTitle(segment: Segment): string {
  if (segment.kind === 'response') return 'response'
  return segment.messages.length > 0 && segment.messages.every(({ role }) => role === 'tool') ? 'tool result' : 'prompt'
}
