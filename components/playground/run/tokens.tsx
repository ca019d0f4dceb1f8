'use client'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { PaletteProps } from '#components/commands/palette.tsx'
import { StatusLine } from '#components/commands/status-line.tsx'
import { TokenViewButtons } from '#components/commands/token-view-buttons.tsx'
import type { CommandScreen } from '#components/inspector/commands/command.ts'
import { offeredCommands } from '#components/inspector/commands/further-commands.ts'
import { RUN_COMMANDS } from '#components/inspector/commands/run-commands.ts'
import { FindBar } from '#components/inspector/find/find-bar.tsx'
import { RECENT_FINDS } from '#components/inspector/find/recent-finds.ts'
import { savingActions } from '#components/inspector/page-actions.ts'
import { selectionStatus } from '#components/inspector/selection/selection-status.ts'
import { useInspectionState } from '#components/inspector/use-inspection-state.ts'
import { inspectorHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useNavigation } from '#components/shell/navigation.tsx'
import { useShellActions, useTokensTarget } from '#components/shell/shell-actions.ts'
import { useCommands } from '#components/shell/use-commands.ts'
import { ColourBar } from '#components/token-view/colour/colour-bar.tsx'
import { TokenGrid } from '#components/token-view/grid/token-grid.tsx'
import { GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import { markKindsOf } from '#components/token-view/token-marks.ts'
import type { PopoverControl } from '#components/ui/popover.tsx'
import { usePreference } from '#lib/browser/preference.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

const Palette = lazyPart<PaletteProps<CommandScreen>>(
  async () => (await import('#components/commands/palette.tsx')).Palette,
)

interface PlaygroundTokensProps {
  readonly trajectory: TrajectoryView
  /** Key under which the trajectory is stored. */
  readonly storedKey: string | undefined
  readonly onPoint: (index: number | undefined) => void
  /** Shows the token view in a window that has room for one pane only. */
  readonly onShow: () => void
}

/**
 * The tokens of a run with their colouring, and the commands and keys of the inspector. This module is loaded with the first
 * question, because there are no tokens before.
 */
export function PlaygroundTokens({ trajectory, storedKey, onPoint, onShow }: PlaygroundTokensProps) {
  const [options, setOptions] = usePreference(GRID_OPTIONS)
  const [recent, setRecent] = usePreference(RECENT_FINDS)
  const [hasTools, setHasTools] = useState(false)
  const legend = useRef<PopoverControl>(null)
  const shell = useShellActions()
  const { go } = useNavigation()
  const finished = trajectory.outcome.kind === 'running' ? undefined : storedKey
  const parts = useInspectionState(trajectory, storedKey, finished, onShow)
  const { inspection, link, offers, said } = parts
  const { view, onView, marks, folds } = inspection
  useTokensTarget(() => {
    flushSync(onShow)
    inspection.grid.current?.focus()
  })
  const screenOf = (showPalette: () => void): CommandScreen => ({
    inspection,
    offers,
    options,
    onOptions: setOptions,
    page: {
      ...shell,
      ...savingActions(inspection),
      showPalette,
      showTools: () =>
        flushSync(() => {
          onShow()
          setHasTools(true)
        }),
      showLegend: () => legend.current?.toggle(),
      openInspector: finished === undefined ? undefined : () => go(inspectorHref(finished)),
      link,
    },
  })
  const commands = useCommands({ commands: RUN_COMMANDS, screenOf, say: inspection.say })
  return (
    <div className="grid h-full min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)_auto]">
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-3 gap-y-1.5 border-line border-b px-3.5 py-2">
        <ColourBar trajectory={trajectory} colouring={inspection.colouring} onChange={onView} />
        <span className="flex gap-1">
          <TokenViewButtons
            onCommands={commands.screen.page.showPalette}
            legend={legend}
            shown={{
              view: 'run',
              trajectories: [trajectory],
              markKinds: markKindsOf(marks),
              isSelected: view.selection !== undefined,
            }}
            folding={inspection}
            options={options}
            onOptions={setOptions}
          />
        </span>
        <div className={`col-span-2 ${hasTools || view.find !== '' ? '' : 'hidden'}`}>
          <FindBar inspection={inspection} recent={recent} onRecent={setRecent} />
        </div>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the handler serves the token view inside */}
      <div
        className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)]"
        onKeyDown={(event) => (event.target as Element).matches('[role="grid"]') && commands.runKey(event)}
      >
        <TokenGrid
          trajectory={trajectory}
          reading={inspection.reading}
          selection={view.selection}
          onSelect={inspection.onSelect}
          onPoint={(index) => {
            parts.onPoint(index)
            onPoint(index)
          }}
          marks={marks}
          options={options}
          folds={folds}
          onFolds={inspection.onFolds}
          onVisible={parts.onVisible}
          onSay={inspection.say}
          control={inspection.grid}
        />
      </div>
      <StatusLine text={selectionStatus(view.selection, tokenCount(trajectory))} message={said} />
      {commands.isPaletteOpen && (
        <Palette
          commandsFor={(typed) => offeredCommands(commands.screen, typed, RUN_COMMANDS)}
          placeholder="Type a command or a token number"
          commands={commands}
        />
      )}
    </div>
  )
}
