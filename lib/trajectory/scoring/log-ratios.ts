/**
 * The importance ratio of each token: its probability under the trainer, divided by its probability when it was sampled. Logprobs of
 * different kinds are compared only after an exact conversion.
 */
import { type ColumnSource, columnNames, columnRoles, logprobColumns, OWN_LOGPROBS } from '../tokens/column-roles.ts'
import { isTrained, segmentsOf } from '../tokens/tokens.ts'
import { numberAt, type RatioPair, type SegmentView } from '../tokens/trajectory-view.ts'
import {
  type Comparison,
  type Conversion,
  compareKinds,
  convertLogprob,
  logprobColumn,
  logprobKind,
} from './comparable.ts'

/** The columns whose ratio is computed. */
export type RatioColumns =
  | ({ readonly kind: 'logprobs' } & RatioPair)
  /** The file has the ratios themselves. */
  | { readonly kind: 'given'; readonly column: string }

/** Writes a pair of columns for an address. */
export const ratioPairText = ({ numerator, denominator }: RatioPair): string =>
  [numerator, denominator].map(encodeURIComponent).join('/')

/** Reads a pair of columns from an address; undefined if it is not one. */
export function readRatioPair(text: string): RatioPair | undefined {
  const [numerator, denominator, ...others] = text.split('/')
  if (!numerator || !denominator || others.length > 0) return undefined
  try {
    return { numerator: decodeURIComponent(numerator), denominator: decodeURIComponent(denominator) }
  } catch {
    return undefined
  }
}

/**
 * Returns the columns whose ratio is shown: those that the user chose, or else the trainer’s logprobs and the sampled ones. If these cannot be compared, logprobs that the
 * rollout model gave later, such as rescored ones, take the place of the sampled ones. Undefined if the trainer’s are missing.
 */
export function ratioColumns(trajectory: ColumnSource): RatioColumns | undefined {
  const { ratioPair: pair } = trajectory
  if (pair && pair.numerator !== pair.denominator) {
    const names = logprobColumns(trajectory)
    if (names.includes(pair.numerator) && names.includes(pair.denominator)) return { kind: 'logprobs', ...pair }
  }
  const { trainer, ratio } = columnRoles(trajectory)
  if (trainer === undefined) return ratio === undefined ? undefined : { kind: 'given', column: ratio }
  const meanings = trajectory.columnMeanings ?? {}
  const others = columnNames(trajectory).filter(
    (name) => meanings[name]?.quantity === 'logprob' && meanings[name].model === 'rollout',
  )
  const pairs = [OWN_LOGPROBS, ...others].map(
    (denominator): RatioColumns => ({ kind: 'logprobs', numerator: trainer, denominator }),
  )
  return (
    pairs.find((pair) => segmentsOf(trajectory).some((segment) => isCompared(trajectory, segment, pair))) ?? pairs[0]
  )
}

function isCompared(trajectory: ColumnSource, segment: SegmentView, columns: RatioColumns): boolean {
  const comparison = segmentComparison(trajectory, segment, columns)
  return comparison !== undefined && comparison.kind !== 'refused'
}

/** Returns how the columns are compared at a segment; undefined if the segment lacks one of them, or trains no token. */
function segmentComparison(
  trajectory: ColumnSource,
  segment: SegmentView,
  columns: RatioColumns,
): Comparison | undefined {
  if (!hasTrainedToken(segment)) return undefined
  if (columns.kind === 'given') return segment.columns?.[columns.column] && { kind: 'same', as: 'given' }
  const { numerator, denominator } = columns
  if (!logprobColumn(segment, numerator) || !logprobColumn(segment, denominator)) return undefined
  return compareKinds(logprobKind(trajectory, numerator, segment), logprobKind(trajectory, denominator, segment))
}

function hasTrainedToken(segment: SegmentView): boolean {
  if (!segment.mask) return segment.kind === 'response' && segment.ids.length > 0
  for (let index = 0; index < segment.ids.length; index++) if (isTrained(segment, index)) return true
  return false
}

interface CachedRatios {
  readonly columnMeanings: ColumnSource['columnMeanings']
  readonly columns: RatioColumns | undefined
  readonly values: Float64Array
}

const cached = new WeakMap<SegmentView, CachedRatios>()

/**
 * Returns log(trainer / rollout) of each token of a segment; NaN if a logprob is unknown or they cannot be compared. The result is cached,
 * since colours, charts and searches read it.
 */
export function segmentLogRatios(trajectory: ColumnSource, segment: SegmentView): Float64Array {
  const columns = ratioColumnsOnce(trajectory)
  const found = cached.get(segment)
  if (found && found.columnMeanings === trajectory.columnMeanings && found.columns === columns) return found.values
  const values = readLogRatios(trajectory, segment, columns)
  cached.set(segment, { columnMeanings: trajectory.columnMeanings, columns, values })
  return values
}

const chosen = new WeakMap<
  readonly SegmentView[],
  {
    readonly meanings: ColumnSource['columnMeanings']
    readonly pair: RatioPair | undefined
    readonly columns: RatioColumns | undefined
  }
>()

function ratioColumnsOnce(trajectory: ColumnSource): RatioColumns | undefined {
  const found = chosen.get(trajectory.segments)
  if (found && found.meanings === trajectory.columnMeanings && found.pair === trajectory.ratioPair) return found.columns
  const columns = ratioColumns(trajectory)
  chosen.set(trajectory.segments, { meanings: trajectory.columnMeanings, pair: trajectory.ratioPair, columns })
  return columns
}

function readLogRatios(
  trajectory: ColumnSource,
  segment: SegmentView,
  columns: RatioColumns | undefined,
): Float64Array {
  const values = new Float64Array(segment.ids.length).fill(Number.NaN)
  if (!columns) return values
  const comparison = segmentComparison(trajectory, segment, columns)
  if (!comparison || comparison.kind === 'refused') return values
  if (columns.kind === 'given') {
    const ratios = segment.columns?.[columns.column]
    for (let index = 0; index < values.length; index++) values[index] = Math.log(numberAt(ratios, index) ?? Number.NaN)
    return values
  }
  const conversions = comparison.kind === 'converted' ? comparison.conversions : []
  const numerator = logprobReader(
    segment,
    columns.numerator,
    conversions.find(({ side }) => side === 'numerator'),
  )
  const denominator = logprobReader(
    segment,
    columns.denominator,
    conversions.find(({ side }) => side === 'denominator'),
  )
  for (let index = 0; index < values.length; index++) values[index] = numerator(index) - denominator(index)
  return values
}

/** Returns a reader of the logprobs of a column by index in the segment, after their conversion; NaN = unknown. */
export function logprobReader(
  segment: SegmentView,
  column: string,
  conversion: Conversion | undefined,
): (index: number) => number {
  const logprobs = logprobColumn(segment, column)
  const plain = (index: number): number => numberAt(logprobs, index) ?? Number.NaN
  if (!conversion) return plain
  const normalisers = segment.columns?.[conversion.normaliser.column]
  return (index) => convertLogprob(plain(index), conversion, numberAt(normalisers, index) ?? Number.NaN)
}

/** Returns the trainer’s logprob of a token after its conversion to the kind that it is compared at; NaN = unknown. */
export function comparedLogprobs(
  trajectory: ColumnSource,
  segment: SegmentView,
  index: number,
): { readonly numerator: number; readonly denominator: number } | undefined {
  const columns = ratioColumnsOnce(trajectory)
  if (columns?.kind !== 'logprobs') return undefined
  const comparison = segmentComparison(trajectory, segment, columns)
  if (!comparison) return undefined
  const conversions = comparison.kind === 'converted' ? comparison.conversions : []
  const at = (side: Conversion['side']) =>
    logprobReader(
      segment,
      columns[side],
      conversions.find((conversion) => conversion.side === side),
    )(index)
  return { numerator: at('numerator'), denominator: at('denominator') }
}

/** How the columns of a trajectory are compared, over all segments with trained tokens. */
export interface RatioComparison {
  readonly columns: RatioColumns
  /** The comparison of the first segment that is compared, or else of the first segment. Undefined: no segment has both columns. */
  readonly comparison: Comparison | undefined
  /** Reasons why segments are left out, and the trained tokens in them. */
  readonly leftOut: readonly { readonly why: string; readonly tokens: number }[]
}

/** Returns how the columns are compared; undefined if the trajectory has no trainer’s logprobs. */
export function ratioComparison(trajectory: ColumnSource): RatioComparison | undefined {
  const columns = ratioColumnsOnce(trajectory)
  if (!columns) return undefined
  const leftOut = new Map<string, number>()
  let first: Comparison | undefined
  for (const segment of segmentsOf(trajectory)) {
    const comparison = segmentComparison(trajectory, segment, columns)
    if (!comparison) continue
    if (first === undefined || (first.kind === 'refused' && comparison.kind !== 'refused')) first = comparison
    if (comparison.kind === 'refused')
      leftOut.set(comparison.why, (leftOut.get(comparison.why) ?? 0) + trainedTokens(segment))
  }
  return { columns, comparison: first, leftOut: Array.from(leftOut, ([why, tokens]) => ({ why, tokens })) }
}

function trainedTokens(segment: SegmentView): number {
  let trained = 0
  for (let index = 0; index < segment.ids.length; index++) trained += Number(isTrained(segment, index))
  return trained
}
