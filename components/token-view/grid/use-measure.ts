import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react'
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
  useEffect(() => {
    const observer = new ResizeObserver(resize)
    if (canvas.current) observer.observe(canvas.current)
    document.fonts.ready.then(resize)
    document.fonts.addEventListener('loadingdone', resize)
    return () => {
      observer.disconnect()
      document.fonts.removeEventListener('loadingdone', resize)
    }
  }, [canvas])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another font size needs another measurement
  useLayoutEffect(() => resize(), [fontSize])
  return measure
}
