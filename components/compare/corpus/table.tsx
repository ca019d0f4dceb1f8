'use client'
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { ReactNode } from 'react'

/** A column of `Table`. */
export interface TableColumn<Row, Name extends string = string> {
  readonly name: Name
  readonly text: string
  readonly title?: string
  readonly isNumber?: boolean
  /** Classes of the heading and the cells, such as a width or a rule that hides the column in narrow windows. */
  readonly className?: string
  readonly cell: (row: Row) => ReactNode
}

/** Column and direction by which a table is sorted. */
export interface TableSort<Name extends string> {
  readonly by: Name
  readonly order: 'asc' | 'desc'
}

interface TableProps<Row, Name extends string> {
  readonly label: string
  readonly columns: readonly TableColumn<Row, Name>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly sort?: TableSort<Name>
  /** Called with the new order. The first click on a column of numbers sorts the greatest first. Omitted: no sorting. */
  readonly onSort?: (sort: TableSort<Name>) => void
  /** Returns whether a row is marked as chosen. */
  readonly isChosen?: (row: Row) => boolean
}

/** Table of figures. A click on a heading sorts by its column. */
export function Table<Row, Name extends string>({
  label,
  columns,
  rows,
  keyOf,
  sort,
  onSort,
  isChosen,
}: TableProps<Row, Name>) {
  return (
    <table aria-label={label} className="w-full border-separate border-spacing-0 text-xs tabular-nums">
      <thead>
        <tr>
          {columns.map(({ name, text, title, isNumber = false, className = '' }) => {
            const isSorted = sort?.by === name
            const Arrow = sort?.order === 'asc' ? ArrowUp : ArrowDown
            const first = isNumber ? 'desc' : 'asc'
            const order = isSorted ? (sort.order === 'asc' ? 'desc' : 'asc') : first
            return (
              <th
                key={name}
                scope="col"
                title={title}
                aria-sort={isSorted ? (sort.order === 'asc' ? 'ascending' : 'descending') : undefined}
                className={`border-line border-b px-2 py-1.5 font-medium text-dim first:pl-0 last:pr-0 ${isNumber ? 'text-right' : 'text-left'} ${className}`}
              >
                {onSort ? (
                  <button
                    type="button"
                    className="relative whitespace-nowrap hover:text-ink data-sorted:font-semibold data-sorted:text-ink"
                    data-sorted={isSorted || undefined}
                    onClick={() => onSort({ by: name, order })}
                  >
                    {text}
                    {isSorted && (
                      <Arrow size={11} aria-hidden className={`absolute top-1 ${isNumber ? '-left-3' : '-right-3'}`} />
                    )}
                  </button>
                ) : (
                  <span className="whitespace-nowrap">{text}</span>
                )}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            data-row={keyOf(row)}
            data-chosen={isChosen?.(row) || undefined}
            className="hover:bg-panel data-chosen:bg-panel data-chosen:shadow-[inset_3px_0_0_var(--accent)]"
          >
            {columns.map(({ name, isNumber = false, className = '', cell }) => (
              <td
                key={name}
                className={`border-line border-b px-2 py-1.5 align-top first:pl-0 last:pr-0 ${isNumber ? 'whitespace-nowrap text-right' : 'text-left'} ${className}`}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
