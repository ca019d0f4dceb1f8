'use client'
import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { useEqualRows } from '#components/ui/rows/equal-rows.ts'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import { type ColumnHeading, ColumnHeadings, RowSpace } from '#components/ui/table.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import {
  type AttachmentText,
  attachmentText,
  type CallEntry,
  entryKey,
  messagesText,
  replyText,
  type SessionCallNode,
} from './call-texts.ts'
import { placeOnRails, type RailPlace, railsByRow } from './rails.ts'

interface CallForestProps {
  readonly entries: readonly CallEntry[]
  /** The nodes among them. */
  readonly nodes: readonly SessionCallNode[]
  /** Key of the selected row. */
  readonly selected: string | undefined
  /** The row that a key has selected, which gets the focus. A new object is a new request. */
  readonly focused: { readonly key: string } | undefined
  readonly onSelect: (entry: CallEntry) => void
  /** What follows the last row. */
  readonly children?: ReactNode
}

/** Height of a row in pixels; the rails are drawn behind the rows. */
const ROW = 30
const HEADER = 29
/** Rows mounted above and below the visible ones. */
const MARGIN = 12
/** Distance between rails, and the middle of the first one, in pixels. */
const RAIL = 14
const FIRST = 16
/** Further rails are drawn on the last one, so that the texts keep their room. */
const MOST_RAILS = 8

/** Beside the tokens in a window of medium width, the reply needs the room. */
const MESSAGES = 'max-sm:hidden lg:max-xl:hidden'

const COLUMNS: readonly ColumnHeading<never>[] = [
  { text: 'Attached as' },
  { text: 'Reply', className: 'max-sm:hidden' },
  { text: 'Messages', isNumber: true, className: MESSAGES },
  {
    text: 'Prompt + reply',
    title: 'Tokens of the whole prompt, and sampled tokens',
    isNumber: true,
    className: 'pr-3.5',
  },
]

/** Shows the calls of a session as a forest, the newest at the bottom. Only the visible rows are mounted. */
export function CallForest({ entries, nodes, selected, focused, onSelect, children }: CallForestProps) {
  const places = useMemo(() => railPlaces(entries), [entries])
  const rails = useMemo(() => railsByRow(places), [places])
  const width = FIRST + RAIL * Math.min(MOST_RAILS, 1 + Math.max(0, ...places.map(({ rail }) => rail)))
  const selectedRow = entries.findIndex((entry) => entryKey(entry) === selected)
  const path = pathRows(places, selectedRow)
  const { viewport, first, end, unprinted, reveal } = useEqualRows({
    count: entries.length,
    rowHeight: ROW,
    margin: MARGIN,
    header: HEADER,
    usualHeight: 600,
  })
  const showSelected = useEffectEvent(() => {
    if (selectedRow >= 0) reveal(selectedRow)
  })
  useEffect(() => {
    if (selected !== undefined) showSelected()
  }, [selected])
  const focusedBefore = useRef(focused)
  // The row may be mounted only after the list has scrolled to it.
  useLayoutEffect(() => {
    if (focused === undefined || focused === focusedBefore.current) return
    const button = viewport.current?.querySelector<HTMLElement>(`[data-entry="${focused.key}"] button`)
    if (!button) return
    focusedBefore.current = focused
    button.focus({ preventScroll: true })
  })
  return (
    <div ref={viewport} className="h-full overflow-y-auto">
      <table
        aria-label="Calls"
        aria-rowcount={entries.length + 1}
        className="w-full table-fixed border-separate border-spacing-0 text-xs tabular-nums"
      >
        <colgroup>
          <col style={{ width: width + 34 }} />
          <col className="sm:w-[30%]" />
          <col className="max-sm:hidden" />
          <col className={`w-18 ${MESSAGES}`} />
          <col className="w-28" />
        </colgroup>
        <thead className="sticky top-0 z-1 bg-panel">
          <tr aria-rowindex={1}>
            <th scope="col" className="border-line border-b py-1.5 pl-3.5 text-left font-medium text-dim">
              Call
            </th>
            <ColumnHeadings columns={COLUMNS} />
          </tr>
        </thead>
        <RowSpace height={first * ROW} />
        <tbody>
          {entries.slice(first, end).map((entry, offset) => {
            const { call, node } = entry
            const row = first + offset
            const key = entryKey(entry)
            const isSelected = key === selected
            const choice = node?.choice ?? 0
            return (
              <tr
                key={key}
                aria-rowindex={row + 2}
                data-entry={key}
                data-chosen={isSelected || undefined}
                className="cursor-pointer hover:bg-raised data-chosen:bg-accent-soft"
                style={{ height: ROW }}
                onClick={() => onSelect(entry)}
              >
                <td className="relative p-0">
                  <Rails places={places} rails={rails[row] ?? []} row={row} path={path} status={node?.status} />
                  <button
                    type="button"
                    aria-current={isSelected || undefined}
                    aria-label={`Call ${call.sequence}${choice > 0 ? `, reply ${choice + 1}` : ''}`}
                    className="absolute inset-0 pr-1.5 text-right"
                  >
                    {call.sequence}
                    {choice > 0 && <sub>{choice + 1}</sub>}
                  </button>
                </td>
                <td className="truncate px-2">
                  <Attached text={attachmentText(call, nodes)} />
                </td>
                <td className={`truncate px-2 max-sm:hidden ${node && isWhole(node) ? 'text-dim' : 'text-bad'}`}>
                  {call.accepted.length > 0 && (
                    <span
                      className="mr-1.5 rounded-full border border-line bg-raised px-1.5"
                      title={call.accepted.map(({ rule, message }) => `${rule}, from message ${message}`).join('; ')}
                    >
                      accepted
                    </span>
                  )}
                  {visibleText(replyText(entry))}
                </td>
                <td className={`whitespace-nowrap px-2 text-right text-dim ${MESSAGES}`}>{messagesText(call)}</td>
                <td className="whitespace-nowrap px-2 pr-3.5 text-right">
                  {node ? `${countText(node.start + node.prompt)} + ${countText(node.reply)}` : '—'}
                </td>
              </tr>
            )
          })}
        </tbody>
        <RowSpace height={(entries.length - end) * ROW} />
      </table>
      <UnprintedRows count={unprinted} />
      {children}
    </div>
  )
}

const INKS: Readonly<Record<AttachmentText['tone'], string>> = {
  quiet: 'text-dim',
  note: 'font-medium text-warn',
  bad: 'font-medium text-bad',
  root: 'font-medium text-accent',
}

const Attached = ({ text: { kind, detail, tone } }: { readonly text: AttachmentText }) => (
  <>
    <span className={INKS[tone]}>{kind}</span> <span className="text-dim">{detail}</span>
  </>
)

/** Returns whether nothing is wrong with a reply, as far as it is known. */
const isWhole = ({ status }: Pick<SessionCallNode['node'], 'status'>): boolean =>
  status === 'complete' || status === 'running'

function railPlaces(entries: readonly CallEntry[]): readonly RailPlace[] {
  const rows = new Map(entries.flatMap(({ node }, row) => (node ? [[node.node, row] as const] : [])))
  return placeOnRails(entries.map(({ node }) => (node?.parent == null ? undefined : rows.get(node.parent))))
}

/** Returns the rows of the path to a row. */
function pathRows(places: readonly RailPlace[], end: number): ReadonlySet<number> {
  const rows = new Set<number>()
  for (let at = places[end] ? end : undefined; at !== undefined; at = places[at]?.parent) rows.add(at)
  return rows
}

interface RailsProps {
  readonly places: readonly RailPlace[]
  /** Nodes whose rails are in the row. */
  readonly rails: readonly number[]
  readonly row: number
  readonly path: ReadonlySet<number>
  /** Undefined: the call has no place in the forest, and its ring is on no rail. */
  readonly status: SessionCallNode['node']['status'] | undefined
}

const xOf = (rail: number): number => FIRST + RAIL * Math.min(rail, MOST_RAILS - 1)

/** Draws the rails of one row: those that pass it, the one that leads to its node, and the node. */
function Rails({ places, rails, row, path, status }: RailsProps) {
  const place = places[row]
  if (!place) return null
  const isRoot = place.parent === undefined
  const isOnPath = path.has(row)
  /** Rails beyond the last one have equal shapes, which are drawn once. The value says whether one of them is on the path. */
  const lines = new Map<string, boolean>()
  for (const child of rails) {
    const { rail, parent } = places[child] ?? place
    if (parent === undefined) continue
    const x = xOf(rail)
    const isPath = path.has(child) && path.has(parent)
    // A rail leaves its parent in the row of the parent, passes rows, and ends at the node.
    const from = xOf(places[parent]?.rail ?? 0)
    const shape =
      parent === row
        ? `M ${from} ${ROW / 2} C ${from} ${ROW - 3} ${x} ${ROW / 2 + 3} ${x} ${ROW}`
        : `M ${x} 0 V ${child === row ? ROW / 2 : ROW}`
    lines.set(shape, isPath || (lines.get(shape) ?? false))
  }
  return (
    <svg
      aria-hidden
      className="pointer-events-none absolute inset-y-0 left-0 h-full overflow-visible"
      width={xOf(MOST_RAILS)}
      viewBox={`0 0 ${xOf(MOST_RAILS)} ${ROW}`}
      preserveAspectRatio="none"
    >
      {[...lines].map(([shape, isPath]) => (
        <path
          key={shape}
          d={shape}
          fill="none"
          strokeWidth={isPath ? 2 : 1.25}
          stroke={isPath ? 'var(--accent)' : 'var(--line-strong)'}
        />
      ))}
      <circle
        cx={xOf(place.rail)}
        cy={ROW / 2}
        r={4}
        strokeWidth={1.5}
        stroke={status && isWhole({ status }) ? (isOnPath ? 'var(--accent)' : 'var(--ink)') : 'var(--bad)'}
        fill={fillOf(status !== undefined && isRoot, status !== undefined && status !== 'running' && isOnPath)}
      />
    </svg>
  )
}

function fillOf(isRoot: boolean, isOnPath: boolean): string {
  if (isOnPath) return 'var(--accent)'
  return isRoot ? 'var(--ink)' : 'var(--panel)'
}
