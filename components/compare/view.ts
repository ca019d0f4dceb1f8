/** What every part of the compare page gets. */
import type { Compared } from '#lib/analysis/compare/compare-sides.ts'
import type { Side } from '#lib/analysis/compare/side.ts'

export interface ShownPair {
  readonly left: Side
  readonly right: Side
  readonly compared: Compared
}

/** What the address says, besides the pair: a copied link restores exactly this. */
export interface CompareView {
  /** Number of the chosen drift span, from 0; undefined: none. */
  readonly drift: number | undefined
  /** Hide equal parts altogether. */
  readonly onlyDifferences: boolean
  /** Both sides in one column instead of two; narrow windows have it unless the address says otherwise. */
  readonly isUnified: boolean
  /** What tokens are coloured by: a name as in the inspector's address. */
  readonly colour: string
}

export interface ComparePartProps {
  readonly pair: ShownPair
  readonly view: CompareView
  /** A drift span chosen anywhere is brought into sight by the parts that show tokens. */
  readonly onView: (change: Partial<CompareView>) => void
  /** The drift span that the pointer rests on is shown in the card; undefined: none. */
  readonly onPoint: (drift: number | undefined) => void
  /** Says something in the status line, aloud to screen readers too. */
  readonly say: (message: string) => void
}

/** What rescoring both sides on a server found, in the summary. Natural logarithms; undefined: not known. */
export interface RescoreSummary {
  readonly meanLogprob: { readonly left: number; readonly right: number } | undefined
  /** Of the trained tokens, right over left. */
  readonly minImportanceRatio: number | undefined
  /** Mean of |prefill − sampled| over the trained tokens of the recorded side. */
  readonly noiseFloor: number | undefined
}
