/** Actions of parts of the inspector that a key or the command palette can request. */
import { useEffect, useEffectEvent } from 'react'

/**
 * `find` focuses the search field; `verify` focuses the button that rescores the trajectory; `main-finding` selects the token of the
 * largest drop of the value, or of the first jump of importance ratios. `alternative` chooses an alternative of the selected token by its position, `resample` and `branch` start branches
 * there, `force` focuses the text to insert, and `cut` stores the tokens before it.
 * `value` shows or hides the value estimates. `note` opens the note on the selected tokens. `labels` focuses the first field of the labels.
 */
export type PanelCommandName =
  | 'find'
  | 'next-hit'
  | 'previous-hit'
  | 'verify'
  | 'main-finding'
  | 'alternative'
  | 'resample'
  | 'branch'
  | 'force'
  | 'cut'
  | 'value'
  | 'note'
  | 'labels'

/** An action; `position` counts from 1 in the list that the command names. */
export type PanelAction = (position?: number) => void

/** The actions that the visible parts have registered. */
export type PanelCommands = Readonly<Partial<Record<PanelCommandName, PanelAction>>>

/** Registers an action until the returned function is called. */
export type RegisterPanelCommand = (name: PanelCommandName, run: PanelAction) => () => void

/** Registers an action while the part is mounted; undefined means that the action is not available now. */
export function usePanelCommand(
  offer: RegisterPanelCommand,
  name: PanelCommandName,
  run: PanelAction | undefined,
): void {
  const latest = useEffectEvent((position?: number) => run?.(position))
  const isOffered = run !== undefined
  useEffect(() => (isOffered ? offer(name, (position) => latest(position)) : undefined), [offer, name, isOffered])
}
