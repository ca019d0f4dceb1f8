import { useState } from 'react'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'

const NONE_OPEN: ReadonlySet<number> = new Set()

/** Returns the numbers of the unfolded runs of equal tokens, and the actions that fold and unfold. */
export function useOpenRuns(runs: readonly AlignedRun[]) {
  const [open, setOpen] = useState(NONE_OPEN)
  return {
    open,
    toggle: (run: number) =>
      setOpen((known) =>
        known.has(run) ? new Set([...known].filter((other) => other !== run)) : new Set([...known, run]),
      ),
    /** Folds all runs if one is unfolded, and unfolds all otherwise. */
    toggleAll: () =>
      setOpen((known) =>
        known.size > 0 ? NONE_OPEN : new Set(runs.flatMap(({ kind }, number) => (kind === 'equal' ? [number] : []))),
      ),
  }
}
