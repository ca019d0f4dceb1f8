/** The one `Inspection` of a screen: the address, what parts have marked, folded and offered, and the token view itself. */
import type { Inspection } from '#components/inspector/inspection.ts'
import { useInspectionParts } from '#components/inspector/use-inspection-parts.ts'
import { colouringOf } from '#components/trajectory/colour/colouring.ts'
import type { Selection } from '#components/trajectory/selection.ts'
import { trajectoryReading } from '#components/trajectory/token-reading.ts'
import { TRAINER_CUT } from '#components/trajectory/trainer-cut.tsx'
import { usePreference } from '#lib/client/preference.ts'
import { saveText } from '#lib/client/save-file.ts'
import { useInspection } from '#lib/client/use-inspection.ts'
import { tokenCount } from '#lib/core/tokens.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { compareHref } from './compare-href.ts'
import { useNavigation } from './navigation.tsx'
import { useViewState } from './view-state.ts'

export function useInspectionState(
  trajectory: TrajectoryView,
  storedKey: string | undefined,
  /** Under which it can be compared: that of an example too. */
  comparedKey: string | undefined,
  /** Shows the token view in a window that has no room for all. */
  onShowTokens: () => void,
) {
  const { view: asked, link, setView } = useViewState()
  const run = useInspection(trajectory)
  const { go } = useNavigation()
  const [trainerCut, onTrainerCut] = usePreference(TRAINER_CUT)
  const colouring = colouringOf(trajectory, asked.colour, asked.limit)
  const view: Inspection['view'] = { ...asked, selection: within(asked.selection, tokenCount(trajectory)) }
  const parts = useInspectionParts(
    {
      trajectory,
      storedKey,
      view,
      onView: setView,
      run,
      colouring,
      reading: trajectoryReading(colouring),
      onCompare: comparedKey === undefined ? undefined : (kept) => go(compareHref(comparedKey, kept)),
      trainerCut,
      onTrainerCut,
      onSave: saveText,
    },
    { onShowTokens },
  )
  return { ...parts, link }
}

/** An address may name tokens that this trajectory does not have. */
const within = (selection: Selection | undefined, count: number): Selection | undefined =>
  selection && selection.anchor < count && selection.focus < count ? selection : undefined
