/** The values that the numbers of a query can have, for a note about a query that no token can match. */
import { segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Interval } from '#lib/util/interval.ts'
import type { NumberName } from './query.ts'

interface PossibleValues {
  readonly low: number
  readonly high: number
  readonly isWhole: boolean
}

/** Returns in words which values a number can have, if none of them is in the intervals. Undefined if one is, or if any value is possible. */
export function possibleValuesText(
  trajectory: TrajectoryView,
  number: NumberName,
  within: readonly Interval[],
): string | undefined {
  const possible = possibleValues(trajectory, number)
  return !possible || within.some((interval) => hasPossible(interval, possible)) ? undefined : valuesText(possible)
}

function possibleValues(trajectory: TrajectoryView, { kind, name }: NumberName): PossibleValues | undefined {
  if (kind === 'column') return undefined
  switch (name) {
    case 'mask':
    case 'special':
      return { low: 0, high: 1, isWhole: true }
    case 'index':
      return { low: 0, high: Math.max(0, tokenCount(trajectory) - 1), isWhole: true }
    case 'segment':
      return { low: 0, high: Math.max(0, segmentsOf(trajectory).length - 1), isWhole: true }
    case 'id':
      return { low: 0, high: Number.POSITIVE_INFINITY, isWhole: true }
    case 'p':
    case 'margin':
    case 'experts':
      return { low: 0, high: 1, isWhole: false }
    case 'logprob':
      return { low: Number.NEGATIVE_INFINITY, high: 0, isWhole: false }
    case 'surprise':
    case 'entropy':
    case 'ratio':
      return { low: 0, high: Number.POSITIVE_INFINITY, isWhole: false }
    default:
      return undefined
  }
}

function hasPossible({ low, high, without }: Interval, possible: PossibleValues): boolean {
  const [from, to] = [Math.max(low, possible.low), Math.min(high, possible.high)]
  const [first, last] = possible.isWhole ? [Math.ceil(from), Math.floor(to)] : [from, to]
  return first < last || (first === last && first !== without)
}

function valuesText({ low, high, isWhole }: PossibleValues): string {
  const whole = isWhole ? 'a whole number ' : ''
  if (high === Number.POSITIVE_INFINITY) return `${whole}at least ${low}`
  if (low === Number.NEGATIVE_INFINITY) return `at most ${high}`
  return isWhole && high - low === 1 ? `${low} or ${high}` : `${whole}from ${low} to ${high}`
}
