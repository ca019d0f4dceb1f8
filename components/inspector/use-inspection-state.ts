/** The `Inspection` of a screen: the view of the address, the marks, folds and registered actions, and the token view. */

import { compareHref } from '#components/shell/hrefs.ts'
import { useNavigation } from '#components/shell/navigation.tsx'
import { useViewState } from '#components/shell/view-state.ts'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { TRAINER_CUT } from '#components/token-view/overview/trainer-cut.tsx'
import type { Selection } from '#components/token-view/selection.ts'
import { saveText } from '#lib/browser/files/save-file.ts'
import { useInspection } from '#lib/browser/library/use-inspection.ts'
import { usePreference } from '#lib/browser/preference.ts'
import { isTextOnly } from '#lib/trajectory/tokens/texts.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Inspection } from './inspection.ts'
import { useInspectionParts } from './use-inspection-parts.ts'

/** Returns the `Inspection` of a trajectory, bound to the address of the page. */
export function useInspectionState(
  trajectory: TrajectoryView,
  storedKey: string | undefined,
  /** Key for comparisons, which examples have too. */
  comparedKey: string | undefined,
  /** Shows the token view in a window that is too narrow for all panes. */
  onShowTokens: () => void,
) {
  const { view: linkedView, link, setView } = useViewState()
  const run = useInspection(trajectory)
  const { go } = useNavigation()
  const [trainerCut, onTrainerCut] = usePreference(TRAINER_CUT)
  const colouring = colouringOf(trajectory, linkedView.colour, linkedView.limit)
  const view: Inspection['view'] = {
    ...linkedView,
    tab: linkedView.tab === 'tokens' && isTextOnly(trajectory) ? 'messages' : linkedView.tab,
    selection: within(linkedView.selection, tokenCount(trajectory)),
  }
  const parts = useInspectionParts(
    {
      trajectory,
      storedKey,
      view,
      onView: setView,
      run,
      colouring,
      reading: trajectoryReading(colouring),
      onCompare: comparedKey === undefined ? undefined : (mode) => go(compareHref(comparedKey, mode)),
      trainerCut,
      onTrainerCut,
      onSave: saveText,
    },
    { onShowTokens },
  )
  return { ...parts, link }
}

/** An `Inspection` with the registered actions, the last message and the handlers of the token view. */
export type InspectionState = ReturnType<typeof useInspectionState>

/** Returns the selection if the trajectory has its tokens; an address may name others. */
const within = (selection: Selection | undefined, count: number): Selection | undefined =>
  selection && selection.anchor < count && selection.focus < count ? selection : undefined
