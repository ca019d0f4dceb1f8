/** What a part of the inspector can do that a key or the command palette asks it for. */
import { useEffect, useEffectEvent } from 'react'

/** find: takes the focus to the field; verify: opens what scores the trajectory again. */
export type PanelCommandName = 'find' | 'next-hit' | 'previous-hit' | 'verify'
export type PanelCommands = Readonly<Partial<Record<PanelCommandName, () => void>>>

/** Stands while what is returned has not been called. */
export type RegisterPanelCommand = (name: PanelCommandName, run: () => void) => () => void

/** Offers while the part is shown; undefined: not now, and the command says that it is not available. */
export function usePanelCommand(
  offer: RegisterPanelCommand,
  name: PanelCommandName,
  run: (() => void) | undefined,
): void {
  const latest = useEffectEvent(() => run?.())
  const isOffered = run !== undefined
  useEffect(() => (isOffered ? offer(name, () => latest()) : undefined), [offer, name, isOffered])
}
