import { type RefObject, useEffect, useEffectEvent } from 'react'
import { usePrintChange } from '#components/ui/use-printing.ts'
import type { ScrollSpace } from './scroll-space.ts'

interface Scrolled {
  readonly space: ScrollSpace
  readonly scrollTo: (top: number) => void
}

/**
 * Calls `onMoved` when the view has scrolled, and when it is drawn for paper and for the screen again. If the scroll bar is scaled, the
 * wheel still moves by single pixels.
 */
export function useSpaceScrolling(
  viewport: RefObject<HTMLElement | null>,
  view: RefObject<Scrolled | undefined>,
  onMoved: () => void,
): void {
  const moved = useEffectEvent(onMoved)
  usePrintChange((isPrinting) => {
    view.current?.space.print(isPrinting)
    onMoved()
  })
  useEffect(() => {
    const element = viewport.current
    if (!element) return
    const onScroll = () => moved()
    const onWheel = (event: WheelEvent) => {
      const space = view.current?.space
      if (!space?.isScaled() || event.ctrlKey || event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL) return
      event.preventDefault()
      view.current?.scrollTo(space.top() + event.deltaY)
      moved()
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      element.removeEventListener('scroll', onScroll)
      element.removeEventListener('wheel', onWheel)
    }
  }, [viewport, view])
}
