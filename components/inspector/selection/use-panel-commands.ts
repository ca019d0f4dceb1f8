import { useCallback, useState } from 'react'
import type { PanelCommandName, PanelCommands } from './panel-commands.ts'

/** What the parts on screen offer; the last one that offers a name has it. */
export function usePanelCommands() {
  const [offers, setOffers] = useState<PanelCommands>({})
  const offer = useCallback((name: PanelCommandName, run: () => void) => {
    setOffers((known) => ({ ...known, [name]: run }))
    return () =>
      setOffers(({ [name]: offered, ...others }) => (offered === run ? others : { ...others, [name]: offered }))
  }, [])
  return { offers, offer }
}
