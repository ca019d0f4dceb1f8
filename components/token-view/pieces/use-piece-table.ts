/** The table of token widths for the measured font, and the later measurement of estimated widths. */
import { useEffect, useMemo, useState } from 'react'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { measureText } from '../measure/measure-text.ts'
import type { Measure } from '../measure/use-measure.ts'
import { createPieceTable, type PieceTable } from './piece-table.ts'

/** Returns the table; undefined before the first measurement. */
export function usePieceTable(measure: Pick<Measure, 'cell' | 'fontSize'> | undefined): PieceTable | undefined {
  const cell = measure?.cell
  const fontSize = measure?.fontSize
  return useMemo(
    () =>
      cell === undefined || fontSize === undefined
        ? undefined
        : createPieceTable((text) => measureText(text, fontSize) / cell),
    [cell, fontSize],
  )
}

const SETTLED_AT_ONCE = 50
/** Duration of a slice of measuring: half a frame. */
const SLICE_MS = 8

/** Measures estimated texts in slices. Returns a number that increases when widths have changed. */
export function useSettled(table: PieceTable | undefined, trajectory: TrajectoryView): number {
  const [settled, setSettled] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other tokens may bring other texts
  useEffect(() => {
    if (!table?.settle(0)) return
    const version = table.version()
    let timer: ReturnType<typeof setTimeout>
    const slice = () => {
      const until = performance.now() + SLICE_MS
      let isLeft = true
      while (isLeft && performance.now() < until) isLeft = table.settle(SETTLED_AT_ONCE)
      if (isLeft) timer = setTimeout(slice)
      else if (table.version() !== version) setSettled((count) => count + 1)
    }
    timer = setTimeout(slice)
    return () => clearTimeout(timer)
  }, [table, trajectory])
  return settled
}
