/**
 * What the token view shows beside the text of the tokens: colours, titles of segments and spoken facts, for a trajectory or for a side of
 * a comparison.
 */

import { forcedAt } from '#lib/trajectory/tokens/forced-tokens.ts'
import { isTrained, type Token } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Colouring } from '../colour/colouring.ts'
import type { NumberMode } from '../colour/mode.ts'
import { decimalText } from '../numbers.ts'
import { segmentTitle } from '../segment-title.ts'

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
  /** Returns the smallest and the largest value of folded tokens in words; undefined = none. If omitted, there are none. */
  readonly range?: (segment: SegmentView, start: number, end: number) => string | undefined
  /** Returns the words that a screen reader adds after the text and the id of a token. */
  readonly fact: (token: Token) => string
}

/** Returns the presentation of a trajectory that is coloured by one mode. */
export const trajectoryReading = (colouring: Colouring): TokenReading => ({
  colour: colourReader(colouring),
  title: segmentTitle,
  range: rangeReader(colouring),
  mask: (segment) => (segment.mask ? 'mask 0/1' : segment.kind === 'response' ? 'mask 1' : 'mask 0'),
  fact: ({ trained, logprob, segment, indexInSegment }) =>
    [
      trained ? 'trained' : forcedAt(segment, indexInSegment) ? 'forced' : 'context',
      logprob === null ? 'logprob unknown' : `logprob ${decimalText(logprob)}`,
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

/** Returns a reader of the range of folded tokens. It reads each range once, because a folded line is drawn again and again. */
function rangeReader({ mode }: Colouring): NonNullable<TokenReading['range']> {
  if (mode.kind !== 'number') return () => undefined
  const known = new WeakMap<SegmentView, Map<string, string | undefined>>()
  return (segment, start, end) => {
    const ranges = known.get(segment) ?? new Map<string, string | undefined>()
    known.set(segment, ranges)
    const key = `${start}-${end}`
    if (!ranges.has(key)) ranges.set(key, rangeText(mode, segment, start, end))
    return ranges.get(key)
  }
}

function rangeText(mode: NumberMode, segment: SegmentView, start: number, end: number): string | undefined {
  const read = mode.read(segment)
  if (!read) return undefined
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let offset = start; offset < end; offset++) {
    if (mode.scope === 'trained' && !isTrained(segment, offset)) continue
    const value = read(offset)
    if (value < min) min = value
    if (value > max) max = value
  }
  return min > max
    ? undefined
    : [mode.quantity, mode.text(min), 'to', mode.text(max), mode.unit].filter(Boolean).join(' ')
}
