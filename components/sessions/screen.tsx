'use client'
/** The page of sessions: a live table, and below it the forest of one session beside the tokens of one of its calls. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { parseAsInteger, parseAsString, useQueryStates } from 'nuqs'
import { type ReactNode, useState } from 'react'
import { commandOfKey, executeCommand } from '#components/commands/command.ts'
import { StatusLine } from '#components/commands/status-line.tsx'
import { useStatusMessage } from '#components/commands/use-status-message.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useNavigation } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { usePageKeys } from '#components/shell/use-page-keys.ts'
import { keyName } from '#components/token-view/key-name.ts'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { SavedSums } from '#lib/api/sessions/savings.ts'
import { AUTO_SESSION, type SessionRow } from '#lib/api/sessions/session.ts'
import { ApiError } from '#lib/browser/api.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import {
  allSavingsOptions,
  createSession,
  pauseRecording,
  SESSIONS,
  sessionOptions,
  sessionsOptions,
} from '#lib/browser/sessions/sessions.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { CallForest } from './call-forest.tsx'
import {
  type CallEntry,
  callEntries,
  comparedHref,
  entryKey,
  forestText,
  forkedFrom,
  nodesOfCalls,
  type SessionCallNode,
} from './call-texts.ts'
import { SESSION_COMMANDS } from './commands.ts'
import { EmptySessions } from './empty-sessions.tsx'
import { ExportLeaves, type PickerName } from './export-leaves.tsx'
import { MissingSession } from './missing-session.tsx'
import { reportOutcome } from './report-outcome.ts'
import { RewardField } from './reward-field.tsx'
import { SavingsLine } from './savings-line.tsx'
import { savingsParts } from './savings-text.ts'
import { SessionList } from './session-list.tsx'
import { SetupLine } from './setup-line.tsx'

// The token view is most of the code of this page, and a list without calls does not need it.
const CallTokens = lazyPart(async () => (await import('./call-tokens.tsx')).CallTokens)

type Part = 'calls' | 'tokens'

/** The page /sessions. */
export function SessionsScreen() {
  const [address, setAddress] = useQueryStates(
    { session: parseAsString, node: parseAsInteger, call: parseAsInteger },
    { history: 'replace' },
  )
  const { data: list, error } = useQuery(sessionsOptions())
  const sessions = list?.sessions
  /** The height of the list decides where the parts below it are, so they wait for it. */
  const isListing = !sessions && !error
  const { data: savings } = useQuery(allSavingsOptions())
  const id = address.session ?? sessions?.[0]?.id
  const opened = useQuery(sessionOptions(id))
  const calls = opened.data?.calls ?? []
  const listed = [...calls, ...(opened.data?.running ?? [])]
  const nodes = nodesOfCalls(listed)
  const entries = callEntries(listed)
  const entry =
    entries.find(({ call, node }) => (node ? node.node === address.node : call.sequence === address.call)) ??
    entries.at(-1)
  const [part, setPart] = useState<Part>('calls')
  const [focused, setFocused] = useState<{ readonly key: string }>()
  const { message, say } = useStatusMessage()
  const { go } = useNavigation()
  const client = useQueryClient()
  const select = (session: string) => setAddress({ session, node: null, call: null })
  const setEntry = ({ call, node }: CallEntry) =>
    setAddress({ node: node?.node ?? null, call: node ? null : call.sequence })
  const selectEntry = (selected: CallEntry) => {
    setEntry(selected)
    setPart('tokens')
  }
  const create = () =>
    reportOutcome(async () => {
      const created = await createSession()
      await client.invalidateQueries({ queryKey: SESSIONS })
      select(created)
      return `Session ${created} is ready: point a client to it.`
    }, say)
  const pause = (isPaused: boolean) =>
    reportOutcome(async () => {
      await pauseRecording(isPaused)
      await client.invalidateQueries({ queryKey: SESSIONS })
      return isPaused ? 'Recording is paused.' : 'Calls are recorded again.'
    }, say)
  const stepSession = (step: 1 | -1) => {
    const at = sessions?.findIndex((session) => session.id === id) ?? -1
    const next = sessions?.[at + step]
    if (!next) return
    select(next.id)
    document.querySelector<HTMLElement>(`[data-session="${CSS.escape(next.id)}"] button`)?.focus()
  }
  const stepCall = (step: 1 | -1) => {
    const next = entry && entries[entries.indexOf(entry) + step]
    if (!next) return
    setEntry(next)
    setFocused({ key: entryKey(next) })
  }
  const compared = entry && comparedHref(entry, forkedFrom(entry.call, nodes))
  usePageKeys((event) => {
    const command = commandOfKey(SESSION_COMMANDS, keyName(event))
    if (!command || event.defaultPrevented) return
    event.preventDefault()
    const compare = compared === undefined ? undefined : () => void go(compared)
    executeCommand(command, { stepSession, stepCall, compare }, say)
  })
  const missing = address.session !== null && isMissing(opened.error) && (
    <MissingSession id={address.session} wasShown={opened.data !== undefined} />
  )
  return (
    <Shell title="Sessions" trajectory={undefined}>
      {sessions && sessions.length === 0 ? (
        <main className="grid min-h-0 content-start overflow-y-auto">
          {missing}
          <EmptySessions />
        </main>
      ) : (
        <main className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_fit-content(22%)_auto_minmax(0,1fr)_auto] lg:grid-rows-[auto_fit-content(38%)_auto_minmax(0,1fr)_auto] print:block max-lg:[@media(max-height:600px)]:grid-rows-[auto_92px_auto_minmax(220px,1fr)_auto] max-lg:[@media(max-height:600px)]:overflow-y-auto">
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-b px-3.5 py-2 xl:flex-nowrap">
            {sessions ? (
              <SetupLine sessionId={AUTO_SESSION} label="Point any client here" />
            ) : (
              // A narrow window shows it in two lines.
              <div className="max-sm:h-17.5 max-sm:w-full" />
            )}
            <span className="ml-auto flex shrink-0 items-center gap-2">
              {sessions && <LiveCount sessions={sessions} />}
              {list && (
                <Button className="text-xs" onClick={() => pause(!list.isPaused)}>
                  {list.isPaused ? 'Resume recording' : 'Pause recording'}
                </Button>
              )}
              <Button look="primary" className="text-xs" onClick={create}>
                New session
              </Button>
            </span>
          </div>
          <div className="min-h-0 overflow-y-auto" aria-busy={sessions === undefined}>
            {list?.isPaused && <Banner tone="note" title="Recording is paused: calls pass through." />}
            {error && <Banner tone="bad" title={error.message} hint={hintOf(error)} />}
            {isListing ? (
              <p className="p-3.5 text-faint text-sm">Loading…</p>
            ) : (
              <SessionList
                sessions={sessions ?? []}
                savings={savings?.sessions ?? []}
                selected={missing ? undefined : id}
                onSelect={select}
              />
            )}
          </div>
          {missing || isListing ? (
            <div>{missing}</div>
          ) : (
            <SessionBar session={opened.data?.session} nodes={nodes} error={opened.error} onMessage={say}>
              <span className="ml-auto lg:hidden">
                <Segmented<Part>
                  label="Part"
                  value={part}
                  onChange={setPart}
                  options={[
                    { value: 'calls', text: 'Calls' },
                    { value: 'tokens', text: 'Tokens' },
                  ]}
                />
              </span>
            </SessionBar>
          )}
          {missing || isListing ? (
            <div />
          ) : (
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
                    onSelect={selectEntry}
                  >
                    <p className="flex flex-wrap gap-x-4 px-3.5 py-2.5 text-dim text-xs">
                      {forestText(calls, opened.data.session.leaves).map((text) => (
                        <span key={text}>{text}</span>
                      ))}
                    </p>
                  </CallForest>
                )}
              </section>
              <section aria-label="Tokens" className={`min-h-0 min-w-0 lg:block ${part === 'tokens' ? '' : 'hidden'}`}>
                {entry ? (
                  <CallTokens sessionId={id ?? ''} entry={entry} nodes={nodes} />
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
          )}
          <StatusLine text={totalsText(sessions ?? [], savings?.total)} message={message} />
        </main>
      )}
    </Shell>
  )
}

const isMissing = (error: Error | null): boolean => error instanceof ApiError && error.code === 'NO_SESSION'

interface SessionBarProps {
  readonly session: SessionRow | undefined
  readonly nodes: readonly SessionCallNode[]
  readonly error: Error | null
  readonly onMessage: (message: string) => void
  readonly children: ReactNode
}

function SessionBar({ session, nodes, error, onMessage, children }: SessionBarProps) {
  const [picker, setPicker] = useState<PickerName>('all')
  if (error) return <Banner tone="bad" title={error.message} hint={hintOf(error)} />
  if (!session) return <div className="h-12 border-line border-b" />
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

function totalsText(sessions: readonly SessionRow[], saved: SavedSums | undefined): string {
  const sum = (numberOf: (session: SessionRow) => number) => sessions.reduce((total, one) => total + numberOf(one), 0)
  return [
    countWithNoun(sessions.length, 'session'),
    countWithNoun(
      sum(({ calls }) => calls),
      'call',
    ),
    `${countText(sum(({ tokens }) => tokens))} tokens`,
    ...(saved ? savingsParts(saved, saved.leaves) : []),
    'j k session · ↑ ↓ call · c compare the fork',
  ].join(' · ')
}
