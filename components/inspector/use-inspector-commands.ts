'use client'
import { flushSync } from 'react-dom'
import type { CommandScreen } from '#components/inspector/commands/command.ts'
import { COMMANDS } from '#components/inspector/commands/commands.ts'
import { useNavigation } from '#components/shell/navigation.tsx'
import { useShellActions, useTokensTarget } from '#components/shell/shell-actions.ts'
import { useCommands } from '#components/shell/use-commands.ts'
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
  const openAt = (href: string | undefined) => (href === undefined ? undefined : () => void go(href))
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

/** The commands of the inspector and the state of their palette. */
export type InspectorCommands = ReturnType<typeof useInspectorCommands>
