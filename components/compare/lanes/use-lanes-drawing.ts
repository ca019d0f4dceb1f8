/** Measures the lanes, makes and draws their rows, and scrolls to the chosen token and drift span. */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef } from 'react'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import type { RowPicture } from '#components/token-view/grid/token-picture.ts'
import type { PointerPosition } from '#components/token-view/grid/use-grid-drawing.ts'
import { useMeasure } from '#components/token-view/grid/use-measure.ts'
import { useSpaceScrolling } from '#components/token-view/grid/use-space-scrolling.ts'
import { type GridOptions, rowHeightOf } from '#components/token-view/grid-options.ts'
import type { PieceTable } from '#components/token-view/pieces/piece-table.ts'
import { usePieceTable, useSettled } from '#components/token-view/pieces/use-piece-table.ts'
import type { TokenMarks } from '#components/token-view/token-marks.ts'
import type { Compared, SideName } from '#lib/analysis/compare/compare-sides.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { DriftVocabulary } from '../drift/drift-words.ts'
import type { CompareView } from '../view.ts'
import { tokenInRow } from './lane-keys.ts'
import type { LaneChoice, LanesPicture } from './lanes-picture.ts'
import { createLanesView, type LanesView } from './lanes-view.ts'
import { makeRows } from './make-rows.ts'
import { driftMarks, marksOfDrift } from './marks.ts'
import { driftOfToken, matchOf, type Pairing, type Spot, stretchOf } from './pairing.ts'
import { itemAtHeight, otherSide, type RowSide, type Rows } from './rows.ts'
import { sharedColouring } from './shared-colouring.ts'

interface LanesDrawingOptions {
  readonly compared: Compared
  readonly vocabulary: DriftVocabulary
  readonly pairing: Pairing
  readonly view: CompareView
  readonly options: GridOptions
  readonly open: ReadonlySet<number>
  readonly chosen: LaneChoice | undefined
  readonly pointed: Spot | undefined
  /** A choice that must not scroll the view, such as one made by pointer. */
  readonly still: RefObject<Spot | undefined>
  /** Called with the visible range, as shares of the height of all rows, when it may have changed. */
  readonly onSight: (sight: { readonly start: number; readonly end: number }) => void
}

/** Draws the lanes into the returned refs; the other results find and scroll to positions. */
export function useLanesDrawing(props: LanesDrawingOptions) {
  const { pairing, view: shown, options, chosen, still, onSight } = props
  const viewport = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLDivElement>(null)
  /** `first` is the layer of the left lane or of the only column, `second` that of the right lane. */
  const first = useRef<HTMLDivElement>(null)
  const second = useRef<HTMLDivElement>(null)
  const lane = useRef<HTMLDivElement>(null)
  const view = useRef<LanesView>(undefined)
  const measure = useMeasure(viewport, lane, options.fontSize)
  const picture = usePicture(props, measure)
  const arrangement = shown.isUnified ? 'unified' : 'lanes'

  useLayoutEffect(() => {
    if (!viewport.current || !canvas.current || !first.current) return
    const right = second.current
    const layers =
      arrangement === 'unified' || !right
        ? [{ column: 'both' as const, element: first.current }]
        : [
            { column: 'left' as const, element: first.current },
            { column: 'right' as const, element: right },
          ]
    view.current = createLanesView(viewport.current, canvas.current, layers)
    return () => {
      view.current = undefined
      for (const { element } of layers) element.replaceChildren()
    }
  }, [arrangement])
  const tellSight = () => {
    if (view.current) onSight(view.current.sight())
  }
  const drawn = useEffectEvent(tellSight)
  useLayoutEffect(() => {
    if (!picture) return
    view.current?.show(picture)
    drawn()
  }, [picture])
  useSpaceScrolling(viewport, view, () => {
    if (!picture) return
    view.current?.draw(picture)
    tellSight()
  })

  const isMeasured = picture !== undefined
  const reveal = useEffectEvent((spot: Spot) => view.current?.reveal(spot))
  const { side, focus } = chosen ?? {}
  useEffect(() => {
    if (!isMeasured || side === undefined || focus === undefined) return
    if (still.current?.side !== side || still.current.token !== focus) reveal({ side, token: focus })
    still.current = undefined
  }, [isMeasured, side, focus, still])
  const revealDrift = useEffectEvent((drift: number) => {
    if (still.current && driftOfToken(pairing, still.current) === drift) return
    view.current?.revealDrift(drift)
  })
  const { drift } = shown
  useEffect(() => {
    // Another arrangement has other rows, so the view scrolls to the span again.
    if (isMeasured && arrangement && drift !== undefined) revealDrift(drift)
  }, [isMeasured, arrangement, drift])

  const spotUnder = ({ clientX, clientY }: PointerPosition): Spot | undefined => {
    const cell = picture?.pictures.left.cell
    if (!picture || cell === undefined || !first.current) return undefined
    const isRight = second.current !== null && clientX >= middleOf(canvas.current)
    const box = (isRight && second.current ? second.current : first.current).getBoundingClientRect()
    const column = Math.floor((clientX - box.left) / cell)
    return column < 0 ? undefined : spotAt(picture.rows, isRight ? 'right' : 'left', clientY - box.top, column)
  }
  /** Scrolls by row pixels, which are independent of the limit on the height of an element. */
  const scrollBy = (pixels: number) => {
    if (view.current && pixels !== 0) view.current.scrollTo(view.current.space.top() + pixels)
  }
  const scrollToFraction = (fraction: number) => view.current?.scrollTo(fraction * (picture?.rows.height ?? 0))
  return { viewport, canvas, lane, first, second, picture, spotUnder, scrollBy, scrollToFraction }
}

/** Returns the client x at which the right lane begins, including its gutter. */
function middleOf(canvas: HTMLElement | null): number {
  const { left, width } = canvas?.getBoundingClientRect() ?? { left: 0, width: 0 }
  return left + width / 2
}

/** Returns the token at a height in pixels and a column. */
function spotAt(rows: Rows, side: SideName, height: number, column: number): Spot | undefined {
  const item = itemAtHeight(rows, height)
  if (item?.kind !== 'tokens') return undefined
  const row = Math.floor((height - item.rowTop) / rows.rowHeight)
  return row < 0 || row >= item.rows ? undefined : tokenInRow(rows, item, row, side, column)
}

function usePicture(
  { compared, vocabulary, pairing, view, options, open, chosen, pointed }: LanesDrawingOptions,
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
        ? makeRows({ left, right }, pairing.stretches, { arrangement, onlyDifferences, open, columns, rowHeight })
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
  const stretch = pairing.stretches[stretchOf(pairing, spot)]
  const other = stretch?.[otherSide(spot.side)]
  if (!other || other.end === other.start || (arrangement === 'unified' && stretch.kind === 'equal')) return undefined
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
  readonly chosen: LaneChoice | undefined
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
