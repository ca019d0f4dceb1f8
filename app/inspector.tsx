'use client'
/** The inspector: outline, tokens or another tab, card. What its parts share is made here. */
import dynamic from 'next/dynamic'
import Link from 'next/link'
import { type ReactNode, useState } from 'react'
import { FindBar } from '#components/inspector/find-bar.tsx'
import { HealthStrip } from '#components/inspector/health-strip.tsx'
import { INSPECTOR_TABS, type Inspection, type InspectorTab } from '#components/inspector/inspection.ts'
import { Minimap } from '#components/inspector/minimap.tsx'
import { RangeCard } from '#components/inspector/range-card.tsx'
import { VerifyPanel } from '#components/inspector/verify-panel.tsx'
import { type Folds, NO_FOLDS } from '#components/trajectory/grid-options.ts'
import { heatScale } from '#components/trajectory/heat.ts'
import { HeatBar } from '#components/trajectory/heat-bar.tsx'
import { Origin } from '#components/trajectory/origin.tsx'
import { outcomeText } from '#components/trajectory/outcome-text.ts'
import { Outline } from '#components/trajectory/outline.tsx'
import { RunNotices } from '#components/trajectory/run-notices.tsx'
import { isSingle, single } from '#components/trajectory/selection.ts'
import { TokenCard } from '#components/trajectory/token-card.tsx'
import { TokenGist } from '#components/trajectory/token-gist.tsx'
import { TokenGrid } from '#components/trajectory/token-grid.tsx'
import type { MarkKind, TokenMarks } from '#components/trajectory/token-marks.ts'
import { trajectoryReading } from '#components/trajectory/token-reading.ts'
import { ToolCalls } from '#components/trajectory/tool-calls.tsx'
import { Totals } from '#components/trajectory/totals.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { saveText } from '#lib/client/files.ts'
import { useInspection } from '#lib/client/use-inspection.ts'
import { lacksTexts, takesTokenizer } from '#lib/core/texts.ts'
import { tokenAt } from '#lib/core/tokens.ts'
import type { Span } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { OTHER_TABS, TAB_TITLES } from './inspector-tabs.ts'
import { Panes } from './panes.tsx'
import { useOffers } from './use-offers.ts'
import { useSaid } from './use-said.ts'
import { useViewState } from './view-state.ts'

const TokenizerDialog = dynamic(async () => (await import('./tokenizer-dialog.tsx')).TokenizerDialog)

interface InspectorProps {
  readonly trajectory: TrajectoryView
  readonly storedKey: string | undefined
  readonly labels: ReactNode
  readonly children: ReactNode
}

export function Inspector({ trajectory, storedKey, labels, children }: InspectorProps) {
  const { view, heat, opened, setView, forgetOpened } = useViewState()
  const [isChoosing, setIsChoosing] = useState(false)
  const [pointed, setPointed] = useState<number>()
  const [marks, setMarks] = useState<readonly TokenMarks[]>([])
  const [folds, setFolds] = useState<Folds>(NO_FOLDS)
  const [inSight, setInSight] = useState<Span>()
  const { offer } = useOffers()
  const { said, say } = useSaid()
  const run = useInspection(trajectory)
  const { selection } = view
  const shown = tokenAt(trajectory, selection?.focus ?? pointed ?? -1)
  const ended = outcomeText(trajectory.outcome)
  const scale = heatScale(trajectory.segments)
  const replaceMarks = (kind: MarkKind, ranges: Int32Array) =>
    setMarks((known) => [...known.filter((mark) => mark.kind !== kind), { kind, ranges }])
  const inspection: Inspection = {
    trajectory,
    storedKey,
    view,
    onView: setView,
    onSelect: (chosen, tab) => setView({ selection: chosen, ...(tab && { tab }) }),
    pointed,
    onPointAt: (tokens) => replaceMarks('linked', Int32Array.from(tokens ? [tokens.start, tokens.end] : [])),
    run,
    reading: trajectoryReading(heat, scale),
    marks,
    onMarks: replaceMarks,
    folds,
    onFolds: setFolds,
    inSight,
    offer,
    say,
    onSave: saveText,
  }
  const choose = (index: number) => inspection.onSelect(single(index), 'tokens')
  const OtherTab = view.tab === 'tokens' ? undefined : OTHER_TABS[view.tab]
  const { tokenizer, parser } = trajectory.model
  return (
    <Panes
      names={['Outline', 'Tokens', 'Details']}
      gist={shown && <TokenGist token={shown} vocab={trajectory.vocab} />}
      left={
        <>
          <Heading>Trajectory</Heading>
          <Totals trajectory={trajectory} />
          {labels}
          <Heading>Segments</Heading>
          <Outline trajectory={trajectory} selected={selection?.focus} onSelect={choose} />
          <Heading>Origin</Heading>
          <Origin trajectory={trajectory} />
          {storedKey !== undefined && tokenizer && takesTokenizer(trajectory) && (
            <Button className="mt-2 text-xs" onClick={() => setIsChoosing(true)}>
              Choose another tokenizer …
            </Button>
          )}
          <div className="mt-4">{children}</div>
        </>
      }
      middle={
        <div className="grid h-full grid-rows-[auto_auto_minmax(0,1fr)]">
          <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b px-3.5 py-2">
            <Segmented<InspectorTab>
              label="View"
              value={view.tab}
              onChange={(tab) => setView({ tab })}
              options={INSPECTOR_TABS.map((tab) => ({ value: tab, text: TAB_TITLES[tab] }))}
            />
            {view.tab === 'tokens' && (
              <>
                <HeatBar heat={heat} scale={scale} onChange={(colour) => setView({ colour })} />
                <FindBar inspection={inspection} />
              </>
            )}
          </div>
          <div className="grid gap-px bg-line">
            {opened !== undefined && (
              <Banner
                tone="note"
                title={`The first of ${opened} trajectories in the file that was opened.`}
                hint="All of them are stored."
              >
                <Link href="/library" className="font-medium text-accent underline">
                  Show the library
                </Link>
                <Button onClick={forgetOpened}>Dismiss</Button>
              </Banner>
            )}
            {lacksTexts(trajectory) && (
              <Banner
                tone="note"
                title="The texts of these tokens are not known."
                hint="The file holds ids alone. A tokenizer gives them their texts, think blocks and tool calls."
              >
                {storedKey !== undefined && (
                  <Button look="primary" onClick={() => setIsChoosing(true)}>
                    Choose a tokenizer …
                  </Button>
                )}
              </Banner>
            )}
            {storedKey !== undefined && isChoosing && (
              <TokenizerDialog
                storedKey={storedKey}
                tokenizer={tokenizer?.name}
                parser={parser}
                onClose={() => setIsChoosing(false)}
              />
            )}
            {ended && <Banner tone={ended.tone} title={ended.title} hint={ended.hint} />}
            <RunNotices trajectory={trajectory} />
            <HealthStrip inspection={inspection} />
            {trajectory.outcome.kind === 'running' && (
              <Banner
                tone="note"
                title="This run has not ended."
                hint="What is recorded is shown, and looked for again every two seconds; the playground shows tokens as they come."
              />
            )}
          </div>
          {OtherTab ? (
            <OtherTab inspection={inspection} />
          ) : (
            <div className="grid min-h-0 grid-cols-[minmax(0,1fr)_auto]">
              <TokenGrid
                trajectory={trajectory}
                reading={inspection.reading}
                selection={selection}
                onSelect={inspection.onSelect}
                onPoint={setPointed}
                marks={marks}
                folds={folds}
                onFolds={setFolds}
                onSight={setInSight}
              />
              <Minimap inspection={inspection} />
            </div>
          )}
        </div>
      }
      right={
        <>
          {selection && !isSingle(selection) ? (
            <RangeCard inspection={inspection} />
          ) : shown ? (
            <TokenCard token={shown} vocab={trajectory.vocab} />
          ) : (
            <p className="text-faint text-xs">
              Point at a token to see it here; click to pin it. Arrow keys step, Esc lets go.
            </p>
          )}
          <Heading>Tool calls</Heading>
          <ToolCalls trajectory={trajectory} onSelect={choose} />
          <VerifyPanel inspection={inspection} />
          <p role="status" className="text-dim text-xs">
            {said}
          </p>
        </>
      }
    />
  )
}
