'use client'
import { useQueryClient } from '@tanstack/react-query'
import { flushSync } from 'react-dom'
import type { CommandScreen } from '#components/inspector/commands/command.ts'
import { COMMANDS } from '#components/inspector/commands/commands.ts'
import { useNavigation } from '#components/shell/navigation.tsx'
import { useShellActions, useTokensTarget } from '#components/shell/shell-actions.ts'
import { useCommands } from '#components/shell/use-commands.ts'
import { openedBranchOptions } from '#lib/browser/library/opened-branch.ts'
import type { ListPlace } from './list-walk.tsx'
import { savingActions } from './page-actions.ts'
import type { InspectionState } from './use-inspection-state.ts'
import type { TokenControls } from './use-token-controls.ts'

interface InspectorCommandsOptions {
  readonly state: InspectionState
  readonly controls: TokenControls
  readonly place: ListPlace | undefined
  /** Shows the middle pane in a window that is too narrow for all panes. */
  readonly onShowMiddle: () => void
}

/** Returns the commands of the inspector, and offers its tokens to the frame of the page. */
export function useInspectorCommands({ state, controls, place, onShowMiddle }: InspectorCommandsOptions) {
  const { inspection, offers, link } = state
  const { onView, folds, marks } = inspection
  const shell = useShellActions()
  const { go } = useNavigation()
  const showTokens = () => {
    onShowMiddle()
    onView({ tab: 'tokens' })
  }
  const client = useQueryClient()
  const openAt = (href: string | undefined) =>
    href === undefined
      ? undefined
      : () => {
          // The palette has returned the focus to the tokens of this page, which disappear.
          client.setQueryData(openedBranchOptions().queryKey, keyIn(href))
          void go(href)
        }
  const screenOf = (showPalette: () => void): CommandScreen => ({
    inspection,
    offers,
    options: controls.options,
    onOptions: controls.onOptions,
    page: {
      ...shell,
      showPalette,
      showTools: () =>
        flushSync(() => {
          controls.onTools(true)
          showTokens()
        }),
      ...savingActions(inspection),
      openBeside: { previous: openAt(place?.previous), next: openAt(place?.next) },
      showLegend: () => controls.legend.current?.toggle(),
      link: () => (window.location.pathname === '/open' ? undefined : link()),
    },
  })
  useTokensTarget(
    () => {
      flushSync(showTokens)
      inspection.grid.current?.focus()
    },
    { folds, marks },
  )
  return useCommands({ commands: COMMANDS, screenOf, say: inspection.say })
}

/** Returns the key of the trajectory at an address; null if it names none, such as that of a row of a file. */
function keyIn(href: string): string | null {
  const [, key] = /^\/t\/([^?]+)/.exec(href) ?? []
  return key === undefined ? null : decodeURIComponent(key)
}

/** The commands of the inspector and the state of their palette. */
export type InspectorCommands = ReturnType<typeof useInspectorCommands>
