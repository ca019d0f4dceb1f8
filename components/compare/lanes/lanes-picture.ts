/** Data from which the lanes are drawn. */

import type { RowPicture } from '#components/token-view/grid/token-picture.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { DriftSpan } from '#lib/trajectory/drift/report.ts'
import type { DriftVocabulary } from '../drift/drift-words.ts'
import type { Pairing, Spot } from './pairing.ts'
import type { Rows } from './rows/rows.ts'

/** Chosen tokens of one side, from the first chosen token (anchor) to the one with the focus. */
export interface LaneSelection {
  readonly side: SideName
  readonly anchor: number
  readonly focus: number
}

/** Everything that one drawing of the lanes shows. */
export interface LanesPicture {
  readonly rows: Rows
  readonly pairing: Pairing
  readonly spans: readonly DriftSpan[]
  readonly vocabulary: DriftVocabulary
  readonly pictures: Readonly<Record<SideName, RowPicture>>
  /** Number of the chosen drift span. */
  readonly drift: number | undefined
  readonly chosen: LaneSelection | undefined
  /** Token of the other side that corresponds to the chosen one. */
  readonly partner: Spot | undefined
  /** Token under the pointer; `pointedPartner` is the corresponding token of the other side. */
  readonly pointed: Spot | undefined
  readonly pointedPartner: Spot | undefined
}
