'use client'
/** The `Inspection` of an offline page: it starts in the saved state, and the reader changes it. */
import { useMemo, useState } from 'react'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { findTask } from '#lib/analysis/find/find.ts'
import type { RunInspection } from '#lib/analysis/tasks.ts'
import type { InspectTask } from '#lib/analysis/trajectory-task.ts'
import type { OfflineViewState } from '#lib/share/offline/document.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { InspectorView } from '../inspector/inspection.ts'
import { useInspectionParts } from '../inspector/use-inspection-parts.ts'
/** Returns the inspection of a trajectory with its state in this page. */
export function useOfflineInspection(
  trajectory: TrajectoryView,
  saved: OfflineViewState,
  /** Shows the token view in a window that has room for one pane only. */
  onShowTokens: () => void,
) {
  const [view, setView] = useState<InspectorView>({
    tab: 'tokens',
    colour: saved.colour,
    limit: saved.limit,
    selection: saved.selection,
    find: saved.find,
    scatter: undefined,
    clip: undefined,
    pair: undefined,
    format: undefined,
  })
  const [trainerCut, setTrainerCut] = useState<TrainerCut | null>(null)
  const run = useMemo(() => runHere(trajectory), [trajectory])
  // The React compiler, which memoizes in the application, does not process this page.
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

/** Tasks of the components, run in this thread: a file cannot have a worker, and the tasks are short. */
const tasks = { find: findTask } as Readonly<Record<string, InspectTask<never, unknown, unknown>>>

const runHere = (trajectory: TrajectoryView): RunInspection =>
  (async (name: string, request: never, { signal, onProgress }: Parameters<RunInspection>[2]) => {
    const task = tasks[name]
    if (!task) throw new Error('This is not in an offline page.')
    const steps = task(request, trajectory, [])
    for (;;) {
      signal.throwIfAborted()
      const step = steps.next()
      if (step.done) return step.value
      onProgress?.(step.value as never)
    }
  }) as unknown as RunInspection
