/** Actions of parts of the inspector that a key or the command palette can request. */
import { useEffect, useEffectEvent } from 'react'

/**
 * `find` focuses the search field; `verify` focuses the button that rescores the trajectory; `first-jump` selects the main finding about
 * importance ratios; `branch` focuses the fields of a branch.
 */
export type PanelCommandName = 'find' | 'next-hit' | 'previous-hit' | 'verify' | 'first-jump' | 'branch'
/** The actions that the visible parts have registered. */
export type PanelCommands = Readonly<Partial<Record<PanelCommandName, () => void>>>

/** Registers an action until the returned function is called. */
export type RegisterPanelCommand = (name: PanelCommandName, run: () => void) => () => void

/** Registers an action while the part is mounted; undefined means that the action is not available now. */
export function usePanelCommand(
  offer: RegisterPanelCommand,
  name: PanelCommandName,
  run: (() => void) | undefined,
): void {
  const latest = useEffectEvent(() => run?.())
  const isOffered = run !== undefined
  useEffect(() => (isOffered ? offer(name, () => latest()) : undefined), [offer, name, isOffered])
}
