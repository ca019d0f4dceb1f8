import { createContext, useContext, useEffect, useEffectEvent } from 'react'
import type { Inspection } from '#components/inspector/inspection.ts'

/** What the frame around a page can be asked for by the page. */
export interface ShellActions {
  readonly openFile: () => void
  /** Undefined where there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly showKeys: () => void
  /** The documentation of this page, in a tab of its own: what is at work here goes on. */
  readonly showHelp: () => void
  /** What a page shows that its address does not say: it is saved with an offline page. */
  readonly onShown: (shown: Shown) => void
  /** Where the first link of the page leads; undefined: it shows no tokens. */
  readonly onTokens: (tokens: TokensTarget | undefined) => void
}

export interface TokensTarget {
  /** Shows the tokens and takes the focus to them. */
  readonly focus: () => void
}

export type Shown = Pick<Inspection, 'folds' | 'marks'>

export const ShellContext = createContext<ShellActions | undefined>(undefined)

export function useShellActions(): ShellActions {
  const actions = useContext(ShellContext)
  if (!actions) throw new Error('a page stands in the shell')
  return actions
}

/** Makes the first link of the page lead to the tokens, as long as they are there. */
export function useSkipLink(focus: () => void): void {
  const { onTokens } = useShellActions()
  const latest = useEffectEvent(focus)
  useEffect(() => {
    onTokens({ focus: () => latest() })
    return () => onTokens(undefined)
  }, [onTokens])
}
