'use client'
/** A comparison: its summary, the drift as a list, both sides token by token, and the card of one span. */
import { Link2 } from 'lucide-react'
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { PaletteProps } from '#components/commands/palette.tsx'
import { StatusLine } from '#components/commands/status-line.tsx'
import { TokenViewButtons } from '#components/commands/token-view-buttons.tsx'
import { useStatusMessage } from '#components/commands/use-status-message.ts'
import { DriftCard } from '#components/compare/drift/drift-card.tsx'
import { DriftList } from '#components/compare/drift/drift-list.tsx'
import { type DriftFilter, NO_FILTER } from '#components/compare/drift/drift-steps.ts'
import { driftVocabularyOf } from '#components/compare/drift/drift-words.ts'
import { SummaryStrip } from '#components/compare/drift/summary-strip.tsx'
import { Lanes, type LanesControl } from '#components/compare/lanes/lanes.tsx'
import { SegmentEncodings } from '#components/compare/lanes/segment-encodings.tsx'
import { useRescoring } from '#components/compare/rescore/use-rescoring.ts'
import { Caveats } from '#components/compare/sides/caveats.tsx'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link } from '#components/shell/navigation.tsx'
import { useShellActions, useTokensTarget } from '#components/shell/shell-actions.ts'
import { useCommands } from '#components/shell/use-commands.ts'
import { usePageKeys } from '#components/shell/use-page-keys.ts'
import { useScorer } from '#components/shell/use-scoring.ts'
import { GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import { countText } from '#components/token-view/numbers.ts'
import { selectionText } from '#components/token-view/selection.ts'
import type { MarkKind } from '#components/token-view/token-marks.ts'
import { Banner } from '#components/ui/banner.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { type Pane, Panes } from '#components/ui/panes.tsx'
import type { PopoverControl } from '#components/ui/popover.tsx'
import { useMedia } from '#components/ui/use-media.ts'
import { whyNotGreedy } from '#lib/analysis/compare/chat-baseline.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { exampleName, isChatRun } from '#lib/analysis/compare/side.ts'
import { saveContent } from '#lib/browser/files/save-file.ts'
import { usePreference } from '#lib/browser/preference.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { COMPARE_COMMANDS, type ComparePageActions, type CompareScreenState } from './commands.ts'
import { CompareTools } from './compare-tools.tsx'
import type { ComparePartProps, CompareView, ShownPair } from './view.ts'

const CopyRepro = lazyPart(async () => (await import('#components/compare/drift/copy-repro.tsx')).CopyRepro)
const Palette = lazyPart<PaletteProps<CompareScreenState>>(
  async () => (await import('#components/commands/palette.tsx')).Palette,
)

const RescorePanel = lazyPart(async () => (await import('#components/compare/rescore/rescore-panel.tsx')).RescorePanel)

interface ComparePairProps {
  readonly pair: ShownPair
  /** Whether the previous pair had the focus when it was removed; this pair then takes the focus. */
  readonly hadFocus: RefObject<boolean>
  /** View in the address; if `isUnified` is undefined, the width of the window decides. */
  readonly addressView: Omit<CompareView, 'isUnified'> & { readonly isUnified: boolean | undefined }
  readonly onView: (change: Partial<CompareView>) => void
  readonly page: Pick<ComparePageActions, 'exportFile' | 'swap' | 'chooseSide' | 'setRight' | 'runBaseline' | 'link'>
}

/** Shows a compared pair with its commands and keys. */
export function ComparePair({ pair: comparedPair, hadFocus, addressView, onView: setView, page }: ComparePairProps) {
  const [pane, setPane] = useState<Pane>('middle')
  const [pointedDrift, setPointedDrift] = useState<number>()
  const [filter, setFilter] = useState<DriftFilter>(NO_FILTER)
  const { message, say } = useStatusMessage()
  // The window has no room for two lanes beside each other.
  const isNarrow = useMedia('(max-width: 1023px)')
  const [options, setOptions] = usePreference(GRID_OPTIONS)
  const shell = useShellActions()
  const chance = chanceBetween(comparedPair)
  const panel = useRef<HTMLDivElement>(null)
  const lanes = useRef<LanesControl>(null)
  const legend = useRef<PopoverControl>(null)
  const root = useRef<HTMLDivElement>(null)
  useFocusTransfer(root, hadFocus)
  const scorer = useScorer()
  const rescoring = useRescoring(comparedPair, scorer.score)
  const { pair } = rescoring
  const { report } = pair.compared.comparison
  const vocabulary = driftVocabularyOf(pair)
  const { noun, title, costs, kindText, causeText } = vocabulary
  useTokensTarget(() => {
    flushSync(() => setPane('middle'))
    root.current?.querySelector<HTMLElement>('[role=grid]')?.focus()
  })
  const view: CompareView = {
    ...addressView,
    drift:
      addressView.drift !== undefined && addressView.drift >= 0 && addressView.drift < report.spans.length
        ? addressView.drift
        : undefined,
    isUnified: addressView.isUnified ?? isNarrow,
  }
  const rescore = () => {
    // The pane is shown first, because a hidden element cannot take the focus.
    flushSync(() => setPane('right'))
    panel.current?.querySelector<HTMLElement>('[data-rescore-start]')?.focus()
  }
  const showToken = (token: number) => {
    flushSync(() => setPane('middle'))
    lanes.current?.choose({ side: 'left', token })
  }
  const onView = (change: Partial<CompareView>) => {
    setView(change)
    // A span that is chosen in the list of a narrow window is shown among the tokens.
    if (change.drift !== undefined && pane === 'left') setPane('middle')
  }
  const commands = useCommands({
    commands: COMPARE_COMMANDS,
    screenOf: (showPalette) => ({
      report,
      vocabulary,
      right: pair.right,
      view,
      onView,
      filter,
      options,
      onOptions: setOptions,
      say,
      page: {
        ...page,
        openFile: shell.openFile,
        showKeys: shell.showKeys,
        showHelp: shell.showHelp,
        showPalette,
        rescore,
        showLegend: () => legend.current?.toggle(),
      },
    }),
    say,
  })
  usePageKeys(commands.runKey)
  const parts: ComparePartProps = { pair, view, onView, onPoint: setPointedDrift, say }
  const shownDrift = view.drift ?? pointedDrift
  const shownSpan = shownDrift === undefined ? undefined : report.spans[shownDrift]
  const run = (name: string) => () => {
    const command = COMPARE_COMMANDS.find((one) => one.name === name)
    if (command) commands.run(command)
  }
  const buttons = (
    <span className="ml-auto flex shrink-0 items-center gap-1">
      <IconButton label="Copy a link to this comparison (l)" onClick={run('copy-link')}>
        <Link2 size={15} aria-hidden />
      </IconButton>
      <TokenViewButtons
        onCommands={run('palette')}
        legend={legend}
        shown={{
          view: 'lanes',
          trajectories: [pair.compared.left.trajectory, pair.compared.right.trajectory],
          markKinds: markKindsOf(report.spans.length, view.drift),
          isSelected: view.drift !== undefined,
        }}
        options={options}
        onOptions={setOptions}
      />
    </span>
  )
  return (
    <div ref={root} className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)]">
      <section
        aria-label="Drift and details"
        // In a low window, as at a zoom of 200 %, these lines would leave no room for the tokens.
        className={pane === 'middle' ? 'max-lg:[@media(max-height:600px)]:hidden' : ''}
      >
        <SummaryStrip pair={pair} view={view} onView={onView} rescored={rescoring.summary} />
        <Caveats compared={pair.compared} />
        {chance !== undefined && (
          <Banner tone="note" title="Two runs: differences may be due to chance." hint={chance} />
        )}
        <SegmentEncodings compared={pair.compared} />
      </section>
      <Panes
        names={[title, 'Tokens', 'Details']}
        shown={pane}
        onShow={setPane}
        buttons={isNarrow && buttons}
        gist={
          shownSpan && (
            <>
              <span className="min-w-0 truncate font-medium">{kindText(shownSpan)}</span>
              <span className="min-w-0 flex-1 truncate text-dim text-xs">{causeText(shownSpan)}</span>
            </>
          )
        }
        left={<DriftList {...parts} filter={filter} onFilter={setFilter} />}
        middle={
          <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)_auto]">
            <CompareTools {...parts} onNext={run('next-drift')} onPrevious={run('previous-drift')}>
              {!isNarrow && buttons}
            </CompareTools>
            <div className="min-h-0 overflow-auto">
              <Lanes {...parts} control={lanes} options={options} />
            </div>
            <StatusLine
              text={
                view.drift === undefined
                  ? `${countText(report.tokens.left)} tokens left · ${countText(report.tokens.right)} right`
                  : `${noun} ${countText(view.drift + 1)} of ${countText(report.spans.length)}`
              }
              message={message}
            />
          </div>
        }
        right={
          <>
            {shownDrift !== undefined && shownSpan ? (
              <DriftCard
                pair={pair}
                drift={shownDrift}
                weight={rescoring.found?.rescoring.spans[shownDrift]?.ratio}
                state={view.drift === undefined ? 'pointed' : 'pinned'}
                linksOf={(name, tokens) => <SideLinks pair={pair} name={name} tokens={tokens} />}
              />
            ) : (
              <p className="text-faint text-xs">
                {report.spans.length === 0
                  ? 'No differences. Choose another side above.'
                  : `Point at a ${noun} to see it here; click to pin it. Press ] and [ for the next and previous one, n and p within a kind.`}
              </p>
            )}
            {shownSpan && costs && (
              <div className="mt-3">
                <CopyRepro
                  pair={pair}
                  drift={shownDrift}
                  onSave={(text, name) => saveContent(new Blob([text]), name)}
                />
              </div>
            )}
            <div ref={panel} className="mt-5 border-line border-t pt-4">
              <RescorePanel rescoring={rescoring} scorer={scorer} view={view} onView={onView} onToken={showToken} />
            </div>
          </>
        }
      />
      {commands.isPaletteOpen && (
        <Palette
          commandsFor={() => COMPARE_COMMANDS.filter(({ name }) => name !== 'palette')}
          placeholder="Type a command"
          commands={commands}
        />
      )}
    </div>
  )
}

/** Returns the outlines that the legend explains: drift, gaps and the chosen drift span. */
const markKindsOf = (drifts: number, chosen: number | undefined): readonly MarkKind[] =>
  drifts === 0 ? [] : ['drift', 'gap', ...(chosen === undefined ? [] : (['current'] as const))]

/** Returns why a chat baseline and its run may differ by chance; undefined if they cannot, or if the pair is no such pair. */
function chanceBetween({ left, right, compared }: ShownPair): string | undefined {
  const runs = [compared.left.trajectory, compared.right.trajectory]
  if (left.key === right.key || !runs.some(isChatRun)) return undefined
  return runs.map(whyNotGreedy).find((why) => why !== undefined)
}

interface SideLinksProps {
  readonly pair: ShownPair
  readonly name: SideName
  readonly tokens: Span
}

/** Link to the inspector for a recorded side, or to the template lab for a side that was made of messages. */
function SideLinks({ pair, name, tokens: { start, end } }: SideLinksProps) {
  const { key, as } = pair[name]
  const example = exampleName(key)
  const at = selectionText({ anchor: start, focus: Math.max(start, end - 1) })
  if (as.kind === 'recorded')
    return (
      <CardLink
        href={
          example === undefined
            ? `/t/${encodeURIComponent(key)}?at=${at}`
            : `/example/${encodeURIComponent(example)}?at=${at}`
        }
      >
        Show in the inspector
      </CardLink>
    )
  if (as.kind === 'text' || example !== undefined) return null
  return <CardLink href={`/templates?t=${encodeURIComponent(key)}`}>Open the conversation in the template lab</CardLink>
}

const CardLink = ({ href, children }: { readonly href: string; readonly children: ReactNode }) => (
  <Link href={href} className="font-medium text-accent hover:underline">
    {children}
  </Link>
)

/** Moves the focus to the tokens of a new pair if the previous pair contained the focus. */
function useFocusTransfer(root: RefObject<HTMLElement | null>, hadFocus: RefObject<boolean>): void {
  useLayoutEffect(() => {
    const element = root.current
    if (hadFocus.current) element?.querySelector<HTMLElement>('[role=grid]')?.focus({ preventScroll: true })
    hadFocus.current = false
    return () => {
      hadFocus.current = element?.contains(document.activeElement) ?? false
    }
  }, [root, hadFocus])
}
