import { createContext, useContext, useEffect, useEffectEvent } from 'react'
import type { Inspection } from '#components/inspector/inspection.ts'

/** What a page can request from the frame around it. */
export interface ShellActions {
  readonly openFile: () => void
  /** `undefined` if there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly showKeys: () => void
  /** Opens the documentation of this page in a new tab, so that work on this page is not interrupted. */
  readonly showHelp: () => void
  /** Reports what the page shows besides the state in its address, for the offline page. */
  readonly onShown: (shown: Shown) => void
  /** Sets the target of the skip link; undefined if the page shows no tokens. */
  readonly onTokens: (tokens: TokensTarget | undefined) => void
}

/** Target of the skip link. */
export interface TokensTarget {
  /** Shows the tokens and moves the focus to them. */
  readonly focus: () => void
}

/** Folds and marks of the shown trajectory. */
export type Shown = Pick<Inspection, 'folds' | 'marks'>

/** Context with the actions of the frame. */
export const ShellContext = createContext<ShellActions | undefined>(undefined)

/** Returns the actions of the frame; throws outside the Shell. */
export function useShellActions(): ShellActions {
  const actions = useContext(ShellContext)
  if (!actions) throw new Error('a page stands in the shell')
  return actions
}

/** Makes the skip link lead to the tokens while the component is mounted. */
export function useSkipLink(focus: () => void): void {
  const { onTokens } = useShellActions()
  const latest = useEffectEvent(focus)
  useEffect(() => {
    onTokens({ focus: () => latest() })
    return () => onTokens(undefined)
  }, [onTokens])
}
