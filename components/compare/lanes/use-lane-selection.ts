import { useState } from 'react'
import { firstOfDrift } from './lane-keys.ts'
import type { LaneSelection } from './lanes-picture.ts'
import type { Pairing } from './pairing.ts'

/** Tokens that were selected in the lanes, and the drift span that was pinned at that time. */
interface PinnedSelection {
  readonly tokens: LaneSelection
  readonly drift: number | undefined
}

/** Returns the selected tokens of the lanes; a drift span that is pinned after the selection replaces them. */
export function useLaneSelection(
  pairing: Pairing,
  /** Number of the pinned drift span. */
  drift: number | undefined,
  onDrift: (drift: number | undefined) => void,
) {
  const [pinnedSelection, setPinnedSelection] = useState<PinnedSelection>()
  return {
    chosen: currentSelection(pairing, drift, pinnedSelection),
    /** Chooses tokens, and pins a drift span if it is given. */
    choose: (tokens: LaneSelection | undefined, pinned = drift) => {
      setPinnedSelection(tokens && { tokens, drift: pinned })
      if (pinned !== drift) onDrift(pinned)
    },
    /** Clears the selection and the pinned drift span. */
    release: () => {
      setPinnedSelection(undefined)
      if (drift !== undefined) onDrift(undefined)
    },
  }
}

function currentSelection(
  pairing: Pairing,
  drift: number | undefined,
  pinnedSelection: PinnedSelection | undefined,
): LaneSelection | undefined {
  if (drift === undefined || pinnedSelection?.drift === drift) return pinnedSelection?.tokens
  const spot = firstOfDrift(pairing, drift, pinnedSelection?.tokens.side ?? 'left')
  return spot && { side: spot.side, anchor: spot.token, focus: spot.token }
}
