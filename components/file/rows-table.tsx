'use client'
/** The samples of a file as a table of any length: only the visible rows are mounted. Arrow keys move between rows. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { outcomeInk, titleText } from '#components/library/rows/row-texts.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { useEqualRows } from '#components/ui/equal-rows.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import { firstRowOrder, type RowColumn, type RowSort } from '#lib/browser/file-index/listed-rows.ts'
import { placeWords, type SampleRow } from '#lib/browser/file-index/sample-row.ts'
import { elementAt } from '#lib/util/element-at.ts'

interface RowsTableProps {
  readonly rows: readonly SampleRow[]
  /** Indexes of the listed rows in their order. */
  readonly listed: readonly number[]
  readonly sort: RowSort
  readonly onSort: (sort: RowSort) => void
  readonly chosen: ReadonlySet<number>
  readonly onChoose: (chosen: ReadonlySet<number>) => void
  /** Index of the row that was opened last, which is visible at first. */
  readonly opened: number | undefined
  /** Returns the address of a row. */
  readonly hrefOf: (index: number) => string
}

const ROW_HEIGHT = 44
const HEADER_HEIGHT = 32
/** Rows mounted above and below the visible ones. */
const MARGIN = 12

const WIDE = 'max-md:hidden'

/** Shows the listed rows, with selection, sorting and keys. */
export function RowsTable({ rows, listed, sort, onSort, chosen, onChoose, opened, hrefOf }: RowsTableProps) {
  const [current, setCurrent] = useState(() => Math.max(0, listed.indexOf(opened ?? -1)))
  const stop = Math.min(current, listed.length - 1)
  const isMoving = useRef(false)
  const { viewport, first, end, viewHeight, reveal } = useEqualRows({
    count: listed.length,
    rowHeight: ROW_HEIGHT,
    margin: MARGIN,
    header: HEADER_HEIGHT,
    usualHeight: 600,
  })
  const showOpened = useEffectEvent(() => reveal(stop))
  useEffect(() => showOpened(), [])
  // The row may be mounted only after the list has scrolled to it.
  useLayoutEffect(() => {
    if (!isMoving.current) return
    const title = viewport.current?.querySelector<HTMLElement>(`[data-position="${stop}"] [data-title]`)
    if (!title) return
    isMoving.current = false
    title.focus({ preventScroll: true })
  })
  const readable = listed.filter((index) => rows[index]?.ok)
  const chosenHere = readable.filter((index) => chosen.has(index)).length
  const choose = (indexes: readonly number[], isChosen: boolean) => {
    const changed = new Set(chosen)
    for (const index of indexes)
      if (isChosen) changed.add(index)
      else changed.delete(index)
    onChoose(changed)
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || listed.length === 0) return
    const page = Math.max(1, Math.floor(viewHeight / ROW_HEIGHT) - 2)
    const steps = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -listed.length,
      End: listed.length,
    }
    const step = steps[event.key as keyof typeof steps]
    const index = elementAt(listed, stop)
    if (step !== undefined) {
      const to = Math.min(listed.length - 1, Math.max(0, stop + step))
      isMoving.current = true
      setCurrent(to)
      reveal(to)
    } else if (event.key === 'x' || (event.key === ' ' && event.target instanceof HTMLAnchorElement)) {
      if (rows[index]?.ok) choose([index], !chosen.has(index))
    } else return
    event.preventDefault()
  }
  return (
    <div ref={viewport} className="relative min-h-0 overflow-y-auto" data-rows={listed.length}>
      <table
        aria-label="Samples of the file"
        aria-rowcount={listed.length + 1}
        className="w-full table-fixed border-separate border-spacing-0 text-xs tabular-nums"
      >
        <thead className="sticky top-0 z-1 bg-ground">
          <tr aria-rowindex={1} style={{ height: HEADER_HEIGHT }}>
            <th className="w-9 border-line border-b pl-3.5">
              <input
                type="checkbox"
                aria-label="Select all listed"
                className="block size-4 accent-(--accent)"
                checked={readable.length > 0 && chosenHere === readable.length}
                ref={(box) => {
                  if (box) box.indeterminate = chosenHere > 0 && chosenHere < readable.length
                }}
                onChange={(event) => choose(readable, event.target.checked)}
              />
            </th>
            <Column name="Sample" by="title" {...{ sort, onSort }} className="text-left" />
            <Column name="Outcome" className={`w-36 text-left ${WIDE}`} />
            <Column name="Turns" by="turns" {...{ sort, onSort }} className={`w-17 text-right ${WIDE}`} />
            <Column name="Tokens" by="tokens" {...{ sort, onSort }} className={`w-22 text-right ${WIDE}`} />
            <Column name="Trained" by="trained" {...{ sort, onSort }} className={`w-22 text-right ${WIDE}`} />
            <Column name="Reward" by="reward" {...{ sort, onSort }} className="w-20 pr-3.5 text-right" />
          </tr>
        </thead>
        <Spacer rows={first} />
        <tbody onKeyDown={press}>
          {listed.slice(first, end).map((index, offset) => (
            <Row
              key={index}
              row={elementAt(rows, index)}
              position={first + offset}
              href={hrefOf(index)}
              isChosen={chosen.has(index)}
              isOpened={index === opened}
              tabIndex={first + offset === stop ? 0 : -1}
              onChoose={(isChosen) => choose([index], isChosen)}
              onFocus={() => setCurrent(first + offset)}
            />
          ))}
        </tbody>
        <Spacer rows={listed.length - end} />
      </table>
    </div>
  )
}

/** Takes the place of rows that are not mounted. */
const Spacer = ({ rows }: { readonly rows: number }) =>
  rows > 0 && (
    <tbody aria-hidden>
      <tr style={{ height: rows * ROW_HEIGHT }} />
    </tbody>
  )

interface ColumnProps {
  readonly name: string
  readonly className: string
  /** Omitted: the column cannot be sorted. */
  readonly by?: RowColumn
  readonly sort?: RowSort
  readonly onSort?: (sort: RowSort) => void
}

/** Shows a heading that sorts: first in the column's direction, then in the other, then in the order of the file. */
function Column({ name, className, by, sort, onSort }: ColumnProps) {
  const isSorted = by !== undefined && sort?.by === by
  const Arrow = sort?.order === 'asc' ? ArrowUp : ArrowDown
  return (
    <th
      scope="col"
      aria-sort={isSorted ? (sort.order === 'asc' ? 'ascending' : 'descending') : undefined}
      className={`border-line border-b px-2 font-medium text-dim ${className}`}
    >
      {by === undefined || !sort || !onSort ? (
        name
      ) : (
        <button
          type="button"
          className="relative min-h-6 hover:text-ink data-sorted:font-semibold data-sorted:text-ink"
          data-sorted={isSorted || undefined}
          onClick={() => onSort(nextSort(by, sort))}
        >
          {name}
          {isSorted && (
            <Arrow
              size={11}
              aria-hidden
              className={`absolute top-1.5 ${className.includes('text-right') ? '-left-3' : '-right-3'}`}
            />
          )}
        </button>
      )}
    </th>
  )
}

function nextSort(by: RowColumn, sort: RowSort): RowSort {
  const order = firstRowOrder(by)
  if (sort.by !== by) return { by, order }
  return sort.order === order ? { by, order: order === 'asc' ? 'desc' : 'asc' } : { by: 'place', order: 'asc' }
}

interface RowProps {
  readonly row: SampleRow
  /** Position in the list, from 0. */
  readonly position: number
  readonly href: string
  readonly isChosen: boolean
  readonly isOpened: boolean
  readonly tabIndex: number
  readonly onChoose: (isChosen: boolean) => void
  readonly onFocus: () => void
}

function Row({ row, position, href, isChosen, isOpened, tabIndex, onChoose, onFocus }: RowProps) {
  const place = placeWords(row)
  const title = row.ok ? titleText(row) : visibleText(row.message)
  return (
    <tr
      aria-rowindex={position + 2}
      data-position={position}
      data-opened={isOpened || undefined}
      className="hover:bg-panel data-opened:bg-panel data-opened:shadow-[inset_3px_0_0_var(--accent)]"
      style={{ height: ROW_HEIGHT }}
      onFocus={onFocus}
    >
      <Cell className="pl-3.5">
        <input
          type="checkbox"
          aria-label={`Select ${place}`}
          className="block size-4 accent-(--accent)"
          tabIndex={tabIndex}
          disabled={!row.ok}
          checked={isChosen}
          onChange={(event) => onChoose(event.target.checked)}
        />
      </Cell>
      <Cell>
        {row.ok ? (
          <Link
            data-title
            href={href}
            tabIndex={tabIndex}
            title={title}
            className="block truncate text-[13px] hover:underline focus-visible:-outline-offset-2"
          >
            {title}
          </Link>
        ) : (
          <span data-title tabIndex={tabIndex} title={title} className="block truncate text-[13px] text-bad">
            {title}
          </span>
        )}
        <span className="block truncate text-dim">
          {row.ok ? (
            <>
              {place}
              {row.id !== '' && ` · ${visibleText(row.id)}`}
              <span className="md:hidden">
                {' · '}
                <span className={outcomeInk(row)}>{row.outcome}</span> · {countText(row.tokens)} tokens
              </span>
            </>
          ) : (
            `not read · ${visibleText(row.hint)}`
          )}
        </span>
      </Cell>
      <Cell className={`truncate px-2 ${WIDE}`}>
        {row.ok && <span className={outcomeInk(row)}>{row.outcome}</span>}
      </Cell>
      <Cell className={`px-2 text-right ${WIDE}`}>{row.ok && countText(row.turns)}</Cell>
      <Cell className={`px-2 text-right ${WIDE}`}>{row.ok && countText(row.tokens)}</Cell>
      <Cell className={`px-2 text-right ${WIDE}`}>{row.ok && countText(row.trained)}</Cell>
      <Cell className="px-2 pr-3.5 text-right">{row.ok && rewardText(row.reward)}</Cell>
    </tr>
  )
}

const Cell = ({ className = 'px-2', children }: { readonly className?: string; readonly children: ReactNode }) => (
  <td className={`border-line border-b ${className}`}>{children}</td>
)
