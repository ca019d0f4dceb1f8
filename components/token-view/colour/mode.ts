/** Colour modes as data: how the value of a token is read, and how it is written. */
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** The part of a trajectory that colours depend on. */
export type Coloured = Pick<TrajectoryView, 'segments' | 'live' | 'model' | 'columnMeanings'>

/** A way to colour tokens: not at all, by a number, or by a category. */
export type ColourMode = PlainMode | NumberMode | CategoryMode

interface Named {
  /** Name of the mode in the address. */
  readonly name: string
  readonly title: string
  /** One sentence about the value; its formula if Rollscope computes it. */
  readonly explanation: string
}

interface PlainMode extends Named {
  readonly kind: 'none'
}

/** A mode that reads a number for each token. */
export interface NumberMode extends Named {
  readonly kind: 'number'
  /** Name of the quantity in the legend, such as `entropy`. */
  readonly quantity: string
  /** Unit suffix; '' if unitless. */
  readonly unit: string
  /** Whether the value is computed from the k recorded alternatives only. */
  readonly isApproximate: boolean
  /** `trained`: context has no colour. `all`: every token with a known value is coloured. */
  readonly scope: 'trained' | 'all'
  readonly axis: (values: Extent) => Axis
  /** Returns a reader of a segment's values, in which NaN means unknown; undefined if the segment has no values. */
  readonly read: (segment: SegmentView) => ((offset: number) => number) | undefined
  /** Writes a value without its unit. */
  readonly text: (value: number) => string
}

/** Smallest and largest of some values; Infinity and −Infinity if there are no values. */
export interface Extent {
  readonly min: number
  readonly max: number
}

/** Where the interesting values of a number begin, and in which direction they lie. */
export interface Axis {
  /** `rising` and `falling` lead in one direction from the origin; `diverging` leads in both. */
  readonly direction: 'rising' | 'falling' | 'diverging'
  readonly origin: number
  /**
   * The end of the scale is rounded up to a multiple of this step, so that it seldom changes while tokens arrive. 0 rounds to two digits.
   */
  readonly step: number
  /** Smallest distance at which the scale may end: a shorter scale would colour noise. */
  readonly shortest: number
  /** Whether distances are those of binary logarithms, so that 2 and ½ are equally far from 1. Omitted: they are differences. */
  readonly isLogarithmic?: boolean
  /** Largest distance that a value can have; Infinity if there is no such bound. */
  readonly reach: number
}

/** A mode that sorts each token into one of several categories. */
export interface CategoryMode extends Named {
  readonly kind: 'category'
  readonly categories: readonly Category[]
  /** Returns a reader of indices into `categories`: −1 means no category, NaN means unknown. */
  readonly read: (segment: SegmentView) => (offset: number) => number
}

/** One category of tokens, with its colour. */
export interface Category {
  readonly label: string
  /** `undefined` leaves the tokens without a background. */
  readonly colour: string | undefined
}
