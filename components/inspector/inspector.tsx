'use client'
/**
 * The inspector: outline, a tab of tokens or other data, and the token card. use-inspection-state.ts creates the state that
 * its parts share.
 */
import { GitCompare, SlidersHorizontal } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { PaletteProps } from '#components/commands/palette.tsx'
import { StatusLine } from '#components/commands/status-line.tsx'
import { TokenViewButtons } from '#components/commands/token-view-buttons.tsx'
import type { CommandScreen } from '#components/inspector/commands/command.ts'
import { COMMANDS } from '#components/inspector/commands/commands.ts'
import { offeredCommands } from '#components/inspector/commands/further-commands.ts'
import { FindBar } from '#components/inspector/find/find-bar.tsx'
import { RECENT_FINDS } from '#components/inspector/find/recent-finds.ts'
import { selectionStatus } from '#components/inspector/selection/selection-status.ts'
import { useNavigation } from '#components/shell/navigation.tsx'
import { useShellActions, useSkipLink } from '#components/shell/shell-actions.ts'
import { useCommands } from '#components/shell/use-commands.ts'
import { useAddedColumn, useScorer } from '#components/shell/use-scoring.ts'
import { TokenGist } from '#components/token-view/card/token-gist.tsx'
import { ColourBar } from '#components/token-view/colour/colour-bar.tsx'
import { SURPRISE_WITH_PROMPT } from '#components/token-view/colour/number-modes.ts'
import { GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import { Origin } from '#components/token-view/overview/origin.tsx'
import { Outline } from '#components/token-view/overview/outline.tsx'
import { ToolCalls } from '#components/token-view/overview/tool-calls.tsx'
import { Totals } from '#components/token-view/overview/totals.tsx'
import { isSingle, single } from '#components/token-view/selection.ts'
import { markKindsOf } from '#components/token-view/token-marks.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { type Pane, Panes } from '#components/ui/panes.tsx'
import type { PopoverControl } from '#components/ui/popover.tsx'
import { TabList, TabPanel } from '#components/ui/tabs.tsx'
import { usePreference } from '#lib/browser/preference.ts'
import { usePromptLogprobs } from '#lib/browser/rollout/use-prompt-logprobs.ts'
import { isUnscoredAt } from '#lib/trajectory/scoring/prompt-logprobs.ts'
import { takesTokenizer } from '#lib/trajectory/tokens/texts.ts'
import { tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { INSPECTOR_TABS, type InspectorTab, TAB_TITLES } from './inspection.ts'
import { ListWalk } from './list-walk.tsx'
import { InspectorNotices } from './notices.tsx'
import { savingActions } from './page-actions.ts'
import { OTHER_TABS } from './tabs.ts'
import { TokenStage } from './token-stage.tsx'
import { useInspectionState } from './use-inspection-state.ts'
import { useListPlace } from './use-list-place.ts'

// Each dynamic part has a fallback: without one, the whole page would suspend, and a key pressed meanwhile would act on an
// old state.
const HealthStrip = dynamic(async () => (await import('#components/inspector/health/health-strip.tsx')).HealthStrip, {
  // The fallback is as high as the strip, so that the tokens do not move.
  loading: () => <div className="h-8 bg-ground max-lg:h-10" />,
})
const VerifyPanel = dynamic(async () => (await import('#components/inspector/verify/verify-panel.tsx')).VerifyPanel, {
  loading: () => null,
})
const RangeCard = dynamic(async () => (await import('#components/inspector/selection/range-card.tsx')).RangeCard, {
  loading: () => null,
})
const loadTokenCard = () => import('#components/token-view/card/token-card.tsx')
const TokenCard = dynamic(async () => (await loadTokenCard()).TokenCard, { loading: () => null })
const TokenizerDialog = dynamic(
  async () => (await import('#components/tokenizer/tokenizer-dialog.tsx')).TokenizerDialog,
  {
    loading: () => null,
  },
)

const loadPalette = () => import('#components/commands/palette.tsx')
const Palette = dynamic<PaletteProps<CommandScreen>>(async () => (await loadPalette()).Palette, {
  loading: () => null,
})
/** Delay after which the palette is loaded, so that it opens immediately and does not delay the first view. */
const LOAD_PALETTE_AFTER_MS = 2_000

interface InspectorProps {
  readonly trajectory: TrajectoryView
  readonly storedKey: string | undefined
  /** Key for comparisons, which examples have too. */
  readonly comparedKey: string | undefined
  readonly labels: ReactNode
  readonly children: ReactNode
}

/** Shows a trajectory with all tabs. `labels` and `children` follow the outline. */
export function Inspector({ trajectory: given, storedKey, comparedKey, labels, children }: InspectorProps) {
  const [pane, setPane] = useState<Pane>('middle')
  const [isChoosing, setIsChoosing] = useState(false)
  const [hasTools, setHasTools] = useState(false)
  const { shown: trajectory, onColumn } = useAddedColumn(given)
  const scorer = useScorer()
  const { inspection, link, offers, said, onPoint, onSight } = useInspectionState(
    trajectory,
    storedKey,
    comparedKey,
    () => setPane('middle'),
  )
  const isPromptTokenSelected =
    inspection.view.selection !== undefined &&
    isSingle(inspection.view.selection) &&
    isUnscoredAt(given, inspection.view.selection.focus)
  const promptLogprobs = usePromptLogprobs(
    given,
    storedKey,
    isPromptTokenSelected || inspection.colouring.mode.name === SURPRISE_WITH_PROMPT.name,
  )
  const [options, setOptions] = usePreference(GRID_OPTIONS)
  const [recent, setRecent] = usePreference(RECENT_FINDS)
  const id = useId()
  const legend = useRef<PopoverControl>(null)
  const shell = useShellActions()
  const { go } = useNavigation()
  const place = useListPlace(given, storedKey)
  const { view, onView, onSelect, folds, marks } = inspection
  const { onShown } = shell
  useEffect(() => onShown({ folds, marks }), [onShown, folds, marks])
  const { selection, tab } = view
  const drift = inspection.marks.find(({ kind }) => kind === 'drift')
  const driftSpans = drift && drift.ranges.length / 2
  const linked = marks.find(({ kind }) => kind === 'linked')?.ranges[0]
  const shown = tokenAt(trajectory, selection?.focus ?? inspection.pointed ?? -1)
  // In the Messages tab a selection stays in that tab, which also shows it.
  const choose = (index: number) => onSelect(single(index), tab === 'messages' ? undefined : 'tokens')
  const OtherTab = tab === 'tokens' ? undefined : OTHER_TABS[tab]
  const { tokenizer, parser } = trajectory.model
  const canChoose = storedKey !== undefined && takesTokenizer(trajectory)
  const screenOf = (showPalette: () => void): CommandScreen => ({
    inspection,
    offers,
    options,
    onOptions: setOptions,
    page: {
      ...shell,
      showPalette,
      showTools: () =>
        flushSync(() => {
          setPane('middle')
          setHasTools(true)
          onView({ tab: 'tokens' })
        }),
      ...savingActions(inspection),
      openBeside: {
        previous: place?.previous === undefined ? undefined : () => go(place.previous ?? ''),
        next: place?.next === undefined ? undefined : () => go(place.next ?? ''),
      },
      showLegend: () => legend.current?.toggle(),
      link: () => (window.location.pathname === '/open' ? undefined : link()),
    },
  })
  useSkipLink(() => {
    flushSync(() => {
      setPane('middle')
      onView({ tab: 'tokens' })
    })
    inspection.grid.current?.focus()
  })
  const commands = useCommands({ commands: COMMANDS, screenOf, say: inspection.say })
  // The card is loaded early, so that it appears immediately for the first token under the pointer.
  useEffect(() => {
    loadTokenCard().catch(() => {})
  }, [])
  useEffect(() => {
    const loading = setTimeout(() => loadPalette().catch(() => {}), LOAD_PALETTE_AFTER_MS)
    return () => clearTimeout(loading)
  }, [])
  return (
    <Panes
      shown={pane}
      onShow={setPane}
      names={['Outline', 'Tokens', 'Details']}
      gist={shown && <TokenGist token={shown} vocab={trajectory.vocab} />}
      left={
        <>
          {place && <ListWalk place={place} onOpen={go} />}
          <Heading>Trajectory</Heading>
          <Totals trajectory={trajectory} driftSpans={driftSpans} />
          <Heading>Segments</Heading>
          <Outline
            trajectory={trajectory}
            selected={selection?.focus}
            pointed={linked}
            inSight={inspection.inSight}
            folds={inspection.folds}
            onSelect={choose}
          />
          {labels}
          <Heading>Origin</Heading>
          <Origin trajectory={trajectory} />
          {tokenizer && canChoose && (
            <Button className="mt-2 text-xs" onClick={() => setIsChoosing(true)}>
              Choose another tokenizer…
            </Button>
          )}
          <div className="mt-4">{children}</div>
        </>
      }
      middle={
        <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_auto_minmax(0,1fr)_auto]">
          <div className="flex items-center gap-x-3 border-line border-b px-3.5">
            <TabList<InspectorTab>
              id={id}
              label="View"
              value={tab}
              onChange={(tab) => onView({ tab })}
              tabs={INSPECTOR_TABS.map((value) => ({ value, text: TAB_TITLES[value] }))}
            />
            <span className="ml-auto flex shrink-0 items-center gap-1">
              {tab === 'tokens' && (
                <span className="lg:hidden">
                  <IconButton label="Colours and find" isPressed={hasTools} onClick={() => setHasTools(!hasTools)}>
                    <SlidersHorizontal size={15} aria-hidden />
                  </IconButton>
                </span>
              )}
              {inspection.onCompare && (
                <IconButton label="Compare with retokenized" onClick={() => inspection.onCompare?.('messages')}>
                  <GitCompare size={15} aria-hidden />
                </IconButton>
              )}
              <TokenViewButtons
                onCommands={commands.screen.page.showPalette}
                legend={legend}
                shown={{
                  view: 'inspector',
                  trajectories: [trajectory],
                  markKinds: markKindsOf(marks),
                  isSelected: selection !== undefined,
                }}
                folding={inspection}
                options={options}
                onOptions={setOptions}
              />
            </span>
          </div>
          <InspectorNotices
            inspection={inspection}
            storedKey={storedKey}
            onChooseTokenizer={canChoose ? () => setIsChoosing(true) : undefined}
          >
            {promptLogprobs.failure && (
              <Banner tone="bad" title={promptLogprobs.failure.title} hint={promptLogprobs.failure.hint}>
                <Button onClick={promptLogprobs.failure.retry}>Try again</Button>
              </Banner>
            )}
            <HealthStrip inspection={inspection} />
          </InspectorNotices>
          <div className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)]">
            <TabPanel id={id} value="tokens" isShown={tab === 'tokens'}>
              {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the token view inside */}
              <div
                onKeyDown={(event) => (event.target as Element).matches('[role="grid"]') && commands.runKey(event)}
                className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)]"
              >
                <div
                  className={`flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b px-3.5 py-1.5 ${hasTools ? '' : 'max-lg:hidden'}`}
                >
                  <ColourBar trajectory={trajectory} colouring={inspection.colouring} onChange={onView} />
                  <div className="min-w-0 flex-1 basis-60">
                    <FindBar inspection={inspection} recent={recent} onRecent={setRecent} />
                  </div>
                </div>
                <TokenStage inspection={inspection} options={options} onPoint={onPoint} onSight={onSight} />
              </div>
            </TabPanel>
            {OtherTab && (
              <TabPanel id={id} value={tab} isShown>
                <div className="h-full overflow-auto">
                  <OtherTab inspection={inspection} />
                </div>
              </TabPanel>
            )}
          </div>
          <StatusLine text={selectionStatus(inspection.view.selection, tokenCount(trajectory))} said={said} />
          {commands.isPaletteOpen && (
            <Palette
              commandsFor={(typed) => offeredCommands(commands.screen, typed)}
              screen={commands.screen}
              placeholder="Type a command or a token number"
              onRun={commands.runFromPalette}
              onClose={commands.closePalette}
            />
          )}
          {storedKey !== undefined && isChoosing && (
            <TokenizerDialog
              storedKey={storedKey}
              tokenizer={tokenizer?.name}
              parser={parser}
              onClose={() => setIsChoosing(false)}
            />
          )}
        </div>
      }
      right={
        <>
          {selection && !isSingle(selection) ? (
            <RangeCard inspection={inspection} />
          ) : shown ? (
            <TokenCard
              trajectory={trajectory}
              token={shown}
              state={selection ? 'pinned' : 'pointed'}
              isRequesting={promptLogprobs.isRequesting}
              linkTo={(index) => link({ selection: single(index) })}
            />
          ) : (
            <p className="text-faint text-xs">
              Point at a token to see it here; click to pin it, drag to select several. Arrow keys move, Esc clears the
              selection.
            </p>
          )}
          <Heading>Tool calls</Heading>
          <ToolCalls trajectory={trajectory} onSelect={choose} />
          <VerifyPanel inspection={inspection} scorer={scorer} onColumn={onColumn} />
        </>
      }
    />
  )
}
