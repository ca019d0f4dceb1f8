'use client'
/** A page of the library as a table. Arrow keys move between rows by focusing their titles. A group is a row that can be expanded. */
import { ChevronRight, CircleDashed, Equal, Pencil, ScanSearch } from 'lucide-react'
import type { KeyboardEvent, MouseEvent, ReactNode } from 'react'
import { groupTreeHref } from '#components/shell/hrefs.ts'
import {
  flatText,
  outcomeInk,
  rewardsText,
  titleText,
  trajectorySourceText,
} from '#components/shell/trajectory-rows/row-texts.ts'
import { countText, decimalText, rewardText } from '#components/token-view/numbers.ts'
import { MissingMark } from '#components/token-view/overview/missing-badges.tsx'
import { Breakable, type ColumnHeading, ColumnHeadings, SelectBox } from '#components/ui/table.tsx'
import type { ListSort, TrajectorySummary } from '#lib/api/library.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { timeText, whenText } from '#lib/util/text/times.ts'
import { HealthMarks } from '../health-marks.tsx'
import { TagList } from '../tag-list.tsx'
import { keysOf, type TableEntry } from './table-entries.ts'

/** An action on a row. Groups can be shown, deleted, expanded (`unfold`) and collapsed (`fold`). */
export type RowAction = {
  readonly kind: 'show' | 'open' | 'edit' | 'delete' | 'unfold' | 'fold'
  readonly key: string
  /** Address that 'open' opens. Omitted: the page of the trajectory. */
  readonly href?: string
}

interface TrajectoryTableProps {
  readonly entries: readonly TableEntry[]
  readonly sort: ListSort
  readonly onSort: (sort: ListSort) => void
  readonly selected: ReadonlySet<string>
  readonly onSelect: (keys: readonly string[], isSelected: boolean) => void
  /** Key of the row that the panel shows. */
  readonly shown: string | undefined
  readonly onAction: (action: RowAction) => void
  /** Called with the row that the pointer or the focus reaches. */
  readonly onApproach?: (key: string) => void
}

/** Returns the address of the playground with all samples of the group. */
export const groupHref = (key: string, group: string): string => `/?${new URLSearchParams({ t: key, group })}`

const WIDE = 'max-md:hidden'
// Beside the panel, a narrower window has no space for these columns and the title.
const WIDER = 'max-[1399px]:hidden'

const COLUMNS: readonly ColumnHeading<ListSort['by']>[] = [
  { text: 'Title', by: 'title', className: 'py-0.5' },
  { text: 'Outcome', className: `w-26 ${WIDE}` },
  { text: 'Turns', title: 'Responses of the model', isNumber: true, className: `w-13 ${WIDER}` },
  { text: 'Tokens', by: 'tokens', isNumber: true, className: `w-17 ${WIDE}` },
  { text: 'Trained', title: 'Tokens with loss mask 1', by: 'trained', isNumber: true, className: `w-18 ${WIDE}` },
  { text: 'Calls', title: 'Tool calls, and how many of them failed', isNumber: true, className: `w-17 ${WIDER}` },
  {
    text: 'Logprob',
    title: 'Mean over trained tokens, in nats',
    by: 'meanLogprob',
    isNumber: true,
    className: `w-19 ${WIDER}`,
  },
  { text: 'Reward', by: 'reward', isNumber: true, className: `w-20 ${WIDE}` },
  { text: 'Source', className: `w-26 pl-4 min-[1400px]:w-30 ${WIDER}` },
  { text: 'Added', by: 'added', isNumber: true, className: `w-29 pr-3.5 ${WIDE}` },
]

/** Shows the rows of one page, with selection, sorting and keys. */
export function TrajectoryTable({
  entries,
  sort,
  onSort,
  selected,
  onSelect,
  shown,
  onAction,
  onApproach,
}: TrajectoryTableProps) {
  const all = entries.flatMap(keysOf)
  const selectedHere = all.filter((key) => selected.has(key)).length
  const now = new Date()
  // The table is one stop of the Tab key; arrow keys move from there.
  const stop = entries.some(({ key }) => key === shown) ? shown : entries[0]?.key
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const at = entries.findIndex(({ key }) => key === rowKeyOf(event.target))
    const entry = entries[at]
    if (!entry || event.ctrlKey || event.metaKey || event.altKey) return
    const { key } = entry
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, Home: -entries.length, End: entries.length }
    const step = steps[event.key as keyof typeof steps]
    const isOnTitle = event.target instanceof HTMLAnchorElement
    if (step !== undefined) focusRow(event.currentTarget, at + step)
    else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      if (!walkGroup(entry, at, event)) return
    } else if (event.key === 'x' || (event.key === ' ' && isOnTitle))
      onSelect(keysOf(entry), !isAllSelected(entry, selected))
    else if (event.key === 'e' && entry.kind === 'trajectory') onAction({ kind: 'edit', key })
    else if (event.key === 'Delete') onAction({ kind: 'delete', key })
    else return
    event.preventDefault()
  }
  const approach = (target: EventTarget) => {
    const key = rowKeyOf(target)
    if (key !== undefined) onApproach?.(key)
  }
  /** Expands or enters a group on Right, and leaves or collapses it on Left, as in a tree; returns whether the key was handled. */
  const walkGroup = (entry: TableEntry, at: number, event: KeyboardEvent<HTMLElement>): boolean => {
    const isRight = event.key === 'ArrowRight'
    if (entry.kind === 'group') {
      if (isRight && entry.isOpen) focusRow(event.currentTarget, at + 1)
      else if (isRight !== entry.isOpen) onAction({ kind: isRight ? 'unfold' : 'fold', key: entry.key })
      return true
    }
    if (isRight || !entry.isInGroup) return false
    focusRow(
      event.currentTarget,
      entries.findLastIndex(({ kind }, index) => index < at && kind === 'group'),
    )
    return true
  }
  return (
    <table className="w-full table-fixed border-separate border-spacing-0 text-xs tabular-nums">
      <thead className="sticky top-0 z-1 bg-ground">
        <tr>
          <th className="w-9 border-line border-b py-1.5 pl-3.5 text-left">
            <SelectBox
              label="Select all on this page"
              isSelected={all.length > 0 && selectedHere === all.length}
              isPartly={selectedHere > 0 && selectedHere < all.length}
              onSelect={(isSelected) => onSelect(all, isSelected)}
            />
          </th>
          <ColumnHeadings columns={COLUMNS} sort={sort} onSort={onSort} />
          <th className="w-11 border-line border-b md:hidden">
            <span className="sr-only">Edit</span>
          </th>
        </tr>
      </thead>
      <tbody
        onKeyDown={press}
        onPointerOver={(event) => approach(event.target)}
        onFocus={(event) => {
          approach(event.target)
          const key = rowKeyOf(event.target)
          if (key !== undefined && key !== shown) onAction({ kind: 'show', key })
        }}
        onClick={(event) => {
          const key = rowKeyOf(event.target)
          const isControl = event.target instanceof Element && event.target.closest('a, button, input') !== null
          if (key === undefined || isControl) return
          // A click on a cell moves the focus to the row, so that keys act on it.
          focusRow(
            event.currentTarget,
            entries.findIndex((entry) => entry.key === key),
          )
          onAction({ kind: 'show', key })
        }}
      >
        {entries.map((entry) =>
          entry.kind === 'group' ? (
            <GroupRow
              key={entry.key}
              entry={entry}
              now={now}
              selected={selected}
              isShown={entry.key === shown}
              tabIndex={entry.key === stop ? 0 : -1}
              onSelect={onSelect}
              onAction={onAction}
            />
          ) : (
            <Row
              key={entry.key}
              row={entry.row}
              isInGroup={entry.isInGroup}
              now={now}
              isSelected={selected.has(entry.key)}
              isShown={entry.key === shown}
              tabIndex={entry.key === stop ? 0 : -1}
              onSelect={(isSelected) => onSelect([entry.key], isSelected)}
              onAction={onAction}
            />
          ),
        )}
      </tbody>
    </table>
  )
}

interface GroupRowProps {
  readonly entry: Extract<TableEntry, { kind: 'group' }>
  readonly now: Date
  readonly selected: ReadonlySet<string>
  readonly isShown: boolean
  readonly tabIndex: number
  readonly onSelect: (keys: readonly string[], isSelected: boolean) => void
  readonly onAction: (action: RowAction) => void
}

function GroupRow({ entry, now, selected, isShown, tabIndex, onSelect, onAction }: GroupRowProps) {
  const { row, group, isOpen, hasSamples, key } = entry
  const title = titleText({ ...row, title: null })
  const rewards = rewardsText(group)
  const count = group.keys.length
  const isAll = isAllSelected(entry, selected)
  const notes = [
    `${countText(count)} samples`,
    group.matching < count && `${countText(group.matching)} match`,
    group.running > 0 && `${countText(group.running)} running`,
    rewards,
    isOpen && !hasSamples && 'loading…',
  ].filter((note) => typeof note === 'string' && note !== '')
  return (
    <tr
      data-key={key}
      data-group={group.id}
      data-shown={isShown || undefined}
      className="group hover:bg-panel data-shown:bg-panel data-shown:shadow-[inset_3px_0_0_var(--accent)]"
    >
      <td className="border-line border-b py-2 pl-3.5 align-top">
        <SelectBox
          label={`Select all ${countText(count)} samples of ${title}`}
          tabIndex={tabIndex}
          isSelected={isAll}
          isPartly={!isAll && group.keys.some((one) => selected.has(one))}
          onSelect={(isSelected) => onSelect(group.keys, isSelected)}
        />
      </td>
      <Cell className="text-left">
        <span className="flex min-w-0 items-baseline gap-1.5">
          <button
            type="button"
            data-title
            tabIndex={tabIndex}
            aria-expanded={isOpen}
            title={title}
            onClick={() => onAction({ kind: isOpen ? 'fold' : 'unfold', key })}
            className="-my-0.5 flex min-h-6 min-w-16 items-center gap-1 text-left text-[13px] hover:underline focus-visible:-outline-offset-2"
          >
            <ChevronRight size={14} aria-hidden className={`shrink-0 text-dim ${isOpen ? 'rotate-90' : ''}`} />
            <span dir="auto" className="truncate">
              {title}
            </span>{' '}
            {row.fork && <span className="shrink-0 text-dim">from token {countText(row.fork.token)}</span>}
          </button>
          <a
            href={groupTreeHref(group.id)}
            tabIndex={tabIndex}
            onClick={opener(onAction, { key, href: groupTreeHref(group.id) })}
            title="Show the samples as a tree, with the tokens at which they differ"
            className="shrink-0 self-center rounded border border-line px-1 text-[11px] text-dim hover:border-line-strong hover:text-ink"
          >
            tree
          </a>
          {group.isFlat && (
            <span
              title={flatText(group)}
              className="inline-flex shrink-0 items-center gap-1 self-center rounded border border-line px-1 text-[11px] text-warn"
            >
              <Equal size={11} aria-hidden />
              no gradient
            </span>
          )}
        </span>
        <span className="block pl-[18px] text-dim">{notes.join(' · ')}</span>
      </Cell>
      <Cell className={`text-dim ${WIDE}`}> </Cell>
      <Cell className={WIDER}> </Cell>
      <Cell className={WIDE}> </Cell>
      <Cell className={WIDE}> </Cell>
      <Cell className={WIDER}> </Cell>
      <Cell className={WIDER}> </Cell>
      <Cell className={`text-right ${WIDE}`} {...(rewards !== '' && { title: rewards })}>
        {rewardText(group.rewards?.mean ?? null)}
      </Cell>
      <Cell className={`truncate pl-4 text-left text-dim ${WIDER}`} {...(row.model !== null && { title: row.model })}>
        {row.importFormat ?? row.source}
      </Cell>
      <Cell className="whitespace-nowrap pr-3.5 text-right text-dim max-md:hidden" title={timeText(row.addedAt)}>
        {whenText(row.addedAt, now)}
      </Cell>
      <td className="border-line border-b md:hidden" />
    </tr>
  )
}

const isAllSelected = (entry: TableEntry, selected: ReadonlySet<string>): boolean =>
  keysOf(entry).every((key) => selected.has(key))

/** Returns what a plain click on a link of a row does. A click of another kind opens the link in another window. */
const opener = (onAction: (action: RowAction) => void, action: Omit<RowAction, 'kind'>) => (event: MouseEvent) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  onAction({ kind: 'open', ...action })
}

interface RowProps {
  readonly row: TrajectorySummary
  /** Whether the row is below the row of its group. */
  readonly isInGroup: boolean
  readonly now: Date
  readonly isSelected: boolean
  readonly isShown: boolean
  readonly tabIndex: number
  readonly onSelect: (isSelected: boolean) => void
  readonly onAction: (action: RowAction) => void
}

function Row({ row, isInGroup, now, isSelected, isShown, tabIndex, onSelect, onAction }: RowProps) {
  const title = titleText(row)
  const outcome = <span className={outcomeInk(row)}>{row.outcome}</span>
  const open = opener(onAction, { key: row.key })
  return (
    <tr
      data-key={row.key}
      data-shown={isShown || undefined}
      className="group hover:bg-panel data-shown:bg-panel data-shown:shadow-[inset_3px_0_0_var(--accent)]"
    >
      <td className="border-line border-b py-2 pl-3.5 align-top">
        <SelectBox label={`Select ${title}`} tabIndex={tabIndex} isSelected={isSelected} onSelect={onSelect} />
      </td>
      <Cell className={`text-left ${isInGroup ? 'pl-8' : ''}`}>
        <span className="flex min-w-0 items-baseline gap-1.5">
          <a
            data-title
            dir="auto"
            href={`/t/${encodeURIComponent(row.key)}`}
            tabIndex={tabIndex}
            title={title}
            onClick={open}
            className="min-w-16 shrink-[999] truncate text-[13px] hover:underline focus-visible:-outline-offset-2"
          >
            {title}
          </a>
          {row.group && (
            <a
              href={groupHref(row.key, row.group.id)}
              tabIndex={tabIndex}
              onClick={opener(onAction, { key: row.key, href: groupHref(row.key, row.group.id) })}
              title={`Sample ${row.group.index + 1} of a group: show it among the others`}
              className="shrink-0 rounded border border-line px-1 text-[11px] text-dim hover:border-line-strong hover:text-ink"
            >
              sample {row.group.index + 1}
            </a>
          )}
          <span className="flex min-w-0 gap-1 overflow-hidden empty:hidden max-md:hidden">
            <MissingMark missing={row.missing} isEncodedAgain={row.isEncodedAgain} />
            <TagList tags={row.tags} most={2} />
          </span>
          {/* The icon of the check is last, so that nothing moves when it disappears: the title gets its space. */}
          <span className="flex min-h-4 shrink-0 gap-1.5 self-center empty:hidden">
            {row.health || row.outcomeKind === 'running' ? (
              <HealthMarks health={row.health} />
            ) : (
              <span title="Health: not checked yet" className="text-faint">
                <CircleDashed size={12} aria-hidden />
                <span className="sr-only">Health: not checked yet</span>
              </span>
            )}
          </span>
          <a
            href={`/t/${encodeURIComponent(row.key)}`}
            tabIndex={tabIndex}
            aria-label="Open in inspector"
            title="Open in inspector"
            onClick={open}
            className="-my-0.5 ml-auto grid size-6 shrink-0 place-items-center self-center rounded text-dim hover:bg-ground hover:text-ink focus-visible:-outline-offset-2"
          >
            <ScanSearch size={14} aria-hidden />
          </a>
        </span>
        <span className="mt-0.5 block text-dim md:hidden">
          {outcome} · {countWithNoun(row.tokens, 'token')} · {countText(row.trained)} trained
          {row.reward !== null && ` · reward ${rewardText(row.reward)}`} ·{' '}
          <span className="whitespace-nowrap">{whenText(row.addedAt, now)}</span>
        </span>
        {(row.tags.length > 0 || row.missing.length > 0 || row.isEncodedAgain) && (
          <span className="mt-1 flex flex-wrap gap-1 md:hidden">
            <MissingMark missing={row.missing} isEncodedAgain={row.isEncodedAgain} />
            <TagList tags={row.tags} />
          </span>
        )}
      </Cell>
      <Cell className={`wrap-anywhere text-left ${WIDE}`} title={row.outcome}>
        <span className={outcomeInk(row)}>
          <Breakable text={row.outcome} />
        </span>
      </Cell>
      <Cell className={`text-right ${WIDER}`} title={`${countText(row.segments)} segments`}>
        {countText(row.turns)}
      </Cell>
      <Cell className={`text-right ${WIDE}`}>{countText(row.tokens)}</Cell>
      <Cell className={`text-right ${WIDE}`}>{countText(row.trained)}</Cell>
      <Cell className={`whitespace-nowrap text-right ${WIDER}`}>{callsText(row)}</Cell>
      <Cell className={`text-right ${WIDER}`}>{decimalText(row.meanLogprob)}</Cell>
      <Cell className={`text-right ${WIDE}`} {...(row.reward !== null && { title: String(row.reward) })}>
        {rewardText(row.reward)}
      </Cell>
      <Cell
        className={`truncate pl-4 text-left text-dim ${WIDER}`}
        title={[trajectorySourceText(row.source, row.importFormat), row.model].filter(Boolean).join(' · ')}
      >
        {row.importFormat ?? row.source}
      </Cell>
      <Cell className="whitespace-nowrap pr-3.5 text-right text-dim max-md:hidden" title={timeText(row.addedAt)}>
        {whenText(row.addedAt, now)}
      </Cell>
      <td className="border-line border-b md:hidden">
        <button
          type="button"
          aria-label={`Edit ${title}`}
          tabIndex={tabIndex}
          className="grid size-11 place-items-center text-dim"
          onClick={() => onAction({ kind: 'edit', key: row.key })}
        >
          <Pencil size={15} aria-hidden />
        </button>
      </td>
    </tr>
  )
}

function callsText({ toolCalls, failedCalls }: TrajectorySummary): ReactNode {
  if (toolCalls === null || failedCalls === null)
    return (
      <span className="text-faint" title="Unknown: the file has only ids">
        ?
      </span>
    )
  if (toolCalls === 0) return <span className="text-faint">—</span>
  if (failedCalls === 0) return countText(toolCalls)
  return (
    <>
      {countText(toolCalls - failedCalls)} ✓ <span className="text-bad">{countText(failedCalls)} ✗</span>
    </>
  )
}

interface CellProps {
  readonly className: string
  readonly title?: string
  readonly children: ReactNode
}

const Cell = ({ className, title, children }: CellProps) => (
  <td title={title} className={`border-line border-b px-2 py-1.5 align-top ${className}`}>
    {children}
  </td>
)

const rowKeyOf = (target: EventTarget): string | undefined =>
  target instanceof Element ? target.closest<HTMLElement>('tr[data-key]')?.dataset.key : undefined

/** Focuses the title at this index, or the first or last one if there is none. */
function focusRow(table: HTMLElement, index: number): void {
  const titles = table.querySelectorAll<HTMLElement>('tr[data-key] [data-title]')
  titles[Math.max(0, Math.min(titles.length - 1, index))]?.focus()
}
