/**
 * The scale of a colour mode over a trajectory: where the colours end, and how many tokens have each. Only trained tokens set the end, so
 * that placeholder values at masked tokens do not flatten the colours. The part of a closed segment is computed once; an open segment is
 * counted again when its length has doubled.
 */
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt, float64At } from '#lib/util/element-at.ts'
import type { Axis, CategoryMode, Coloured, ColourMode, Extent, NumberMode } from './mode.ts'
import { selectPercentile } from './percentile.ts'

/** What the legend of a colour mode shows. */
export type ColourScale = { readonly kind: 'none' } | NumberScale | CategoryScale

/** Range, end and counts of a number mode over a trajectory. */
export interface NumberScale extends Extent {
  readonly kind: 'number'
  readonly axis: Axis
  /** Distance from the origin at which the colours end, unless the user moves the end. */
  readonly limit: number
  /** 95th percentile of the distances of trained tokens, exact; null if none is known. */
  readonly p95: number | null
  /** Numbers of trained tokens with and without a value. */
  readonly known: number
  readonly unknown: number
}

interface CategoryScale {
  readonly kind: 'category'
  /** Numbers of tokens in each category, and of tokens whose category is unknown. */
  readonly counts: readonly number[]
  readonly unknown: number
}

/** Returns the scale of a mode. While a run streams, an earlier result is reused until the open segment has doubled. */
export function colourScale({ segments, live }: Coloured, mode: ColourMode): ColourScale {
  if (mode.kind === 'none') return PLAIN
  const open = live?.open
  const length = open?.ids.length ?? 0
  const scales = scalesOf(segments)
  const cachedScales = scales.get(mode)
  if (
    cachedScales &&
    (length === cachedScales.openLength || (length > cachedScales.openLength && length < 2 * cachedScales.openLength))
  )
    return cachedScales.scale
  const all = open ? [...segments, open] : segments
  const scale = mode.kind === 'number' ? numberScale(all, mode) : categoryScale(all, mode)
  scales.set(mode, { openLength: length, scale })
  return scale
}

const PLAIN: ColourScale = { kind: 'none' }

interface CachedScale {
  /** Number of tokens of the open segment that the scale counts. */
  readonly openLength: number
  readonly scale: ColourScale
}

const cachedScales = new WeakMap<readonly SegmentView[], Map<ColourMode, CachedScale>>()

function scalesOf(segments: readonly SegmentView[]): Map<ColourMode, CachedScale> {
  const found = cachedScales.get(segments) ?? new Map<ColourMode, CachedScale>()
  cachedScales.set(segments, found)
  return found
}

function numberScale(segments: readonly SegmentView[], mode: NumberMode): NumberScale {
  const parts = segments.map((segment) => trainedNumbers(segment, mode))
  const values = new Float64Array(parts.reduce((sum, part) => sum + part.values.length, 0))
  let at = 0
  for (const part of parts) {
    values.set(part.values, at)
    at += part.values.length
  }
  const extent = extentOf(values)
  const axis = mode.axis(extent)
  for (let index = 0; index < values.length; index++) values[index] = distance(axis, float64At(values, index))
  const p95 = selectPercentile(values, 0.95) ?? null
  const farthest = Math.max(distance(axis, extent.min), distance(axis, extent.max))
  return {
    kind: 'number',
    axis,
    ...extent,
    p95,
    limit: roundedUp(axis, p95 || (values.length > 0 ? farthest : 0)),
    known: values.length,
    unknown: parts.reduce((sum, { unknown }) => sum + unknown, 0),
  }
}

/** Returns the distance of a value from the origin in the direction of the axis; the absolute distance if the axis diverges. */
export function distance({ direction, origin, isLogarithmic }: Axis, value: number): number {
  const difference = isLogarithmic ? Math.log2(value / origin) : value - origin
  const ahead = direction === 'falling' ? -difference : difference
  return direction === 'diverging' ? Math.abs(ahead) : Math.max(0, ahead)
}

/** Returns the value at a distance from the origin. */
export const valueAtDistance = ({ direction, origin, isLogarithmic }: Axis, far: number): number => {
  if (isLogarithmic) return origin * 2 ** far
  return direction === 'falling' ? origin - far : origin + far
}

function roundedUp({ step, shortest, reach }: Axis, far: number): number {
  const tens = 10 ** (Math.floor(Math.log10(far)) - 1)
  const unit = step || tens
  // The small subtraction absorbs rounding errors: 0.3 / 0.1 is more than 3.
  const rounded = Number((Math.ceil(far / unit - 1e-9) * unit).toPrecision(12))
  return Math.min(reach, Math.max(shortest, rounded) || 1)
}

interface TrainedNumbers {
  /** Finite values of the trained tokens, in order. */
  readonly values: Float64Array
  /** Number of trained tokens without a value. */
  readonly unknown: number
}

const numbers = new WeakMap<SegmentView, Map<string, TrainedNumbers>>()

/** Returns the values of the trained tokens of a segment. */
function trainedNumbers(segment: SegmentView, mode: NumberMode): TrainedNumbers {
  const ofSegment = numbers.get(segment) ?? new Map<string, TrainedNumbers>()
  numbers.set(segment, ofSegment)
  const found = ofSegment.get(mode.name) ?? readNumbers(segment, mode)
  ofSegment.set(mode.name, found)
  return found
}

function readNumbers(segment: SegmentView, mode: NumberMode): TrainedNumbers {
  if (!hasTrained(segment)) return NO_NUMBERS
  const { length } = segment.ids
  const read = mode.read(segment) ?? notKnown
  const values = new Float64Array(length)
  let count = 0
  let unknown = 0
  for (let offset = 0; offset < length; offset++) {
    if (!isTrained(segment, offset)) continue
    const value = read(offset)
    if (Number.isFinite(value)) values[count++] = value
    else if (Number.isNaN(value)) unknown++
  }
  return { values: values.subarray(0, count), unknown }
}

const NO_NUMBERS: TrainedNumbers = { values: new Float64Array(), unknown: 0 }

const notKnown = (): number => Number.NaN

/** Returns whether a segment can contain trained tokens; most tokens of an agent are in segments that cannot. */
export const hasTrained = ({ kind, mask }: SegmentView): boolean => kind === 'response' || mask !== undefined

/** Returns the smallest and the largest value; Infinity and −Infinity if there are no values. */
export function extentOf(values: Float64Array): Extent {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}

function categoryScale(segments: readonly SegmentView[], mode: CategoryMode): CategoryScale {
  const counts = mode.categories.map(() => 0)
  let unknown = 0
  for (const segment of segments) {
    const read = mode.read(segment)
    for (let offset = 0; offset < segment.ids.length; offset++) {
      const code = read(offset)
      if (Number.isNaN(code)) unknown++
      else if (code >= 0) counts[code] = elementAt(counts, code) + 1
    }
  }
  return { kind: 'category', counts, unknown }
}
