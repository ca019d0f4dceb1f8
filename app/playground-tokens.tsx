'use client'
import dynamic from 'next/dynamic'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { PaletteProps } from '#components/commands/palette.tsx'
import { StatusLine } from '#components/commands/status-line.tsx'
import type { CommandScreen } from '#components/inspector/command.ts'
import { FindBar } from '#components/inspector/find-bar.tsx'
import { offeredCommands } from '#components/inspector/further-commands.ts'
import { RECENT_FINDS } from '#components/inspector/recent-finds.ts'
import { RUN_COMMANDS } from '#components/inspector/run-commands.ts'
import { selectionStatus } from '#components/inspector/selection-status.ts'
import { TokenViewButtons } from '#components/inspector/token-view-buttons.tsx'
import { ColourBar } from '#components/trajectory/colour/colour-bar.tsx'
import { GRID_OPTIONS } from '#components/trajectory/grid-options.ts'
import { TokenGrid } from '#components/trajectory/token-grid.tsx'
import { markKindsOf } from '#components/trajectory/token-marks.ts'
import type { PopoverControl } from '#components/ui/popover.tsx'
import { usePreference } from '#lib/client/preference.ts'
import { tokenCount } from '#lib/core/tokens.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { inspectorHref } from './inspector-href.ts'
import { useNavigation } from './navigation.tsx'
import { savingActions } from './page-actions.ts'
import { useShellActions, useSkipLink } from './shell-actions.ts'
import { useCommands } from './use-commands.ts'
import { useInspectionState } from './use-inspection-state.ts'

const Palette = dynamic<PaletteProps<CommandScreen>>(
  async () => (await import('#components/commands/palette.tsx')).Palette,
  { loading: () => null },
)

interface PlaygroundTokensProps {
  readonly trajectory: TrajectoryView
  /** Under which it is stored. */
  readonly storedKey: string | undefined
  readonly onPoint: (index: number | undefined) => void
  /** Shows the token view in a window that has no room for all. */
  readonly onShow: () => void
}

/**
 * The tokens of a run, and what they are coloured by, with the commands and keys of the inspector. Loaded with the first
 * question: until then there are none.
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
  useSkipLink(() => {
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
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the token view in it */}
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
          onSight={parts.onSight}
          onSay={inspection.say}
          control={inspection.grid}
        />
      </div>
      <StatusLine text={selectionStatus(view.selection, tokenCount(trajectory))} said={said} />
      {commands.isPaletteOpen && (
        <Palette
          commandsFor={(typed) => offeredCommands(commands.screen, typed, RUN_COMMANDS)}
          screen={commands.screen}
          placeholder="A command, or the number of a token"
          onRun={commands.runFromPalette}
          onClose={commands.closePalette}
        />
      )}
    </div>
  )
}
