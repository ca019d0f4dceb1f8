import { type RefObject, useEffectEvent, useLayoutEffect, useState } from 'react'
import { measureText } from './measure-text.ts'

/** Measures of the font and of the width of the view. */
export interface Measure {
  /** Width of one cell, in pixels. */
  readonly cell: number
  readonly columns: number
  readonly fontSize: number
}

/** Returns the measures, updated when the view is resized or a font loads; undefined before the first measurement. */
export function useMeasure(
  viewport: RefObject<HTMLElement | null>,
  canvas: RefObject<HTMLElement | null>,
  fontSize: number,
): Measure | undefined {
  const [measure, setMeasure] = useState<Measure>()
  const resize = useEffectEvent(() => {
    if (!viewport.current || !canvas.current) return
    // A hidden pane has no size to measure.
    if (viewport.current.checkVisibility?.() === false) return
    const cell = measureText('0', fontSize)
    const columns = Math.max(20, Math.floor(canvas.current.clientWidth / cell) - 1)
    setMeasure((known) =>
      known?.cell === cell && known.columns === columns && known.fontSize === fontSize
        ? known
        : { cell, columns, fontSize },
    )
  })
  // The observer reports the first size after the page is laid out. To measure earlier would lay out the whole page in the task
  // that creates it, and draw all tokens in the same one.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(resize)
    if (canvas.current) observer.observe(canvas.current)
    document.fonts.addEventListener('loadingdone', resize)
    return () => {
      observer.disconnect()
      document.fonts.removeEventListener('loadingdone', resize)
    }
  }, [canvas])
  const isMeasured = measure !== undefined
  const remeasure = useEffectEvent(() => isMeasured && resize())
  // biome-ignore lint/correctness/useExhaustiveDependencies: another font size needs another measurement
  useLayoutEffect(() => void remeasure(), [fontSize])
  return measure
}
