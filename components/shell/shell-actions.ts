import { createContext, useContext, useEffect, useEffectEvent } from 'react'
import type { Inspection } from '#components/inspector/inspection.ts'
import { useNavigation } from './navigation.tsx'
import { UNMOVED_FOCUS } from './pages.ts'

/** What a page can request from the frame around it. */
export interface ShellActions {
  readonly openFile: () => void
  /** `undefined` if there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly showKeys: () => void
  /** Opens the documentation of this page in a new tab, so that work on this page is not interrupted. */
  readonly showHelp: () => void
  /** Sets the tokens of the page; undefined if it shows none. */
  readonly onTokens: (tokens: TokensTarget | undefined) => void
}

/** The tokens of a page, for the skip link and the offline page. */
export interface TokensTarget {
  /** Shows the tokens and moves the focus to them. */
  readonly focus: () => void
  /** Returns what the page shows besides the state in its address; undefined if that is all. */
  readonly shown: () => Shown | undefined
}

/** Folds and marks of the shown trajectory. */
export type Shown = Pick<Inspection, 'folds' | 'marks'>

/** Context with the actions of the frame. */
export const ShellContext = createContext<ShellActions | undefined>(undefined)

/** Returns the actions of the frame; throws outside the Shell. */
export function useShellActions(): ShellActions {
  const actions = useContext(ShellContext)
  if (!actions) throw new Error('useShellActions requires the shell')
  return actions
}

/** Offers the tokens of the page to the frame while the component is mounted. They receive the focus if the page was opened by keyboard. */
export function useTokensTarget(focus: () => void, shown?: Shown): void {
  const { onTokens } = useShellActions()
  const { takeFocus } = useNavigation()
  const receiveFocus = useEffectEvent(() => {
    if (takeFocus() && document.activeElement?.matches(UNMOVED_FOCUS))
      document.querySelector<HTMLElement>('[role=grid]')?.focus({ preventScroll: true })
  })
  useEffect(() => receiveFocus(), [])
  const focusLatest = useEffectEvent(focus)
  const latestShown = useEffectEvent(() => shown)
  useEffect(() => {
    onTokens({ focus: () => focusLatest(), shown: () => latestShown() })
    return () => onTokens(undefined)
  }, [onTokens])
}
