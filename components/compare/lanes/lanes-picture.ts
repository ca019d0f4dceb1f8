/** Everything that the lanes are drawn from. */

import type { RowPicture } from '#components/token-view/grid/token-picture.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { DriftSpan } from '#lib/trajectory/drift/report.ts'
import type { DriftVocabulary } from '../drift/drift-words.ts'
import type { Pairing, Spot } from './pairing.ts'
import type { Rows } from './rows.ts'

/** Chosen tokens of one side: from where the choice began to where it stands. */
export interface LaneChoice {
  readonly side: SideName
  readonly anchor: number
  readonly focus: number
}

export interface LanesPicture {
  readonly rows: Rows
  readonly pairing: Pairing
  readonly spans: readonly DriftSpan[]
  readonly vocabulary: DriftVocabulary
  readonly pictures: Readonly<Record<SideName, RowPicture>>
  /** The chosen drift. */
  readonly drift: number | undefined
  readonly chosen: LaneChoice | undefined
  /** The token of the other side that is the chosen one's. */
  readonly partner: Spot | undefined
  /** Under the pointer, and its partner. */
  readonly pointed: Spot | undefined
  readonly pointedPartner: Spot | undefined
}
