/** Makes the rows of the lanes and everything that one drawing shows. Each part changes only with its own input. */
import { useMemo } from 'react'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import type { RowPicture } from '#components/token-view/grid/token-picture.ts'
import { type GridOptions, rowHeightOf } from '#components/token-view/grid-options.ts'
import type { useMeasure } from '#components/token-view/measure/use-measure.ts'
import type { PieceTable } from '#components/token-view/pieces/piece-table.ts'
import { usePieceTable, useSettled } from '#components/token-view/pieces/use-piece-table.ts'
import type { TokenMarks } from '#components/token-view/token-marks.ts'
import type { ComparedSides, SideName } from '#lib/analysis/compare/compare-sides.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { DriftVocabulary } from '../drift/drift-words.ts'
import type { CompareView } from '../view.ts'
import type { LaneSelection, LanesPicture } from './lanes-picture.ts'
import { driftMarks, marksOfDrift } from './marks.ts'
import { driftOfToken, matchOf, type Pairing, runNumberOf, type Spot } from './pairing.ts'
import { makeRows } from './rows/make-rows.ts'
import { otherSide, type RowSide, type Rows } from './rows/rows.ts'
import { sharedColouring } from './shared-colouring.ts'

/** The input of a drawing of the lanes. */
export interface LanesPictureOptions {
  readonly compared: ComparedSides
  readonly vocabulary: DriftVocabulary
  readonly pairing: Pairing
  readonly view: CompareView
  readonly options: GridOptions
  /** Numbers of the unfolded aligned runs. */
  readonly open: ReadonlySet<number>
  readonly chosen: LaneSelection | undefined
  readonly pointed: Spot | undefined
}

/** Returns the picture; undefined before the first measurement. */
export function useLanesPicture(
  { compared, vocabulary, pairing, view, options, open, chosen, pointed }: LanesPictureOptions,
  measure: ReturnType<typeof useMeasure>,
): LanesPicture | undefined {
  const { spans } = compared.comparison.report
  const left = useSide(compared.left.trajectory, measure)
  const right = useSide(compared.right.trajectory, measure)
  const columns = measure?.columns
  const arrangement = view.isUnified ? 'unified' : 'lanes'
  const rowHeight = rowHeightOf(options.fontSize)
  const { onlyDifferences } = view
  const rows = useMemo(
    () =>
      left && right && columns !== undefined
        ? makeRows({ left, right }, pairing.alignedRuns, { arrangement, onlyDifferences, open, columns, rowHeight })
        : undefined,
    [left, right, pairing, arrangement, onlyDifferences, open, columns, rowHeight],
  )
  const pointedDrift = pointed && driftOfToken(pairing, pointed)
  const settings = {
    pairing,
    drift: view.drift,
    pointedDrift,
    chosen,
    options,
    colour: view.colour,
    left: compared.left.trajectory,
    cell: measure?.cell,
  }
  const leftPicture = useRowPicture('left', compared.left.trajectory, rows, settings)
  const rightPicture = useRowPicture('right', compared.right.trajectory, rows, settings)
  return useMemo(
    () =>
      rows && leftPicture && rightPicture
        ? {
            rows,
            pairing,
            spans,
            vocabulary,
            pictures: { left: leftPicture, right: rightPicture },
            drift: view.drift,
            chosen,
            partner: chosen && partnerOf(rows, pairing, { side: chosen.side, token: chosen.focus }),
            pointed,
            pointedPartner: pointed && pointedDrift === undefined ? matchOf(pairing, pointed) : undefined,
          }
        : undefined,
    [rows, pairing, spans, vocabulary, leftPicture, rightPicture, view.drift, chosen, pointed, pointedDrift],
  )
}

/** Returns the partner of a token; undefined beside a gap, and for equal tokens of one column, which are drawn once. */
function partnerOf({ arrangement }: Rows, pairing: Pairing, spot: Spot): Spot | undefined {
  const alignedRun = pairing.alignedRuns[runNumberOf(pairing, spot)]
  const other = alignedRun?.[otherSide(spot.side)]
  if (!other || other.end === other.start || (arrangement === 'unified' && alignedRun.kind === 'equal'))
    return undefined
  return matchOf(pairing, spot)
}

/** Returns a side as input for rows. It changes when estimated widths have been measured. */
function useSide(trajectory: TrajectoryView, measure: ReturnType<typeof useMeasure>): RowSide | undefined {
  const table = usePieceTable(measure)
  const settled = useSettled(table, trajectory)
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured widths change the rows
  return useMemo(() => table && sideOf(trajectory, table), [table, trajectory, settled])
}

function sideOf(trajectory: TrajectoryView, table: PieceTable): RowSide {
  table.takeVocab(trajectory.vocab)
  return { segments: segmentsOf(trajectory), starts: segmentStarts(trajectory), table }
}

interface RowPictureSettings {
  readonly pairing: Pairing
  readonly drift: number | undefined
  readonly pointedDrift: number | undefined
  readonly chosen: LaneSelection | undefined
  readonly options: GridOptions
  readonly colour: string
  /** The left trajectory, whose colour scale both sides share. */
  readonly left: TrajectoryView
  readonly cell: number | undefined
}

function useRowPicture(
  side: SideName,
  trajectory: TrajectoryView,
  rows: Rows | undefined,
  { pairing, drift, pointedDrift, chosen, options, colour, left, cell }: RowPictureSettings,
): RowPicture | undefined {
  const reading = useMemo(
    () => trajectoryReading(sharedColouring(left, trajectory, colour)),
    [left, trajectory, colour],
  )
  const specialIds = useMemo(() => new Set(trajectory.model.tokenizer?.specialIds ?? []), [trajectory])
  const drifts = useMemo(() => driftMarks(pairing, side), [pairing, side])
  const marks = useMemo(
    (): readonly TokenMarks[] => [
      ...marksOfDrift(pairing, side, drift, 'current'),
      ...marksOfDrift(pairing, side, pointedDrift, 'linked'),
      ...drifts,
    ],
    [pairing, side, drift, pointedDrift, drifts],
  )
  const own = chosen?.side === side ? chosen : undefined
  return useMemo(
    () =>
      rows && cell !== undefined
        ? {
            trajectory,
            layout: { columns: rows.columns, rowHeight: rows.rowHeight, table: rows.sides[side].table },
            reading,
            cell,
            specialIds,
            selection: own && { anchor: own.anchor, focus: own.focus },
            marks,
            options,
            canFold: false,
          }
        : undefined,
    [trajectory, rows, side, reading, cell, specialIds, own, marks, options],
  )
}
