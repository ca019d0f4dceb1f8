import { createContext, useContext } from 'react'

/** What the frame around a page can be asked for by the page. */
export interface ShellActions {
  readonly openFile: () => void
  /** Undefined where there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly showKeys: () => void
}

export const ShellContext = createContext<ShellActions | undefined>(undefined)

export function useShellActions(): ShellActions {
  const actions = useContext(ShellContext)
  if (!actions) throw new Error('a page stands in the shell')
  return actions
}
