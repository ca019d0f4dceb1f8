/** Measures and draws the lanes, and scrolls to the chosen token and drift span. */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react'
import type { PointerPosition } from '#components/token-view/grid/use-grid-drawing.ts'
import { useSpaceScrolling } from '#components/token-view/grid/use-space-scrolling.ts'
import { useMeasure } from '#components/token-view/measure/use-measure.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { tokenInRow } from './lane-keys.ts'
import { createLanesView, type LanesView } from './lanes-view.ts'
import { driftOfToken, type Spot } from './pairing.ts'
import { itemAtHeight, type Rows } from './rows/rows.ts'
import { type LanesPictureOptions, useLanesPicture } from './use-lanes-picture.ts'

interface LanesDrawingOptions extends LanesPictureOptions {
  /** A choice that must not scroll the view, such as one made by pointer. */
  readonly still: RefObject<Spot | undefined>
  /** Called with the visible range, as shares of the height of all rows, when it may have changed. */
  readonly onVisible: (visible: { readonly start: number; readonly end: number }) => void
}

/** Draws the lanes into the returned refs; the other results find and scroll to positions. */
export function useLanesDrawing(props: LanesDrawingOptions) {
  const { pairing, view: shown, options, chosen, still, onVisible } = props
  const viewport = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLDivElement>(null)
  /** `first` is the layer of the left lane or of the only column, `second` that of the right lane. */
  const first = useRef<HTMLDivElement>(null)
  const second = useRef<HTMLDivElement>(null)
  const lane = useRef<HTMLDivElement>(null)
  const view = useRef<LanesView>(undefined)
  const measure = useMeasure(viewport, lane, options.fontSize)
  const picture = useLanesPicture(props, measure)
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
  const reportVisibleRange = () => {
    if (view.current) onVisible(view.current.visible())
  }
  const drawn = useEffectEvent(reportVisibleRange)
  useLayoutEffect(() => {
    if (!picture) return
    view.current?.show(picture)
    drawn()
  }, [picture])
  useSpaceScrolling(viewport, view, () => {
    if (!picture) return
    view.current?.draw(picture)
    reportVisibleRange()
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
