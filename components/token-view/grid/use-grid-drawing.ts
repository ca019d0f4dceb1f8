/** Measures, lays out and draws the token view into its elements, and keeps the right part visible. */
import {
  type Ref,
  type RefObject,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { TokenReading } from '../card/token-reading.ts'
import { DEFAULT_GRID_OPTIONS, type Folds, type GridOptions, NO_FOLDS, rowHeightOf } from '../grid-options.ts'
import { boxedImages } from '../images/image-line.ts'
import { type Measure, useMeasure } from '../measure/use-measure.ts'
import { type Foldable, foldToggled } from '../pieces/folding.ts'
import { usePieceTable, useSettled } from '../pieces/use-piece-table.ts'
import type { Selection } from '../selection.ts'
import type { TokenMarks } from '../token-marks.ts'
import type { GridControl } from './grid-control.ts'
import { createGridView, type GridView } from './grid-view.ts'
import { createLayoutMaker, lineAtHeight, tokenAtColumn } from './layout.ts'
import type { TokenPicture } from './token-picture.ts'
import { useSpaceScrolling } from './use-space-scrolling.ts'

interface GridDrawingOptions {
  readonly trajectory: TrajectoryView
  readonly reading: TokenReading
  readonly selection: Selection | undefined
  readonly shown?: number | undefined
  readonly marks?: readonly TokenMarks[]
  readonly options?: GridOptions
  readonly folds?: Folds
  readonly onFolds?: (folds: Folds) => void
  readonly onVisible?: (tokens: Span) => void
  readonly control?: Ref<GridControl>
  /** Index of the token whose box is drawn. */
  readonly pointed: number | undefined
  /** Index of a selected token that must not scroll the view, such as one selected by pointer. */
  readonly still: RefObject<number | undefined>
}

/** A position in the window, in pixels. */
export interface PointerPosition {
  readonly clientX: number
  readonly clientY: number
}

/** Number of tokens that can be laid out and drawn together with the page around them, in one task. */
const SMALL = 20_000

const NO_MARKS: readonly TokenMarks[] = []

/** Returns the refs that the elements of a token view need, its layout, and functions that find a token by position and scroll. */
export function useGridDrawing(props: GridDrawingOptions) {
  const { selection, shown, folds, onFolds, onVisible, control, still } = props
  const viewport = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLDivElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  const view = useRef<GridView>(undefined)
  const shownPicture = useRef<TokenPicture>(undefined)
  const listeners = useRef(new Set<() => void>())
  const isSmall = tokenCount(props.trajectory) <= SMALL
  const measure = useMeasure(viewport, canvas, props.options?.fontSize ?? DEFAULT_GRID_OPTIONS.fontSize, isSmall)
  const picture = usePicture(props, measure)
  useFolding(canvas, folds, onFolds)

  const tellDrawn = () => {
    for (const listener of listeners.current) listener()
    if (onVisible) view.current?.reportVisibleTokens(onVisible)
  }
  const drawn = useEffectEvent(tellDrawn)
  useLayoutEffect(() => {
    if (!picture || !viewport.current || !canvas.current || !layer.current) return
    view.current ??= createGridView(viewport.current, canvas.current, layer.current)
    view.current.show(picture)
    shownPicture.current = picture
    drawn()
  }, [picture])
  const moved = () => {
    if (!picture) return
    view.current?.hasScrolled()
    view.current?.draw(picture)
    tellDrawn()
  }
  useSpaceScrolling(viewport, view, moved)
  useEffect(() => () => view.current?.end(), [])
  useEffect(() => {
    const observer = new ResizeObserver(() => view.current?.hasResized())
    if (viewport.current) observer.observe(viewport.current)
    return () => observer.disconnect()
  }, [])

  const isMeasured = measure !== undefined
  const reveal = useEffectEvent((index: number) => view.current?.reveal(index))
  const focus = selection?.focus
  useEffect(() => {
    if (isMeasured && focus !== undefined && focus !== still.current) reveal(focus)
    still.current = undefined
  }, [isMeasured, focus, still])
  useEffect(() => {
    if (isMeasured && shown !== undefined) reveal(shown)
  }, [isMeasured, shown])

  useImperativeHandle(
    control,
    () => ({
      layout: () => view.current?.layout(),
      visible: () => view.current?.visible() ?? { start: 0, end: 1 },
      scrollToFraction: (fraction) => view.current?.scrollTo(fraction * (view.current.layout()?.height ?? 0)),
      reveal: (index) => view.current?.reveal(index),
      drawing: () =>
        shownPicture.current && viewport.current
          ? { picture: shownPicture.current, element: viewport.current }
          : undefined,
      focus: () => viewport.current?.focus({ preventScroll: true }),
      press(event) {
        const repeated = new KeyboardEvent(event.type, event)
        viewport.current?.focus({ preventScroll: true })
        viewport.current?.dispatchEvent(repeated)
        if (repeated.defaultPrevented) event.preventDefault()
      },
      subscribe: (listener) => {
        listeners.current.add(listener)
        return () => listeners.current.delete(listener)
      },
    }),
    [],
  )

  const tokenUnder = ({ clientX, clientY }: PointerPosition): number | undefined => {
    if (!picture || !layer.current) return undefined
    const box = layer.current.getBoundingClientRect()
    const line = lineAtHeight(picture.layout, clientY - box.top)
    const column = Math.floor((clientX - box.left) / picture.cell)
    if (!line || column < 0) return undefined
    if (line.image) return line.layout.firstToken + line.image.start
    if (line.isFolded) return undefined
    const index = tokenAtColumn(picture.layout, line, column)
    return index < 0 ? undefined : index
  }

  /** Scrolls by pixels of the layout, even where the scroll bar is scaled. */
  const scrollBy = (pixels: number) => {
    if (view.current && pixels !== 0) view.current.scrollTo(view.current.space.top() + pixels)
  }

  return { viewport, canvas, layer, layout: picture?.layout, tokenUnder, scrollBy }
}

function usePicture(
  {
    trajectory,
    reading,
    selection,
    pointed,
    marks = NO_MARKS,
    options = DEFAULT_GRID_OPTIONS,
    folds = NO_FOLDS,
    onFolds,
  }: GridDrawingOptions,
  measure: Measure | undefined,
): TokenPicture | undefined {
  const cell = measure?.cell
  const fontSize = measure?.fontSize
  const table = usePieceTable(measure)
  const make = useMemo(() => table && createLayoutMaker(table), [table])
  const settled = useSettled(table, trajectory)
  const segments = useMemo(() => segmentsOf(trajectory), [trajectory])
  const { vocab } = trajectory
  const columns = measure?.columns
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured widths change the layout
  const layout = useMemo(
    () =>
      make && columns !== undefined && fontSize !== undefined
        ? make(segments, vocab, {
            columns,
            rowHeight: rowHeightOf(fontSize),
            folds,
            images: (index) => boxedImages(trajectory, index),
          })
        : undefined,
    [make, segments, vocab, columns, fontSize, folds, settled],
  )
  const specialIds = useMemo(() => new Set(trajectory.model.tokenizer?.specialIds ?? []), [trajectory.model.tokenizer])
  const canFold = onFolds !== undefined
  return useMemo(
    () =>
      layout && cell !== undefined
        ? { trajectory, layout, reading, cell, specialIds, pointed, selection, marks, options, canFold }
        : undefined,
    [trajectory, layout, reading, cell, specialIds, pointed, selection, marks, options, canFold],
  )
}

/** Makes fold buttons and folded lines react to clicks, which do not select a token. */
function useFolding(
  canvas: RefObject<HTMLElement | null>,
  folds: Folds | undefined,
  onFolds: ((folds: Folds) => void) | undefined,
): void {
  const toggle = useEffectEvent((event: Event) => {
    const foldable = foldableOf(event.target)
    if (!foldable || !folds || !onFolds) return
    event.stopPropagation()
    if (event.type === 'click') onFolds(foldToggled(folds, foldable))
  })
  useEffect(() => {
    const element = canvas.current
    if (!element) return
    const listener = (event: Event) => toggle(event)
    element.addEventListener('click', listener)
    element.addEventListener('pointerdown', listener)
    return () => {
      element.removeEventListener('click', listener)
      element.removeEventListener('pointerdown', listener)
    }
  }, [canvas])
}

/** Returns what an element folds, from the `data-fold` attribute that the painter writes. */
function foldableOf(target: EventTarget | null): Foldable | undefined {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-fold]') : null
  const [, kind, at] = /^(segment|think|image) (\d+)$/.exec(element?.dataset.fold ?? '') ?? []
  return kind === undefined ? undefined : { kind: kind as Foldable['kind'], at: Number(at) }
}
