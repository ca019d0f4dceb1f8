'use client'
/** The page of sessions: a live table, and below it the forest of one session beside the tokens of one of its calls. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { parseAsInteger, parseAsString, useQueryStates } from 'nuqs'
import { useState } from 'react'
import { commandOfKey, executeCommand } from '#components/commands/command.ts'
import { StatusLine } from '#components/commands/status-line.tsx'
import { useStatusMessage } from '#components/commands/use-status-message.ts'
import { useNavigation } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { usePageKeys } from '#components/shell/use-page-keys.ts'
import { keyName } from '#components/token-view/key-name.ts'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import type { SavedSums } from '#lib/api/sessions/savings.ts'
import type { SessionRow } from '#lib/api/sessions/session.ts'
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
import { type CallEntry, callEntries, comparedHref, entryKey, forkedFrom, nodesOfCalls } from './call-texts.ts'
import { SESSION_COMMANDS } from './commands.ts'
import { EmptySessions } from './empty-sessions.tsx'
import { MissingSession } from './missing-session.tsx'
import { reportOutcome } from './report-outcome.ts'
import { savingsParts } from './savings-text.ts'
import { SessionList } from './session-list.tsx'
import { RecordingBar, SessionBar, type SessionPart, SessionParts } from './session-parts.tsx'

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
  const listed = [...(opened.data?.calls ?? []), ...(opened.data?.running ?? [])]
  const nodes = nodesOfCalls(listed)
  const entries = callEntries(listed)
  const entry =
    entries.find(({ call, node }) => (node ? node.node === address.node : call.sequence === address.call)) ??
    entries.at(-1)
  const [part, setPart] = useState<SessionPart>('calls')
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
          <RecordingBar list={list} onPause={pause} onCreate={create} />
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
                <Segmented<SessionPart>
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
            <SessionParts
              id={id ?? ''}
              opened={opened}
              calls={{ entries, nodes, entry }}
              part={part}
              focused={focused}
              onSelect={selectEntry}
            />
          )}
          <StatusLine text={totalsText(sessions ?? [], savings?.total)} message={message} />
        </main>
      )}
    </Shell>
  )
}

const isMissing = (error: Error | null): boolean => error instanceof ApiError && error.code === 'NO_SESSION'

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
