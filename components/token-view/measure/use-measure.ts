import { type RefObject, useEffectEvent, useLayoutEffect, useState } from 'react'
import { usePrintChange } from '#components/ui/use-printing.ts'
import { measureText } from './measure-text.ts'

/** Measures of the font and of the width of the view. */
export interface Measure {
  /** Width of one cell, in pixels. */
  readonly cell: number
  readonly columns: number
  readonly fontSize: number
}

/** The measures that any view took last, and the width of the window at that time. */
let latest: { readonly measure: Measure; readonly windowWidth: number } | undefined

/**
 * Returns the measures, updated when the view is resized or a font loads; undefined before the first measurement. If `isSmall` is set, a new
 * view starts with the measures that a view took last: its tokens are drawn in the frame of its page. Other measures than those are
 * noticed before that frame is painted.
 */
export function useMeasure(
  viewport: RefObject<HTMLElement | null>,
  canvas: RefObject<HTMLElement | null>,
  fontSize: number,
  isSmall = false,
): Measure | undefined {
  const [measure, setMeasure] = useState(() => (isSmall ? latestMeasure(fontSize) : undefined))
  const resize = useEffectEvent(() => {
    if (!viewport.current || !canvas.current) return
    // A hidden pane has no size to measure.
    if (viewport.current.checkVisibility?.() === false) return
    const cell = measureText('0', fontSize)
    const columns = Math.max(20, Math.floor(canvas.current.clientWidth / cell) - 1)
    const taken = { cell, columns, fontSize }
    latest = { measure: taken, windowWidth: window.innerWidth }
    setMeasure((known) =>
      known?.cell === cell && known.columns === columns && known.fontSize === fontSize ? known : taken,
    )
  })
  // The observer reports the first size after the page is laid out. To measure earlier would lay out the whole page in the task
  // that creates it, and draw all tokens in the same one: only a small view does that.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(resize)
    if (canvas.current) observer.observe(canvas.current)
    document.fonts.addEventListener('loadingdone', resize)
    return () => {
      observer.disconnect()
      document.fonts.removeEventListener('loadingdone', resize)
    }
  }, [canvas])
  usePrintChange((isPrinting) => {
    viewport.current?.style.setProperty('width', isPrinting ? PAPER_WIDTH : null)
    resize()
  })
  const isMeasured = measure !== undefined
  const remeasure = useEffectEvent(() => isMeasured && resize())
  // It also runs after the first render, where it replaces measures that were taken in a view of another width.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another font size needs another measurement
  useLayoutEffect(() => void remeasure(), [fontSize])
  return measure
}

/** Width of a view on paper: that of A4 and of Letter without their margins. */
const PAPER_WIDTH = '700px'

const latestMeasure = (fontSize: number): Measure | undefined =>
  latest?.measure.fontSize === fontSize && latest.windowWidth === window.innerWidth ? latest.measure : undefined
