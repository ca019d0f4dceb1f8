/** What a part of the inspector can do that a key or the command palette asks it for. */
import { useEffect, useEffectEvent } from 'react'

/** find: takes the focus to the field; verify: opens what scores the trajectory again. */
export type OfferName = 'find' | 'next-hit' | 'previous-hit' | 'verify'
export type Offers = Readonly<Partial<Record<OfferName, () => void>>>

/** Stands while what is returned has not been called. */
export type Offer = (name: OfferName, run: () => void) => () => void

/** Offers while the part is shown; undefined: not now, and the command says that it is not available. */
export function useOffer(offer: Offer, name: OfferName, run: (() => void) | undefined): void {
  const latest = useEffectEvent(() => run?.())
  const isOffered = run !== undefined
  useEffect(() => (isOffered ? offer(name, () => latest()) : undefined), [offer, name, isOffered])
}
