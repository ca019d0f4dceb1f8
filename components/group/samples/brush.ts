/** The histogram of rewards or lengths, and the range of it that selects samples. */
import type { GroupSample } from '#lib/api/forest/group-forest.ts'
import { uint32At } from '#lib/util/element-at.ts'

/** What the histogram counts. */
const BRUSH_QUANTITIES = ['reward', 'length'] as const
/** A quantity of samples that the histogram can show. */
export type BrushQuantity = (typeof BRUSH_QUANTITIES)[number]

/** A range of rewards or lengths, both ends included. */
export interface Brush {
  readonly by: BrushQuantity
  readonly low: number
  readonly high: number
}

/** Returns the reward or the number of tokens of a sample; null if it has no reward. */
const valueOfSample = ({ row }: Pick<GroupSample, 'row'>, by: BrushQuantity): number | null =>
  by === 'reward' ? row.reward : row.tokens

/** Returns the indices of the samples in the range; undefined if there is no range, so that all are selected. */
export function samplesInBrush(
  samples: readonly GroupSample[],
  brush: Brush | undefined,
): ReadonlySet<number> | undefined {
  if (!brush) return undefined
  const { by, low, high } = brush
  return new Set(
    samples.flatMap((sample, index) => {
      const value = valueOfSample(sample, by)
      return value !== null && value >= low && value <= high ? [index] : []
    }),
  )
}

/** Returns a range as in addresses, such as `reward:0.5:1`. */
export const brushText = ({ by, low, high }: Brush): string => `${by}:${low}:${high}`

/** Reads a range; undefined if the text is none. */
export function readBrush(text: string): Brush | undefined {
  const [name, ...ends] = text.split(':')
  const by = BRUSH_QUANTITIES.find((quantity) => quantity === name)
  const [low, high] = ends.map((end) => (end === '' ? Number.NaN : Number(end)))
  if (!by || ends.length !== 2 || low === undefined || high === undefined) return undefined
  return Number.isFinite(low) && Number.isFinite(high) && low <= high ? { by, low, high } : undefined
}

/** A histogram of the samples of a group. */
export interface SampleHistogram {
  readonly low: number
  readonly high: number
  /** Bins of equal width from low to high; the last one includes its end. */
  readonly bins: readonly { readonly from: number; readonly to: number; readonly count: number }[]
  /** Mean of the known values. */
  readonly mean: number
  /** Number of samples without a value. */
  readonly unknown: number
}

const BINS = 10

/** Returns the histogram; undefined if no sample has a value. `range` is that of the rewards; lengths begin and end at their own values. */
export function sampleHistogram(
  samples: readonly Pick<GroupSample, 'row'>[],
  by: BrushQuantity,
  range: { readonly low: number; readonly high: number } | undefined,
): SampleHistogram | undefined {
  const values = samples.flatMap((sample) => valueOfSample(sample, by) ?? [])
  if (values.length === 0) return undefined
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const low = by === 'reward' && range ? Math.min(range.low, least) : least
  const high = by === 'reward' && range ? Math.max(range.high, most) : most
  const width = (high - low) / BINS
  const counts = new Uint32Array(width > 0 ? BINS : 1)
  for (const value of values) {
    const bin = width > 0 ? Math.min(BINS - 1, Math.floor((value - low) / width + 1e-9)) : 0
    counts[bin] = uint32At(counts, bin) + 1
  }
  const edge = (index: number) => (index === counts.length ? high : Number((low + index * width).toPrecision(12)))
  return {
    low,
    high,
    bins: Array.from(counts, (count, index) => ({ from: edge(index), to: edge(index + 1), count })),
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    unknown: samples.length - values.length,
  }
}

/** Returns the range after a handle has moved; undefined if it covers the whole histogram. The handles do not pass each other. */
export function movedBrush(
  { low, high }: Pick<SampleHistogram, 'low' | 'high'>,
  brush: Brush,
  handle: 'low' | 'high',
  to: number,
): Brush | undefined {
  const moved =
    handle === 'low'
      ? { ...brush, low: Math.max(low, Math.min(to, brush.high)) }
      : { ...brush, high: Math.min(high, Math.max(to, brush.low)) }
  return moved.low <= low && moved.high >= high ? undefined : moved
}
