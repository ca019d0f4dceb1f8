'use client'
/** The page of a group whose samples are known: facts and samples, the tree, and the card of a token. */
import { SlidersHorizontal } from 'lucide-react'
import { useId, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { PaletteProps } from '#components/commands/palette.tsx'
import { StatusLine } from '#components/commands/status-line.tsx'
import { TokenViewButtons } from '#components/commands/token-view-buttons.tsx'
import { useStatusMessage } from '#components/commands/use-status-message.ts'
import { compareBothHref, tokenHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useNavigation } from '#components/shell/navigation.tsx'
import { useShellActions, useTokensTarget } from '#components/shell/shell-actions.ts'
import { useCommands } from '#components/shell/use-commands.ts'
import { usePageKeys } from '#components/shell/use-page-keys.ts'
import { ColourBar } from '#components/token-view/colour/colour-bar.tsx'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { PopoverControl } from '#components/ui/popover.tsx'
import { TabList, TabPanel } from '#components/ui/tabs.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import { usePreference } from '#lib/browser/preference.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { GROUP_TABS, type GroupTab, type useGroupAddress } from './address.ts'
import { AdvantageLegend } from './advantage-legend.tsx'
import { TokenPane } from './card/token-pane.tsx'
import { ADVANTAGE, farthestAdvantage } from './colour.ts'
import { GROUP_COMMANDS, type GroupScreenState } from './commands.ts'
import { DecisiveLine } from './decisive-line.tsx'
import { GroupLayout, type GroupPart } from './group-layout.tsx'
import { OverviewStrip } from './overview/overview-strip.tsx'
import { type BrushQuantity, samplesInBrush } from './samples/brush.ts'
import { SamplesPane } from './samples/samples-pane.tsx'
import { withToggled, withVisible } from './tree/folds.ts'
import { TreeGrid } from './tree/tree-grid.tsx'
import { useTrajectories } from './tree/use-trajectories.ts'
import { decisiveBranches, pathOfSample, spotOfSample, type TreeSpot, treeOfForest } from './tree.ts'
import { branchPositionText, groupSizeText } from './words.ts'

const SampleTable = lazyPart(async () => (await import('./tabs/sample-table.tsx')).SampleTable)
const GroupCharts = lazyPart(async () => (await import('./tabs/group-charts.tsx')).GroupCharts)
const Palette = lazyPart<PaletteProps<GroupScreenState>>(
  async () => (await import('#components/commands/palette.tsx')).Palette,
)

interface GroupPageProps {
  readonly forest: GroupForest
  /** Name of the samples, such as their question. */
  readonly title: string
  /** Undefined for selected trajectories. */
  readonly groupId: string | undefined
  readonly address: ReturnType<typeof useGroupAddress>
  readonly exportFile: () => void
}

/** Shows a group as a tree. */
export function GroupPage({ forest, title, groupId, address, exportFile }: GroupPageProps) {
  const { view, setView } = address
  const [part, setPart] = useState<GroupPart>('tree')
  const [modes, setModes] = useState(view.modes)
  const [pointed, setPointed] = useState<TreeSpot>()
  const [by, setBy] = useState<BrushQuantity>(view.brush?.by ?? (forest.rewards ? 'reward' : 'length'))
  const [hasTools, setHasTools] = useState(false)
  const { message, say } = useStatusMessage()
  const [options, setOptions] = usePreference(GRID_OPTIONS)
  const { go } = useNavigation()
  const shell = useShellActions()
  const legend = useRef<PopoverControl>(null)
  const whole = useRef<HTMLDivElement>(null)
  const tabs = useId()
  const tree = useMemo(() => treeOfForest(forest), [forest])
  const farthest = useMemo(() => farthestAdvantage(forest), [forest])
  const { brush } = view
  const chosen = useMemo(() => samplesInBrush(forest.samples, brush), [forest, brush])
  const pinned = useMemo(
    () => view.pinned && spotOfSample(tree, view.pinned.sample, view.pinned.token),
    [tree, view.pinned],
  )
  const { trajectories, error, onVisible } = useTrajectories(tree, pinned && tree.branches[pinned.branch]?.sample)

  const changeModes = (changed: typeof modes) => {
    setModes(changed)
    void setView({ modes: changed })
  }
  const pin = (spot: TreeSpot | undefined, sample?: number, tab: GroupTab = 'tree') => {
    if (!spot) {
      void setView({ pinned: undefined })
      return
    }
    const branch = elementAt(tree.branches, spot.branch)
    const visible = withVisible(tree, modes, spot.branch)
    if (visible !== modes) setModes(visible)
    // The sample whose path is walked stays the same where it has the token.
    const walked = sample ?? view.pinned?.sample
    const own = walked !== undefined && branch.samples.includes(walked) ? walked : branch.sample
    void setView({ tab, pinned: { sample: own, token: spot.token }, ...(visible !== modes && { modes: visible }) })
  }
  const showSample = (sample: number) => {
    const branch = pathOfSample(tree, sample).findLast(({ start, end }) => end > start)
    if (!branch) return
    flushSync(() => setPart('tree'))
    pin({ branch: branch.index, token: branch.start }, sample)
  }
  const toggle = (index: number, isWhole: boolean) => {
    const branch = elementAt(tree.branches, index)
    changeModes(withToggled(tree, modes, branch, isWhole ? 'whole' : 'folded'))
  }
  const decisive = useMemo(() => decisiveBranches(tree), [tree])
  const [high, low] = (decisive ?? []).map(({ sample }) => forest.samples[sample]?.row.key)
  const compareBranches =
    high !== undefined && low !== undefined ? () => void go(compareBothHref(high, low)) : undefined
  const pinnedBranch = pinned && tree.branches[pinned.branch]
  const pinnedKey = pinnedBranch && forest.samples[pinnedBranch.sample]?.row.key
  useTokensTarget(() => {
    flushSync(() => {
      setPart('tree')
      void setView({ tab: 'tree' })
    })
    whole.current?.querySelector<HTMLElement>('[role=grid]')?.focus()
  })
  const commands = useCommands({
    commands: GROUP_COMMANDS,
    screenOf: (showPalette) => ({
      tree,
      trajectories,
      view,
      onView: setView,
      modes,
      onModes: changeModes,
      pinned,
      onPin: (spot) => pin(spot),
      options,
      onOptions: setOptions,
      say,
      page: {
        openFile: shell.openFile,
        exportFile,
        showKeys: shell.showKeys,
        showHelp: shell.showHelp,
        showPalette,
        link: address.link,
        branchHere: pinned && pinnedKey !== undefined ? () => void go(tokenHref(pinnedKey, pinned.token)) : undefined,
        compareBranches,
        showLegend: () => legend.current?.toggle(),
      },
    }),
    say,
  })
  usePageKeys(commands.runKey)
  const run = (name: string) => () => {
    const command = GROUP_COMMANDS.find((one) => one.name === name)
    if (command) commands.run(command)
  }
  const [first] = trajectories.values()
  const isAdvantage = view.colour === ADVANTAGE
  const colouring = useMemo(
    () => first && colouringOf(first, isAdvantage ? 'none' : view.colour, view.limit),
    [first, isAdvantage, view.colour, view.limit],
  )
  const buttons = (
    <span className="ml-auto flex shrink-0 items-center gap-1">
      <span className="lg:hidden">
        <IconButton label="Colours" isPressed={hasTools} onClick={() => setHasTools(!hasTools)}>
          <SlidersHorizontal size={15} aria-hidden />
        </IconButton>
      </span>
      <TokenViewButtons
        onCommands={run('palette')}
        legend={legend}
        shown={{
          view: 'inspector',
          trajectories: first ? [first] : [],
          markKinds: ['linked'],
          isSelected: pinned !== undefined,
        }}
        options={options}
        onOptions={setOptions}
      />
    </span>
  )
  return (
    <div
      ref={whole}
      className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)]"
      data-group={forest.revision}
    >
      <GroupLayout
        part={part}
        onShow={setPart}
        onUnpin={() => pin(undefined)}
        buttons={buttons}
        gist={
          pinned && (
            <>
              <b className="tabular-nums">Token {countText(pinned.token)}</b>{' '}
              <code className="font-mono">{pinnedTokenText(tree, pinned, trajectories)}</code>
            </>
          )
        }
        samples={
          <SamplesPane
            title={title}
            groupId={groupId}
            forest={forest}
            samples={forest.samples}
            view={view}
            onView={setView}
            by={by}
            onBy={(next) => {
              setBy(next)
              if (brush && brush.by !== next) void setView({ brush: undefined })
            }}
            farthest={farthest}
            chosen={chosen}
            onSample={showSample}
          />
        }
        tree={
          <div className="flex h-full min-h-0 flex-col">
            <div className="flex items-center justify-between gap-3 border-line border-b px-3.5 max-lg:px-3">
              <TabList<GroupTab>
                id={tabs}
                label="View"
                value={view.tab}
                onChange={(tab) => void setView({ tab })}
                tabs={GROUP_TABS.map((value) => ({ value, text: TAB_TITLES[value] }))}
              />
              <span className="flex shrink-0 gap-3 text-faint text-xs max-xl:hidden" aria-hidden>
                <span>[ ] split</span>
                <span>Z fold</span>
                <span>d decisive token</span>
              </span>
            </div>
            <DecisiveLine
              forest={forest}
              farthest={farthest}
              onDecisive={run('decisive')}
              onCompare={compareBranches}
            />
            {error && (
              <Banner
                tone="bad"
                title={error.message}
                hint="The tree is drawn without the tokens of this sample. Reload the page to try again."
              />
            )}
            <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)]">
              <TabPanel id={tabs} value="tree" isShown={view.tab === 'tree'}>
                <div className="flex h-full min-h-0 flex-col [@media(max-height:600px)]:overflow-y-auto">
                  <div
                    className={`flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b px-3.5 py-1.5 ${hasTools ? '' : 'max-lg:hidden'}`}
                  >
                    {first && colouring ? (
                      <ColourBar
                        trajectory={first}
                        colouring={colouring}
                        onChange={(change) =>
                          void setView({
                            ...(change.colour !== undefined && { colour: change.colour }),
                            ...('limit' in change && { limit: change.limit }),
                          })
                        }
                        own={{
                          name: ADVANTAGE,
                          title: 'Advantage',
                          explanation: 'Mean advantage of the samples of a branch, at its trained tokens',
                          isChosen: isAdvantage,
                        }}
                        {...(isAdvantage && { legend: <AdvantageLegend farthest={farthest} /> })}
                      />
                    ) : (
                      // Beside both panes, the bar has one or two lines of its own, and the tree must not move when it appears.
                      <span className="hidden h-12.5 w-full min-[1170px]:h-7 lg:max-[1410px]:block" />
                    )}
                    <span className="ml-auto flex items-center gap-1">
                      <Button className="min-h-7!" onClick={run('fold-to-splits')} title="Fold to splits (Z)">
                        Fold to splits
                      </Button>
                      <span className="max-lg:hidden">{buttons}</span>
                    </span>
                  </div>
                  <OverviewStrip
                    tree={tree}
                    colour={view.colour}
                    farthest={farthest}
                    chosen={chosen}
                    pinned={pinned}
                    onPin={(spot) => pin(spot)}
                  />
                  {/* The height of the first tokens is only estimated until they are loaded, so what is below them would move. */}
                  <div
                    className={`min-h-0 flex-1 [@media(max-height:600px)]:min-h-40 ${first || error ? '' : '[&_.tree-canvas]:invisible'}`}
                  >
                    {tree.branches.length === 0 ? (
                      <p className="p-4 text-dim">No sample has tokens, so there is no tree.</p>
                    ) : (
                      <TreeGrid
                        tree={tree}
                        trajectories={trajectories}
                        modes={modes}
                        options={options}
                        colour={view.colour}
                        limit={view.limit}
                        pinned={pinned}
                        chosen={chosen}
                        farthest={farthest}
                        onPin={(spot) => pin(spot)}
                        onPoint={setPointed}
                        onToggle={toggle}
                        onSample={showSample}
                        onVisible={onVisible}
                        onSay={say}
                      />
                    )}
                  </div>
                </div>
              </TabPanel>
              {view.tab === 'table' && (
                <TabPanel id={tabs} value="table" isShown>
                  <SampleTable forest={forest} chosen={chosen} current={view.pinned?.sample} onSample={showSample} />
                </TabPanel>
              )}
              {view.tab === 'charts' && (
                <TabPanel id={tabs} value="charts" isShown>
                  <GroupCharts
                    tree={tree}
                    pinned={pinned}
                    current={view.pinned?.sample}
                    chosen={chosen}
                    onPin={(spot) => pin(spot, undefined, 'charts')}
                    onShow={(spot) => pin(spot)}
                    onSample={showSample}
                  />
                </TabPanel>
              )}
            </div>
            <StatusLine
              text={[groupSizeText(forest), branchPositionText(tree, pinnedBranch, pinned?.token)]
                .filter(Boolean)
                .join(' · ')}
              message={message}
            />
          </div>
        }
        token={
          <TokenPane
            tree={tree}
            trajectories={trajectories}
            pinned={pinned}
            pointed={pointed}
            farthest={farthest}
            onSample={showSample}
            link={address.link}
          />
        }
      />
      {commands.isPaletteOpen && (
        <Palette
          commandsFor={() => GROUP_COMMANDS.filter(({ name }) => name !== 'palette')}
          placeholder="Type a command"
          commands={commands}
        />
      )}
    </div>
  )
}

const TAB_TITLES: Readonly<Record<GroupTab, string>> = { tree: 'Tree', table: 'Table', charts: 'Charts' }

/** Returns the text of the pinned token; '' until it is loaded. */
function pinnedTokenText(
  tree: ReturnType<typeof treeOfForest>,
  pinned: TreeSpot,
  trajectories: ReturnType<typeof useTrajectories>['trajectories'],
): string {
  const trajectory = trajectories.get(elementAt(tree.branches, pinned.branch).sample)
  const token = trajectory && tokenAt(trajectory, pinned.token)
  const entry = token && trajectory.vocab[token.id]
  return typeof entry === 'string' ? visibleText(entry) : ''
}
