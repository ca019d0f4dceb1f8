import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react'
import { measureText } from './measure-text.ts'

/** What the font and the width of the window say. */
export interface Measure {
  /** Width of one cell, in pixels. */
  readonly cell: number
  readonly columns: number
  readonly fontSize: number
}

export function useMeasure(
  viewport: RefObject<HTMLElement | null>,
  canvas: RefObject<HTMLElement | null>,
  fontSize: number,
): Measure | undefined {
  const [measure, setMeasure] = useState<Measure>()
  const resize = useEffectEvent(() => {
    if (!viewport.current || !canvas.current) return
    // In a pane that is not shown there is nothing to measure yet.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: another size is another measure
  useLayoutEffect(() => resize(), [fontSize])
  return measure
}
