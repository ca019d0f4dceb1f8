'use client'
/** Measures and draws the tree, and scrolls to the pinned token. */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react'
import type { PointerPosition } from '#components/token-view/grid/use-grid-drawing.ts'
import { useSpaceScrolling } from '#components/token-view/grid/use-space-scrolling.ts'
import { useMeasure } from '#components/token-view/measure/use-measure.ts'
import type { TreeSpot } from '../tree.ts'
import { placeAt, type TreePlace } from './tree-lines.ts'
import { createTreeView, type TreeView } from './tree-view.ts'
import { type TreePictureOptions, useTreePicture } from './use-tree-picture.ts'

interface TreeDrawingOptions extends TreePictureOptions {
  /** A pinned token that must not scroll the view, such as one pinned by pointer. */
  readonly still: RefObject<TreeSpot | undefined>
  /** Called with the indices of the visible branches when they change. */
  readonly onVisible: (branches: ReadonlySet<number>) => void
}

/** Draws the tree into the returned refs; the other results find and scroll to positions. */
export function useTreeDrawing(props: TreeDrawingOptions) {
  const { pinned, still, options } = props
  const viewport = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLDivElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  const view = useRef<(TreeView & { readonly end: () => void }) | undefined>(undefined)
  const measure = useMeasure(viewport, canvas, options.fontSize)
  const picture = useTreePicture(props, measure)
  const reportVisible = useEffectEvent(props.onVisible)
  useLayoutEffect(() => {
    if (!viewport.current || !canvas.current || !layer.current) return
    const element = layer.current
    view.current = createTreeView(viewport.current, canvas.current, element, (branches) => reportVisible(branches))
    return () => {
      view.current?.end()
      view.current = undefined
      element.replaceChildren()
    }
  }, [])
  useLayoutEffect(() => {
    if (picture) view.current?.show(picture)
  }, [picture])
  useSpaceScrolling(viewport, view, () => {
    if (picture) view.current?.draw(picture)
  })
  const isMeasured = picture !== undefined
  const reveal = useEffectEvent((spot: TreeSpot) => {
    view.current?.reveal(spot)
    if (picture) view.current?.draw(picture)
  })
  const { branch, token } = pinned ?? {}
  useEffect(() => {
    if (!isMeasured || branch === undefined || token === undefined) return
    if (still.current?.branch !== branch || still.current.token !== token) reveal({ branch, token })
    still.current = undefined
  }, [isMeasured, branch, token, still])

  const placeUnder = ({ clientX, clientY }: PointerPosition): TreePlace | undefined => {
    if (!picture || !layer.current) return undefined
    const box = layer.current.getBoundingClientRect()
    return placeAt(picture, clientX - box.left, clientY - box.top)
  }
  const scrollBy = (pixels: number) => {
    if (view.current && pixels !== 0) view.current.scrollTo(view.current.space.top() + pixels)
  }
  return { viewport, canvas, layer, picture, placeUnder, scrollBy }
}
