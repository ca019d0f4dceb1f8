import { createContext, useContext } from 'react'
import type { Inspection } from '#components/inspector/inspection.ts'

/** What the frame around a page can be asked for by the page. */
export interface ShellActions {
  readonly openFile: () => void
  /** Undefined where there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly showKeys: () => void
  /** What a page shows that its address does not say: it is saved with an offline page. */
  readonly onShown: (shown: Shown) => void
}

export type Shown = Pick<Inspection, 'folds' | 'marks'>

export const ShellContext = createContext<ShellActions | undefined>(undefined)

export function useShellActions(): ShellActions {
  const actions = useContext(ShellContext)
  if (!actions) throw new Error('a page stands in the shell')
  return actions
}
