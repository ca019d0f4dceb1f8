'use client'
/** The one `Inspection` of an offline page: as it was looked at when it was saved, and then as its reader changes it. */
import { useMemo, useState } from 'react'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import type { OfflineView } from '#lib/share/offline/document.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { InspectorView } from '../inspector/inspection.ts'
import { useInspectionParts } from '../inspector/use-inspection-parts.ts'
import { runHere } from './run-here.ts'

export function useOfflineInspection(
  trajectory: TrajectoryView,
  saved: OfflineView,
  /** Shows the token view in a window that has no room for all. */
  onShowTokens: () => void,
) {
  const [view, setView] = useState<InspectorView>({
    tab: 'tokens',
    colour: saved.colour,
    limit: saved.limit,
    selection: saved.selection,
    find: saved.find,
    scatter: undefined,
    format: undefined,
  })
  const [trainerCut, setTrainerCut] = useState<TrainerCut | null>(null)
  const run = useMemo(() => runHere(trajectory), [trajectory])
  // The compiler that keeps such values in the application does not run over this page.
  const colouring = useMemo(
    () => colouringOf(trajectory, view.colour, view.limit),
    [trajectory, view.colour, view.limit],
  )
  const reading = useMemo(() => trajectoryReading(colouring), [colouring])
  return useInspectionParts(
    {
      trajectory,
      storedKey: undefined,
      view,
      onView: (change) => setView((known) => ({ ...known, ...change })),
      run,
      colouring,
      reading,
      onCompare: undefined,
      trainerCut,
      onTrainerCut: setTrainerCut,
      onSave: () => {},
    },
    {
      onShowTokens,
      first: () => ({
        marks: saved.marks.map(({ kind, ranges }) => ({ kind, ranges: Int32Array.from(ranges) })),
        folds: { segments: new Set(saved.folds.segments), thinks: new Set(saved.folds.thinks) },
      }),
    },
  )
}
