/** Finds tokens by the numbers that a query can name. */
import { quantityNamed } from '#lib/trajectory/tokens/quantities.ts'
import { isTrained, segmentStarts, segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type SegmentView, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Interval } from '#lib/util/interval.ts'
import type { NumberFact, NumberName } from './query.ts'

/** Tokens that are searched: all, those with loss mask 1, or those with loss mask 0. */
export type TokenScope = 'all' | 'trained' | 'context'

/** Returns one byte for each token, 1 if its number is known and in one of the intervals. */
export function tokensWithin(
  trajectory: TrajectoryView,
  number: NumberName,
  within: readonly Interval[],
  scope: TokenScope = 'all',
): Uint8Array {
  return tokensWhere(
    trajectory,
    number,
    (value) => within.some(({ low, high, without }) => low <= value && value <= high && value !== without),
    scope,
  )
}

/** Returns one byte for each token, 1 if its number is unknown. */
export const tokensUnknown = (trajectory: TrajectoryView, number: NumberName): Uint8Array =>
  tokensWhere(trajectory, number, Number.isNaN, 'all')

/** Returns true if any searched token has the number. */
export function isKnownAnywhere(trajectory: TrajectoryView, number: NumberName, scope: TokenScope): boolean {
  for (const { segment, read } of readers(trajectory, number))
    for (let offset = 0; offset < segment.ids.length; offset++)
      if (isIn(scope, segment, offset) && !Number.isNaN(read(offset))) return true
  return false
}

function tokensWhere(
  trajectory: TrajectoryView,
  number: NumberName,
  test: (value: number) => boolean,
  scope: TokenScope,
): Uint8Array {
  const tokens = new Uint8Array(tokenCount(trajectory))
  for (const { segment, start, read } of readers(trajectory, number))
    for (let offset = 0; offset < segment.ids.length; offset++)
      if (isIn(scope, segment, offset) && test(read(offset))) tokens[start + offset] = 1
  return tokens
}

const isIn = (scope: TokenScope, segment: SegmentView, offset: number): boolean =>
  scope === 'all' || isTrained(segment, offset) === (scope === 'trained')

interface Reader {
  readonly segment: SegmentView
  /** Index of the first token of the segment. */
  readonly start: number
  /** Returns the number of a token of the segment; NaN is unknown. */
  readonly read: (offset: number) => number
}

function readers(trajectory: TrajectoryView, number: NumberName): readonly Reader[] {
  const starts = segmentStarts(trajectory)
  const specialIds = new Set(trajectory.model.tokenizer?.specialIds ?? [])
  return segmentsOf(trajectory).map((segment, index) => {
    const start = elementAt(starts, index)
    const read =
      number.kind === 'column'
        ? (offset: number) => numberAt(segment.columns?.[number.name], offset) ?? Number.NaN
        : factReader(number.name, { trajectory, segment, index, start, specialIds })
    return { segment, start, read }
  })
}

interface Place {
  readonly trajectory: TrajectoryView
  readonly segment: SegmentView
  readonly index: number
  readonly start: number
  readonly specialIds: ReadonlySet<number>
}

function factReader(
  name: NumberFact,
  { trajectory, segment, index, start, specialIds }: Place,
): (offset: number) => number {
  switch (name) {
    case 'index':
      return (offset) => start + offset
    case 'id':
      return (offset) => elementAt(segment.ids, offset)
    case 'segment':
      return () => index
    case 'mask':
      return (offset) => (isTrained(segment, offset) ? 1 : 0)
    case 'special':
      return (offset) => (specialIds.has(elementAt(segment.ids, offset)) ? 1 : 0)
    default:
      return quantityNamed(name, trajectory).reader(segment, trajectory)
  }
}
