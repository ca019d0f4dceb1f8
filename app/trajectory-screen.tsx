'use client'
/** One trajectory by itself: outline, tokens, card. */
import { useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import Link from 'next/link'
import { type ReactNode, useState } from 'react'
import { LabelsForm } from '#components/library/labels-form.tsx'
import { heatScale } from '#components/trajectory/heat.ts'
import { HeatBar } from '#components/trajectory/heat-bar.tsx'
import { Origin } from '#components/trajectory/origin.tsx'
import { outcomeText } from '#components/trajectory/outcome-text.ts'
import { Outline } from '#components/trajectory/outline.tsx'
import { RunNotices } from '#components/trajectory/run-notices.tsx'
import { TokenCard } from '#components/trajectory/token-card.tsx'
import { TokenGist } from '#components/trajectory/token-gist.tsx'
import { TokenGrid } from '#components/trajectory/token-grid.tsx'
import { trajectoryReading } from '#components/trajectory/token-reading.ts'
import { ToolCalls } from '#components/trajectory/tool-calls.tsx'
import { Totals } from '#components/trajectory/totals.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { ApiError } from '#lib/client/api.ts'
import { choicesOptions } from '#lib/client/library.ts'
import { exampleOptions, trajectoryOptions } from '#lib/client/queries.ts'
import { useLibrary } from '#lib/client/use-library.ts'
import { lacksTexts, takesTokenizer } from '#lib/core/texts.ts'
import { tokenAt } from '#lib/core/tokens.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { Panes } from './panes.tsx'
import { Shell } from './shell.tsx'
import { useViewState } from './view-state.ts'

const TokenizerDialog = dynamic(async () => (await import('./tokenizer-dialog.tsx')).TokenizerDialog)

/** One that is being written is read again this often; the playground follows it token by token. */
const POLL_RUNNING_MS = 2_000

export function StoredScreen({ storedKey }: { readonly storedKey: string }) {
  const { data, error } = useQuery({
    ...trajectoryOptions(storedKey),
    refetchInterval: ({ state }) => (state.data?.outcome.kind === 'running' ? POLL_RUNNING_MS : false),
  })
  const { data: choices } = useQuery(choicesOptions())
  const library = useLibrary()
  const { tags = [], title = null, note = null, reward = null } = data ?? {}
  return (
    <TrajectoryScreen
      trajectory={data}
      storedKey={storedKey}
      error={error}
      remedy={
        error instanceof ApiError &&
        error.code === 'DELETED' && <Button onClick={() => library.restore([storedKey])}>Restore</Button>
      }
      labels={
        <>
          <Heading>Labels</Heading>
          <LabelsForm
            key={storedKey}
            labels={{ title, tags, note, reward }}
            question="none"
            knownTags={choices?.tags.map(({ tag }) => tag) ?? []}
            onChange={(change) => library.label(storedKey, change)}
          />
        </>
      }
    >
      <p className="grid justify-items-start gap-1.5">
        {data?.model.tokenizer && data.model.template && (
          <Link href={`/?t=${encodeURIComponent(storedKey)}`} className="font-medium text-accent hover:underline">
            Continue in the playground
          </Link>
        )}
        {data && (
          <Link
            href={`/templates?t=${encodeURIComponent(storedKey)}`}
            className="font-medium text-accent hover:underline"
          >
            Open in the template lab
          </Link>
        )}
      </p>
    </TrajectoryScreen>
  )
}

export function ExampleScreen({ name }: { readonly name: string }) {
  const { data, error } = useQuery(exampleOptions(name))
  return (
    <TrajectoryScreen
      trajectory={data}
      storedKey={undefined}
      error={error}
      labels={
        <>
          <Heading>About</Heading>
          {data?.title !== undefined && <p className="mb-1 font-medium [overflow-wrap:anywhere]">{data.title}</p>}
          {data?.note !== undefined && <p className="text-dim text-xs [overflow-wrap:anywhere]">{data.note}</p>}
        </>
      }
    />
  )
}

interface TrajectoryScreenProps {
  readonly trajectory: Trajectory | undefined
  /** Undefined for one that is not stored. */
  readonly storedKey: string | undefined
  readonly error: Error | null
  /** Title, tags, note and reward: as text, or to be changed. */
  readonly labels: ReactNode
  /** What can be done about the error. */
  readonly remedy?: ReactNode
  /** What can be done with this one, besides looking. */
  readonly children?: ReactNode
}

function TrajectoryScreen({ trajectory, storedKey, error, labels, remedy, children }: TrajectoryScreenProps) {
  return (
    <Shell title="Trajectory" trajectory={trajectory}>
      {trajectory ? (
        <Inspector trajectory={trajectory} storedKey={storedKey} labels={labels}>
          {children}
        </Inspector>
      ) : (
        <main className="p-4">
          {error ? (
            <Banner tone="bad" title={error.message} hint={error instanceof ApiError ? error.hint : undefined}>
              {remedy}
            </Banner>
          ) : (
            <p className="text-faint" role="status">
              Loading …
            </p>
          )}
        </main>
      )}
    </Shell>
  )
}

interface InspectorProps {
  readonly trajectory: Trajectory
  readonly storedKey: string | undefined
  readonly labels: ReactNode
  readonly children: ReactNode
}

function Inspector({ trajectory, storedKey, labels, children }: InspectorProps) {
  const { selected, heat, opened, setSelected, setHeat, forgetOpened } = useViewState()
  const [isChoosing, setIsChoosing] = useState(false)
  const [pointed, setPointed] = useState<number>()
  const shown = tokenAt(trajectory, selected ?? pointed ?? -1)
  const ended = outcomeText(trajectory.outcome)
  const scale = heatScale(trajectory.segments)
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
          <Outline trajectory={trajectory} selected={selected} onSelect={setSelected} />
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
          <div className="border-line border-b px-3.5 py-2">
            <HeatBar heat={heat} scale={scale} onChange={setHeat} />
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
            {trajectory.outcome.kind === 'running' && (
              <Banner
                tone="note"
                title="This run has not ended."
                hint="What is recorded is shown, and looked for again every two seconds; the playground shows tokens as they come."
              />
            )}
          </div>
          <TokenGrid
            trajectory={trajectory}
            reading={trajectoryReading(heat, scale)}
            selected={selected}
            onSelect={setSelected}
            onPoint={setPointed}
          />
        </div>
      }
      right={
        <>
          {shown ? (
            <TokenCard token={shown} vocab={trajectory.vocab} />
          ) : (
            <p className="text-faint text-xs">
              Point at a token to see it here; click to pin it. Arrow keys step, Esc lets go.
            </p>
          )}
          <Heading>Tool calls</Heading>
          <ToolCalls trajectory={trajectory} onSelect={setSelected} />
        </>
      }
    />
  )
}
