/** Props and types that all parts of the compare page share. */
import type { ComparedSides } from '#lib/analysis/compare/compare-sides.ts'
import type { Side } from '#lib/analysis/compare/side.ts'

/** A comparison and the two sides that were requested. */
export interface ShownPair {
  readonly left: Side
  readonly right: Side
  readonly compared: ComparedSides
}

/** View state in the address besides the pair, so that a copied link restores it. */
export interface CompareView {
  /** Number of the chosen drift span, from 0; undefined: none. */
  readonly drift: number | undefined
  /** Whether equal parts are hidden. */
  readonly onlyDifferences: boolean
  /** Whether both sides share one column. In narrow windows this is the default, which the address overrides. */
  readonly isUnified: boolean
  /** What tokens are coloured by: a name as in the inspector's address. */
  readonly colour: string
}

/** Props that most parts of the compare page take. */
export interface ComparePartProps {
  readonly pair: ShownPair
  readonly view: CompareView
  /** Changes the view. The parts that show tokens scroll to a newly chosen drift span. */
  readonly onView: (change: Partial<CompareView>) => void
  /** Shows the drift span under the pointer in the card; undefined: none. */
  readonly onPoint: (drift: number | undefined) => void
  /** Shows a message in the status line, which screen readers speak. */
  readonly say: (message: string) => void
}

/** Results of rescoring for the summary. Values are natural logarithms unless noted; undefined: unknown. */
export interface RescoreSummary {
  readonly meanLogprob: { readonly left: number; readonly right: number } | undefined
  /** Smallest ratio of the trained tokens, right over left. */
  readonly minImportanceRatio: number | undefined
  /** Mean of |prefill − sampled| over the trained tokens of the recorded side. */
  readonly noiseFloor: number | undefined
}
