'use client'
/** The parts of the page of sessions: the line above the list, the line of one session, and its forest beside the tokens of a call. */
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { AUTO_SESSION, type SessionAnswer, type SessionListAnswer, type SessionRow } from '#lib/api/sessions/session.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { type CallEntry, entryKey, forestText, type SessionCallNode } from './call-texts.ts'
import { ExportLeaves, type PickerName } from './export-leaves.tsx'
import { RewardField } from './reward-field.tsx'
import { SavingsLine } from './savings-line.tsx'
import { SetupLine } from './setup-line.tsx'

// These are most of the code of this page, and a list without calls does not need them.
const CallForest = lazyPart(async () => (await import('./call-forest.tsx')).CallForest)
const CallTokens = lazyPart(async () => (await import('./call-tokens.tsx')).CallTokens)

interface RecordingBarProps {
  /** undefined while it is loaded. */
  readonly list: SessionListAnswer | undefined
  readonly onPause: (isPaused: boolean) => void
  readonly onCreate: () => void
}

/** Shows how a client is set up, how many sessions are live, and the buttons that pause recording and create a session. */
export function RecordingBar({ list, onPause, onCreate }: RecordingBarProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-b px-3.5 py-2 xl:flex-nowrap">
      {list ? (
        <SetupLine sessionId={AUTO_SESSION} label="Point any client here" />
      ) : (
        // A narrow window shows it in two lines.
        <div className="max-sm:h-17.5 max-sm:w-full" />
      )}
      <span className="ml-auto flex shrink-0 items-center gap-2">
        {list && <LiveCount sessions={list.sessions} />}
        {list && (
          <Button className="text-xs" onClick={() => onPause(!list.isPaused)}>
            {list.isPaused ? 'Resume recording' : 'Pause recording'}
          </Button>
        )}
        <Button look="primary" className="text-xs" onClick={onCreate}>
          New session
        </Button>
      </span>
    </div>
  )
}

interface SessionBarProps {
  readonly session: SessionRow | undefined
  readonly nodes: readonly SessionCallNode[]
  readonly error: Error | null
  readonly onMessage: (message: string) => void
  readonly children: ReactNode
}

/** Shows a session with its savings, its reward and its export. */
export function SessionBar({ session, nodes, error, onMessage, children }: SessionBarProps) {
  const [picker, setPicker] = useState<PickerName>('all')
  if (error) return <Banner tone="bad" title={error.message} hint={hintOf(error)} />
  // A narrow window shows the bar in four lines.
  if (!session) return <div className="h-12 border-line border-b max-sm:h-36" />
  const { id, mode, drifts } = session
  return (
    <div className="-mt-px flex flex-wrap items-center gap-x-3 gap-y-1.5 border-line border-y px-3.5 py-1.5">
      <span className="font-mono text-xs [overflow-wrap:anywhere]">{visibleText(id)}</span>
      <span className="rounded-full bg-accent-soft px-2 text-xs">{mode}</span>
      {children}
      {mode === 'tito' ? (
        <SavingsLine session={session} nodes={nodes} picker={picker} />
      ) : (
        <span className="font-medium text-xs">{countWithNoun(drifts, 'call')} with live drift</span>
      )}
      <span className="ml-auto flex flex-wrap items-center gap-2">
        <RewardField key={id} session={session} onMessage={onMessage} />
        <ExportLeaves session={session} picker={picker} onPicker={setPicker} onMessage={onMessage} />
      </span>
    </div>
  )
}

/** Shows how many sessions are live. */
function LiveCount({ sessions }: { readonly sessions: readonly SessionRow[] }) {
  const live = sessions.filter(({ state }) => state === 'live').length
  return (
    <span className="flex items-center gap-1.5 whitespace-nowrap text-dim text-xs max-sm:hidden">
      <span
        className={`size-2 forced-color-adjust-none rounded-full ${live > 0 ? 'bg-good' : 'border border-line-strong'}`}
      />
      {countText(live)} live
    </span>
  )
}

/** The part that a narrow window shows. */
export type SessionPart = 'calls' | 'tokens'

interface SessionPartsProps {
  readonly id: string
  readonly opened: Pick<UseQueryResult<SessionAnswer>, 'data' | 'isPending'>
  readonly calls: {
    readonly entries: readonly CallEntry[]
    readonly nodes: readonly SessionCallNode[]
    /** The call whose tokens are shown; undefined if there is none. */
    readonly entry: CallEntry | undefined
  }
  readonly part: SessionPart
  /** The call that was chosen by keyboard. */
  readonly focused: { readonly key: string } | undefined
  readonly onSelect: (entry: CallEntry) => void
}

/** Shows the forest of a session beside the tokens of one of its calls. */
export function SessionParts({ id, opened, calls, part, focused, onSelect }: SessionPartsProps) {
  const { entries, nodes, entry } = calls
  return (
    <div className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)] lg:grid-cols-[minmax(0,43%)_minmax(0,1fr)]">
      <section
        aria-label="Forest"
        className={`min-h-0 bg-panel lg:block lg:border-line lg:border-r ${part === 'calls' ? '' : 'hidden'}`}
      >
        {/* The rails have widths of their own, and the policy of the page allows none in the HTML of the server. */}
        {entry && opened.data && (
          <CallForest
            key={id}
            entries={entries}
            nodes={nodes}
            selected={entryKey(entry)}
            focused={focused}
            onSelect={onSelect}
          >
            <p className="flex flex-wrap gap-x-4 px-3.5 py-2.5 text-dim text-xs">
              {forestText(opened.data.calls, opened.data.session.leaves).map((text) => (
                <span key={text}>{text}</span>
              ))}
            </p>
          </CallForest>
        )}
      </section>
      <section aria-label="Tokens" className={`min-h-0 min-w-0 lg:block ${part === 'tokens' ? '' : 'hidden'}`}>
        {entry ? (
          <CallTokens sessionId={id} entry={entry} nodes={nodes} />
        ) : opened.data ? (
          <div className="grid gap-3 p-3.5">
            <p className="text-dim">No call yet. A client with this setting calls this session:</p>
            <SetupLine sessionId={opened.data.session.id} />
          </div>
        ) : (
          <p className="p-3.5 text-faint text-sm">{opened.isPending && 'Loading…'}</p>
        )}
      </section>
    </div>
  )
}
