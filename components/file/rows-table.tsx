'use client'
/** The samples of a file as a table of any length: only the visible rows are mounted. Arrow keys move between rows. */
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { Link } from '#components/shell/navigation.tsx'
import { outcomeInk, titleText } from '#components/shell/trajectory-rows/row-texts.ts'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { useEqualRows } from '#components/ui/rows/equal-rows.ts'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import { type ColumnHeading, ColumnHeadings, RowSpace, SelectBox } from '#components/ui/table.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { RowColumn, RowSort } from '#lib/browser/file-index/listed-rows.ts'
import { type FileSampleRow, placeWords } from '#lib/browser/file-index/sample-row.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

interface RowsTableProps {
  readonly rows: readonly FileSampleRow[]
  /** Indexes of the listed rows in their order. */
  readonly listed: readonly number[]
  readonly sort: RowSort
  readonly onSort: (sort: RowSort) => void
  readonly selected: ReadonlySet<number>
  readonly onSelect: (selected: ReadonlySet<number>) => void
  /** Index of the row that was opened last. At first it is visible and has the focus. */
  readonly opened: number | undefined
  /** Returns the address of a row. */
  readonly hrefOf: (index: number) => string
  /** Called when a row is opened in this window. */
  readonly onOpen: (index: number) => void
}

/** Space for two lines, also where the first one is a target for touch. */
const ROW_HEIGHT = 48
const HEADER_HEIGHT = 32
/** Rows mounted above and below the visible ones. */
const MARGIN = 12

const WIDE = 'max-md:hidden'

const COLUMNS: readonly ColumnHeading<RowColumn>[] = [
  { text: 'Sample', by: 'title' },
  { text: 'Outcome', className: `w-36 ${WIDE}` },
  { text: 'Turns', by: 'turns', isNumber: true, className: `w-17 ${WIDE}` },
  { text: 'Tokens', by: 'tokens', isNumber: true, className: `w-22 ${WIDE}` },
  { text: 'Trained', by: 'trained', isNumber: true, className: `w-22 ${WIDE}` },
  { text: 'Reward', by: 'reward', isNumber: true, className: 'w-20 pr-3.5' },
]

const FILE_ORDER: RowSort = { by: 'place', order: 'asc' }

/** Shows the listed rows, with selection, sorting and keys. */
export function RowsTable({ rows, listed, sort, onSort, selected, onSelect, opened, hrefOf, onOpen }: RowsTableProps) {
  const [current, setCurrent] = useState(() => Math.max(0, listed.indexOf(opened ?? -1)))
  const stop = Math.min(current, listed.length - 1)
  // After Back, the row that was opened receives the focus.
  const isMoving = useRef(opened !== undefined && listed.includes(opened))
  const { viewport, first, end, viewHeight, unprinted, reveal } = useEqualRows({
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
  const selectedHere = readable.filter((index) => selected.has(index)).length
  const select = (indexes: readonly number[], isSelected: boolean) => {
    const changed = new Set(selected)
    for (const index of indexes)
      if (isSelected) changed.add(index)
      else changed.delete(index)
    onSelect(changed)
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
    // Rows that were indexed since it got the focus may have moved the row.
    const at = positionOf(event.target) ?? stop
    const index = elementAt(listed, at)
    if (step !== undefined) {
      const to = Math.min(listed.length - 1, Math.max(0, at + step))
      isMoving.current = true
      setCurrent(to)
      reveal(to)
    } else if (event.key === 'x' || (event.key === ' ' && event.target instanceof HTMLAnchorElement)) {
      if (rows[index]?.ok) select([index], !selected.has(index))
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
              <SelectBox
                label="Select all listed"
                isSelected={readable.length > 0 && selectedHere === readable.length}
                isPartly={selectedHere > 0 && selectedHere < readable.length}
                onSelect={(isSelected) => select(readable, isSelected)}
              />
            </th>
            <ColumnHeadings columns={COLUMNS} sort={sort} onSort={onSort} unsorted={FILE_ORDER} />
          </tr>
        </thead>
        <RowSpace height={first * ROW_HEIGHT} />
        <tbody onKeyDown={press}>
          {listed.slice(first, end).map((index, offset) => (
            <Row
              key={index}
              row={elementAt(rows, index)}
              position={first + offset}
              href={hrefOf(index)}
              isSelected={selected.has(index)}
              isOpened={index === opened}
              tabIndex={first + offset === stop ? 0 : -1}
              onSelect={(isSelected) => select([index], isSelected)}
              onFocus={() => setCurrent(first + offset)}
              onOpen={() => onOpen(index)}
            />
          ))}
        </tbody>
        <RowSpace height={(listed.length - end) * ROW_HEIGHT} />
      </table>
      <UnprintedRows count={unprinted} />
    </div>
  )
}

/** Returns the position of the row that contains an element; undefined if none does. */
function positionOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-position]') : null
  return row ? Number(row.dataset.position) : undefined
}

interface RowProps {
  readonly row: FileSampleRow
  /** Position in the list, from 0. */
  readonly position: number
  readonly href: string
  readonly isSelected: boolean
  readonly isOpened: boolean
  readonly tabIndex: number
  readonly onSelect: (isSelected: boolean) => void
  readonly onFocus: () => void
  readonly onOpen: () => void
}

function Row({ row, position, href, isSelected, isOpened, tabIndex, onSelect, onFocus, onOpen }: RowProps) {
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
        <SelectBox
          label={`Select ${place}`}
          tabIndex={tabIndex}
          isDisabled={!row.ok}
          isSelected={isSelected}
          onSelect={onSelect}
        />
      </Cell>
      <Cell>
        {row.ok ? (
          <Link
            data-title
            href={href}
            tabIndex={tabIndex}
            title={title}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
              event.preventDefault()
              onOpen()
            }}
            className="block truncate text-[13px] hover:underline focus-visible:-outline-offset-2 max-sm:leading-6"
          >
            {title}
          </Link>
        ) : (
          // A narrow window has no tooltip: two lines of the reason are more useful there than the advice.
          <span
            data-title
            tabIndex={tabIndex}
            title={title}
            className="block truncate text-[13px] text-bad max-md:line-clamp-2 max-md:whitespace-normal max-md:text-xs"
          >
            {title}
          </span>
        )}
        <span className={`block truncate text-dim ${row.ok ? '' : 'max-md:hidden'}`}>
          {row.ok ? (
            <>
              {place}
              <span className="md:hidden">
                {' · '}
                <span className={outcomeInk(row)}>{row.outcome}</span> · {countWithNoun(row.tokens, 'token')}
              </span>
              {row.id !== '' && ` · ${visibleText(row.id)}`}
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
