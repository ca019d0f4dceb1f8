import { useState } from 'react'
import { firstOfDrift } from './lane-keys.ts'
import type { LaneChoice } from './lanes-picture.ts'
import type { Pairing } from './pairing.ts'

/** Tokens that were chosen in the lanes, and the drift span that was pinned at that time. */
interface Choice {
  readonly tokens: LaneChoice
  readonly drift: number | undefined
}

/** Returns the chosen tokens of the lanes; a drift span that is pinned after the choice replaces them. */
export function useLaneChoice(
  pairing: Pairing,
  /** Number of the pinned drift span. */
  drift: number | undefined,
  onDrift: (drift: number | undefined) => void,
) {
  const [choice, setChoice] = useState<Choice>()
  return {
    chosen: chosenTokens(pairing, drift, choice),
    /** Chooses tokens, and pins a drift span if it is given. */
    choose: (tokens: LaneChoice | undefined, pinned = drift) => {
      setChoice(tokens && { tokens, drift: pinned })
      if (pinned !== drift) onDrift(pinned)
    },
    /** Clears the choice and the pinned drift span. */
    release: () => {
      setChoice(undefined)
      if (drift !== undefined) onDrift(undefined)
    },
  }
}

function chosenTokens(pairing: Pairing, drift: number | undefined, choice: Choice | undefined): LaneChoice | undefined {
  if (drift === undefined || choice?.drift === drift) return choice?.tokens
  const spot = firstOfDrift(pairing, drift, choice?.tokens.side ?? 'left')
  return spot && { side: spot.side, anchor: spot.token, focus: spot.token }
}
