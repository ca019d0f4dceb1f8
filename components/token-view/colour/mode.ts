/** What tokens can be coloured by, as data: how the value of a token is read, and how it is written. */
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** What is coloured. */
export type Coloured = Pick<TrajectoryView, 'segments' | 'live' | 'model'>

export type ColourMode = PlainMode | NumberMode | CategoryMode

interface Named {
  /** As the address has it. */
  readonly name: string
  readonly title: string
  /** What it is, in a sentence; where it is computed, by which formula. */
  readonly explanation: string
}

interface PlainMode extends Named {
  readonly kind: 'none'
}

/** A number for each token. */
export interface NumberMode extends Named {
  readonly kind: 'number'
  /** Before a number of the legend: `surprise`. */
  readonly quantity: string
  /** After it; empty: none. */
  readonly unit: string
  /** Computed from the k best alternatives, which is not all there is to know. */
  readonly isApproximate: boolean
  /** trained: context keeps its ground. all: every token whose value is known. */
  readonly scope: 'trained' | 'all'
  readonly axis: (values: Extent) => Axis
  /** The values of a segment's tokens, NaN = not known; undefined: it has none at all. */
  readonly read: (segment: SegmentView) => ((offset: number) => number) | undefined
  /** Without its unit. */
  readonly text: (value: number) => string
}

/** Least and largest of some values; of none at all Infinity and −Infinity. */
export interface Extent {
  readonly least: number
  readonly largest: number
}

/** Where a number begins to be of interest, and which way it goes from there. */
export interface Axis {
  /** rising and falling are sequential: one way from the origin; diverging goes both ways. */
  readonly direction: 'rising' | 'falling' | 'diverging'
  readonly origin: number
  /** The end of the scale is rounded up to a multiple of it, so that it stands still while tokens arrive; 0: to two digits. */
  readonly step: number
  /** A scale that ended nearer to the origin would colour noise. */
  readonly shortest: number
  /** No value is farther away; Infinity: there is no such end. */
  readonly reach: number
}

/** One of several kinds for each token. */
export interface CategoryMode extends Named {
  readonly kind: 'category'
  readonly categories: readonly Category[]
  /** Index of `categories` for each token of a segment; −1: of none; NaN: not known. */
  readonly read: (segment: SegmentView) => (offset: number) => number
}

export interface Category {
  readonly label: string
  /** Undefined: its tokens keep their ground. */
  readonly colour: string | undefined
}
