import { useCallback, useState } from 'react'
import type { OfferName, Offers } from './offers.ts'

/** What the parts on screen offer; the last one that offers a name has it. */
export function useOffers() {
  const [offers, setOffers] = useState<Offers>({})
  const offer = useCallback((name: OfferName, run: () => void) => {
    setOffers((known) => ({ ...known, [name]: run }))
    return () =>
      setOffers(({ [name]: offered, ...others }) => (offered === run ? others : { ...others, [name]: offered }))
  }, [])
  return { offers, offer }
}
