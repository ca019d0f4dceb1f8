'use client'
/** The inspector of an offline page: outline, tokens, card and find, made of the application's components. */
import { SlidersHorizontal } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { TokenViewButtons } from '#components/commands/token-view-buttons.tsx'
import { FindBar } from '#components/inspector/find/find-bar.tsx'
import { NoteList } from '#components/inspector/notes/note-list.tsx'
import { RangeCard } from '#components/inspector/selection/range-card.tsx'
import { selectionStatus } from '#components/inspector/selection/selection-status.ts'
import { TokenCard } from '#components/token-view/card/token-card.tsx'
import { TokenSummaryLine } from '#components/token-view/card/token-summary-line.tsx'
import { ColourBar } from '#components/token-view/colour/colour-bar.tsx'
import { DEFAULT_GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import { Origin } from '#components/token-view/overview/origin.tsx'
import { Outline } from '#components/token-view/overview/outline.tsx'
import { RunNotices } from '#components/token-view/overview/run-notices.tsx'
import { ToolCalls } from '#components/token-view/overview/tool-calls.tsx'
import { TrajectoryTotals } from '#components/token-view/overview/totals.tsx'
import { isSingle, single } from '#components/token-view/selection.ts'
import { markKindsOf } from '#components/token-view/token-marks.ts'
import type { OfflineViewState as SavedView } from '#lib/share/offline/document.ts'
import { sortTokenNotes } from '#lib/trajectory/format/token-notes.ts'
import { tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { StatusLine } from '../commands/status-line.tsx'
import { TokenStage } from '../inspector/token-stage.tsx'
import { Heading } from '../ui/facts.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { type Pane, Panes } from '../ui/panes.tsx'
import type { PopoverControl } from '../ui/popover.tsx'
import { visibleText } from '../ui/visible-text.ts'
import { useOfflineInspection } from './use-offline-inspection.ts'

interface OfflineViewProps {
  readonly trajectory: TrajectoryView
  readonly view: SavedView
}

/** Shows a trajectory in the view in which the page was saved. */
export function OfflineView({ trajectory, view: saved }: OfflineViewProps) {
  const [pane, setPane] = useState<Pane>('middle')
  const {
    inspection,
    offers,
    said: message,
    onPoint,
    onVisible,
  } = useOfflineInspection(trajectory, saved, () => setPane('middle'))
  const [options, setOptions] = useState(DEFAULT_GRID_OPTIONS)
  const [hasTools, setHasTools] = useState(false)
  const legend = useRef<PopoverControl>(null)
  const [recent, setRecent] = useState<readonly string[]>([])
  const { view, onView, onSelect } = inspection
  const { selection } = view
  const token = tokenAt(trajectory, selection?.focus ?? inspection.pointed ?? -1)
  const drift = inspection.marks.find(({ kind }) => kind === 'drift')
  const choose = (index: number) => onSelect(single(index), 'tokens')
  const toggleLegend = () => legend.current?.toggle()
  /** The same keys as in the application. */
  const keys: Readonly<Record<string, (() => void) | undefined>> = {
    '/': offers.find,
    n: offers['next-hit'],
    p: offers['previous-hit'],
    L: toggleLegend,
    b: () => setOptions({ ...options, showsBoundaries: !options.showsBoundaries }),
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    // Single letters are keys only while the tokens have the focus.
    const isInTokens = event.target instanceof Element && event.target.closest('[role="grid"]') !== null
    const run = isInTokens ? keys[event.key] : undefined
    if (!run) return
    event.preventDefault()
    run()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handler serves the grid inside
    <div className="grid h-dvh grid-rows-[auto_minmax(0,1fr)]" onKeyDown={onKeyDown}>
      <header className="flex items-center gap-x-4 border-line border-b px-3.5 py-1.5">
        <h1 className="min-w-0 font-semibold text-[15px] [overflow-wrap:anywhere]">
          {visibleText(trajectory.title ?? `Trajectory ${trajectory.id}`)}
        </h1>
        <span className="ml-auto text-faint text-xs max-sm:hidden">saved by Rollscope · works without a network</span>
        <span className="flex shrink-0 items-center gap-1 max-sm:ml-auto">
          <span className="lg:hidden">
            <IconButton label="Colours and find" isPressed={hasTools} onClick={() => setHasTools(!hasTools)}>
              <SlidersHorizontal size={15} aria-hidden />
            </IconButton>
          </span>
          <TokenViewButtons
            legend={legend}
            shown={{
              view: 'inspector',
              trajectories: [trajectory],
              markKinds: markKindsOf(inspection.marks),
              isSelected: selection !== undefined,
            }}
            folding={inspection}
            options={options}
            onOptions={setOptions}
          />
        </span>
      </header>
      <Panes
        shown={pane}
        onShow={setPane}
        names={['Outline', 'Tokens', 'Details']}
        gist={token && <TokenSummaryLine token={token} vocab={trajectory.vocab} />}
        left={
          <>
            <Heading>Trajectory</Heading>
            <TrajectoryTotals trajectory={trajectory} driftSpans={drift && drift.ranges.length / 2} />
            <Heading>Segments</Heading>
            <Outline
              trajectory={trajectory}
              selected={selection?.focus}
              inSight={inspection.inSight}
              folds={inspection.folds}
              onSelect={choose}
            />
            <NoteList
              notes={sortTokenNotes(trajectory.notes ?? [])}
              selection={selection}
              onShow={(range) => onSelect(range, 'tokens')}
              actions={undefined}
            />
            <Labels trajectory={trajectory} />
            <Heading>Origin</Heading>
            <Origin trajectory={trajectory} />
          </>
        }
        middle={
          <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)_auto]">
            <div>
              <div
                className={`flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b px-3.5 py-1.5 ${hasTools ? '' : 'max-lg:hidden'}`}
              >
                <ColourBar trajectory={trajectory} colouring={inspection.colouring} onChange={onView} />
                <FindBar inspection={inspection} recent={recent} onRecent={setRecent} />
              </div>
              <RunNotices trajectory={trajectory} />
            </div>
            <TokenStage inspection={inspection} options={options} onPoint={onPoint} onVisible={onVisible} />
            <StatusLine text={selectionStatus(inspection.view.selection, tokenCount(trajectory))} message={message} />
          </div>
        }
        right={
          <>
            {selection && !isSingle(selection) ? (
              <RangeCard inspection={inspection} />
            ) : token ? (
              <TokenCard trajectory={trajectory} token={token} state={selection ? 'pinned' : 'pointed'} />
            ) : (
              <p className="text-faint text-xs">
                Point at a token to see it here; click to pin it, drag to select several. Arrow keys move, Esc clears
                the selection.
              </p>
            )}
            <Heading>Tool calls</Heading>
            <ToolCalls trajectory={trajectory} onSelect={choose} />
          </>
        }
      />
    </div>
  )
}

function Labels({ trajectory: { tags = [], note, reward } }: { readonly trajectory: TrajectoryView }) {
  if (tags.length === 0 && note === undefined && reward === undefined) return null
  return (
    <>
      <Heading>Labels</Heading>
      <div className="grid gap-1 text-dim text-xs [overflow-wrap:anywhere]">
        {tags.length > 0 && <p>{visibleText(tags.join(', '))}</p>}
        {reward !== undefined && <p>reward {reward ?? 'not a number'}</p>}
        {note !== undefined && <p className="whitespace-pre-wrap">{visibleText(note)}</p>}
      </div>
    </>
  )
}
