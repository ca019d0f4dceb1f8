'use client'
import { useEffect, useRef } from 'react'
import { countText, percentText, rewardText } from '#components/token-view/numbers.ts'
import { type ColumnHeading, ColumnHeadings } from '#components/ui/table.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { SessionRow } from '#lib/api/sessions/session.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

interface SessionListProps {
  readonly sessions: readonly SessionRow[]
  /** What sessions saved, compared with a chat pipeline. */
  readonly savings: readonly { readonly id: string; readonly drifts: number }[]
  readonly selected: string | undefined
  readonly onSelect: (id: string) => void
}

const WIDE = 'max-md:hidden'
const WIDER = 'max-xl:hidden'

const COLUMNS: readonly ColumnHeading<never>[] = [
  { text: 'Session', className: 'pl-3.5 py-1.5' },
  { text: 'Client', className: WIDE },
  { text: 'Model', className: WIDER },
  { text: 'Started', isNumber: true, className: WIDE },
  { text: 'Calls', isNumber: true },
  { text: 'Tokens', isNumber: true },
  { text: 'Leaves', isNumber: true, className: WIDE },
  {
    text: 'Drift',
    title:
      'Calls whose prompt the server read differently than it was recorded, and the drifts that a chat pipeline would have had',
    isNumber: true,
  },
  { text: 'Parser failures', title: 'Tool calls that could not be parsed', isNumber: true, className: WIDER },
  { text: 'Truncated', title: 'Replies that reached their token limit', isNumber: true, className: WIDER },
  { text: 'Cached', title: 'Share of prompt tokens from the prefix cache', isNumber: true, className: WIDE },
  { text: 'Tokens/s', title: 'Sampled tokens by the time of their calls', isNumber: true, className: WIDER },
  { text: 'Reward', isNumber: true, className: 'pr-3.5' },
]

/** Shows the sessions, the newest first. Rows do not move while they are live. */
export function SessionList({ sessions, savings, selected, onSelect }: SessionListProps) {
  const avoided = new Map(savings.map(({ id, drifts }) => [id, drifts]))
  const table = useRef<HTMLTableElement>(null)
  const isEmpty = sessions.length === 0
  // An address may name a session far down in the list.
  useEffect(() => {
    if (selected === undefined || isEmpty) return
    const row = table.current?.querySelector(`[data-session="${CSS.escape(selected)}"]`)
    row?.scrollIntoView({ block: 'nearest' })
  }, [selected, isEmpty])
  return (
    <table ref={table} aria-label="Sessions" className="w-full border-separate border-spacing-0 text-xs tabular-nums">
      <thead className="sticky top-0 z-1 bg-ground">
        <tr>
          <ColumnHeadings columns={COLUMNS} />
        </tr>
      </thead>
      <tbody>
        {sessions.map((session) => (
          <tr
            key={session.id}
            data-session={session.id}
            data-chosen={session.id === selected || undefined}
            className="cursor-pointer scroll-mt-8 hover:bg-panel data-chosen:bg-accent-soft"
            onClick={() => onSelect(session.id)}
          >
            <Cells session={session} avoided={avoided.get(session.id)} isSelected={session.id === selected} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface CellsProps {
  readonly session: SessionRow
  /** Drifts that a chat pipeline would have had. Undefined: not known. */
  readonly avoided: number | undefined
  readonly isSelected: boolean
}

function Cells({ session, avoided, isSelected }: CellsProps) {
  const { id, client, protocols, mode, model, createdAt, calls, tokens, leaves, drifts } = session
  const { malformedCalls, truncated, cachedShare, tokensPerSecond, reward } = session
  return (
    <>
      <td className={`${CELL} pl-3.5`}>
        <button
          type="button"
          aria-current={isSelected || undefined}
          className="flex min-h-6 max-w-40 scroll-mt-8 items-center gap-2 font-mono sm:max-w-56"
          title={visibleText(id)}
        >
          <SessionLight session={session} />
          <span className="min-w-0 truncate">{visibleText(id)}</span>
        </button>
      </td>
      <td className={`${CELL} ${WIDE} max-w-64 truncate`} title={client === null ? undefined : visibleText(client)}>
        {visibleText(client ?? '—')}{' '}
        <span className="text-dim">{[mode === 'observe' && mode, ...protocols].filter(Boolean).join(' · ')}</span>
      </td>
      <td className={`${CELL} ${WIDER} max-w-48 truncate`} title={model === null ? undefined : visibleText(model)}>
        {visibleText(model ?? '—')}
      </td>
      <td className={`${NUMBER} ${WIDE}`}>{timeOf(createdAt)}</td>
      <td className={NUMBER}>{countText(calls)}</td>
      <td className={NUMBER}>{countText(tokens)}</td>
      <td className={`${NUMBER} ${WIDE}`}>{countText(leaves)}</td>
      <td className={NUMBER}>
        <span className={drifts > 0 ? 'font-medium text-bad' : ''}>{countText(drifts)}</span>
        {avoided !== undefined && avoided > 0 && (
          <span className="text-dim max-md:hidden"> · {countText(avoided)} avoided</span>
        )}
      </td>
      <td className={`${NUMBER} ${WIDER} ${malformedCalls > 0 ? 'text-warn' : ''}`}>{countText(malformedCalls)}</td>
      <td className={`${NUMBER} ${WIDER} ${truncated > 0 ? 'text-warn' : ''}`}>{countText(truncated)}</td>
      <td className={`${NUMBER} ${WIDE}`}>{cachedShare === null ? '—' : percentText(cachedShare)}</td>
      <td className={`${NUMBER} ${WIDER}`}>
        {tokensPerSecond === null ? '—' : countText(Math.round(tokensPerSecond))}
      </td>
      <td className={`${NUMBER} pr-3.5`}>{rewardText(reward)}</td>
    </>
  )
}

const CELL = 'border-line border-b px-2 py-0.5'
const NUMBER = `${CELL} whitespace-nowrap text-right`

/** Shows the state of a session: a filled dot is live, a ring is idle, and red has failed calls or drift. */
function SessionLight({ session: { state, failedCalls, drifts } }: { readonly session: SessionRow }) {
  const hasProblem = failedCalls > 0 || drifts > 0
  const title = `${state}${failedCalls > 0 ? `, ${countWithNoun(failedCalls, 'failed call')}` : ''}${drifts > 0 ? ', drift' : ''}`
  const ink = hasProblem ? 'border-bad' : state === 'live' ? 'border-good' : 'border-line-strong'
  const fill = state === 'live' ? (hasProblem ? 'bg-bad' : 'bg-good') : ''
  return (
    <span
      role="img"
      aria-label={title}
      title={title}
      className={`size-2 shrink-0 forced-color-adjust-none rounded-full border-2 ${ink} ${fill}`}
    />
  )
}

const timeOf = (iso: string): string => new Date(iso).toLocaleTimeString('en-GB')
