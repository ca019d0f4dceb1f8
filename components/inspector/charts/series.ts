/**
 * Numbers of the trained tokens as flat arrays for the charts, computed once for each quantity. The open segment of a run is
 * added when it is closed.
 */

import type { Coloured, ColourMode, NumberMode } from '#components/token-view/colour/mode.ts'
import { colourModeNamed } from '#components/token-view/colour/modes.ts'
import {
  COLUMN_PREFIX,
  entropyMode,
  hasTrainerNumber,
  MARGIN,
  PROBABILITY,
  TRAINER_NUMBERS,
  trainerMode,
} from '#components/token-view/colour/number-modes.ts'
import { hasTrained } from '#components/token-view/colour/scale.ts'
import { columnNames } from '#lib/trajectory/tokens/column-roles.ts'
import { TOKEN_QUANTITIES } from '#lib/trajectory/tokens/quantities.ts'
import { isTrained, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt, float64At } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** One number of the trained tokens of a trajectory. */
export interface TokenSeries {
  /** Name of the colour mode with the same number. */
  readonly name: string
  readonly title: string
  /** Unit of the values; '' if unitless. */
  readonly unit: string
  /** Indices of the trained tokens whose value is known and finite, and these values. */
  readonly tokens: Float64Array
  readonly values: Float64Array
  /** Number of trained tokens without such a value. */
  readonly unknown: number
}

/** A number that charts can draw. */
export interface Quantity {
  readonly name: string
  readonly title: string
}

const LOGPROB = TOKEN_QUANTITIES.logprob

/** Returns the numbers that charts can draw, which are those that tokens can be coloured by. */
export const quantities = (trajectory: Coloured): readonly Quantity[] => [
  { name: 'logprob', title: LOGPROB.title },
  ...[
    PROBABILITY,
    entropyMode(trajectory),
    MARGIN,
    ...TRAINER_NUMBERS.filter((name) => hasTrainerNumber(name, trajectory)).map((name) =>
      trainerMode(name, trajectory),
    ),
  ].map(({ name, quantity, isApproximate }) => ({
    name,
    title: isApproximate ? `${quantity} (approximate)` : quantity,
  })),
  ...columnNames(trajectory).map((column) => ({ name: COLUMN_PREFIX + column, title: column })),
]

/** Returns the quantity of a colour mode; logprobs if the mode shows no number. */
export const quantityOf = (mode: ColourMode): string =>
  mode.kind === 'number' && mode.name !== 'logprobs' ? mode.name : 'logprob'

/** Returns the series of a quantity, from a cache if possible. An unknown name gives logprobs. */
export function seriesNamed(trajectory: Coloured, name: string): TokenSeries {
  const known = seriesOf(trajectory.segments)
  const found = known.get(name) ?? readSeries(trajectory, name)
  known.set(name, found)
  return found
}

const seriesOf = memoizeByIdentity((_segments: readonly SegmentView[]) => new Map<string, TokenSeries>())

function readSeries(trajectory: Coloured, name: string): TokenSeries {
  const { segments } = trajectory
  const { title, unit, read } = readerOf(trajectory, name)
  const starts = segmentStarts({ segments })
  const count = starts.at(-1) as number
  const tokens = new Float64Array(count)
  const values = new Float64Array(count)
  let length = 0
  let unknown = 0
  for (const [index, segment] of segments.entries()) {
    if (!hasTrained(segment)) continue
    const valueAt = read(segment) ?? notKnown
    for (let offset = 0; offset < segment.ids.length; offset++) {
      if (!isTrained(segment, offset)) continue
      const value = valueAt(offset)
      if (!Number.isFinite(value)) {
        unknown++
        continue
      }
      tokens[length] = elementAt(starts, index) + offset
      values[length++] = value
    }
  }
  return { name, title, unit, tokens: tokens.slice(0, length), values: values.slice(0, length), unknown }
}

const notKnown = (): number => Number.NaN

interface Reader {
  readonly title: string
  readonly unit: string
  readonly read: NumberMode['read']
}

/** Returns the reader of a quantity. Logprobs are not negated here, since a chart has an axis. */
function readerOf(trajectory: Coloured, name: string): Reader {
  const mode = colourModeNamed(trajectory, name)
  if (mode.kind !== 'number' || mode.name === 'logprob') return { ...LOGPROB, read: LOGPROB.reader }
  return { title: mode.quantity, unit: mode.unit, read: mode.read }
}

/** Returns for each value the mean of the last `window` values up to it; at the beginning, of fewer values. */
export function movingMean(values: Float64Array, window: number): Float64Array {
  const means = new Float64Array(values.length)
  let sum = 0
  for (let index = 0; index < values.length; index++) {
    sum += float64At(values, index)
    if (index >= window) sum -= float64At(values, index - window)
    means[index] = sum / Math.min(window, index + 1)
  }
  return means
}

/** Returns the indices of the `count` entries with the largest weight, the largest first. */
export function largestIndices(length: number, count: number, weight: (index: number) => number): readonly number[] {
  const best: number[] = []
  for (let index = 0; index < length; index++) {
    if (best.length === count && weight(index) <= weight(elementAt(best, count - 1))) continue
    const place = best.findIndex((other) => weight(other) < weight(index))
    best.splice(place < 0 ? best.length : place, 0, index)
    if (best.length > count) best.pop()
  }
  return best
}
