'use client'
/** Tables of figures, and the parts of larger tables: headings that sort and boxes that select. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'

/** The heading of a column. */
export interface ColumnHeading<Name extends string> {
  readonly text: string
  readonly title?: string
  /** The name by which the column sorts. Omitted: it cannot be sorted. */
  readonly by?: Name
  /** Columns of numbers are on the right, and the first click on one sorts the greatest first. */
  readonly isNumber?: boolean
  /** Classes of the heading, such as a width or a rule that hides the column in narrow windows. */
  readonly className?: string
}

/** Column and direction by which a table is sorted. */
export interface TableSort<Name extends string> {
  readonly by: Name
  readonly order: 'asc' | 'desc'
}

/** Returns the rows in the order of the values in a column. Unknown values are last in both directions, and equal ones stay in order. */
export function sortedRows<Row, Name extends string>(
  rows: readonly Row[],
  { by, order }: TableSort<Name>,
  cellOf: (row: Row, by: Name) => string | number | null,
): readonly Row[] {
  const sign = order === 'asc' ? 1 : -1
  return rows.toSorted((a, b) => {
    const [left, right] = [cellOf(a, by), cellOf(b, by)]
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    return sign * (typeof left === 'string' ? left.localeCompare(String(right)) : left - Number(right))
  })
}

interface HeadingsProps<Name extends string> {
  readonly columns: readonly ColumnHeading<Name>[]
  readonly sort?: TableSort<Name> | undefined
  /** Called with the new order. Omitted: no sorting. */
  readonly onSort?: ((sort: TableSort<Name>) => void) | undefined
  /** The order after both directions of a column. Omitted: its first direction. */
  readonly unsorted?: TableSort<Name>
}

/** Shows the headings of columns. A click on one sorts by its column, and the next click in the other direction. */
export const ColumnHeadings = <Name extends string>({ columns, sort, onSort, unsorted }: HeadingsProps<Name>) =>
  columns.map(({ text, title, by, isNumber = false, className = '' }) => {
    const isSorted = by !== undefined && sort?.by === by
    const Arrow = sort?.order === 'asc' ? ArrowUp : ArrowDown
    const first = isNumber ? 'desc' : 'asc'
    const other = sort?.order === 'asc' ? 'desc' : 'asc'
    return (
      <th
        key={text}
        scope="col"
        title={title}
        aria-sort={isSorted ? (sort.order === 'asc' ? 'ascending' : 'descending') : undefined}
        className={`border-line border-b px-2 font-medium text-dim ${isNumber ? 'text-right' : 'text-left'} ${className}`}
      >
        {by !== undefined && onSort ? (
          <button
            type="button"
            className="relative min-h-6 whitespace-nowrap hover:text-ink data-sorted:font-semibold data-sorted:text-ink"
            data-sorted={isSorted || undefined}
            onClick={() =>
              onSort(isSorted && sort.order !== first && unsorted ? unsorted : { by, order: isSorted ? other : first })
            }
          >
            {text}
            {isSorted && (
              <Arrow
                size={11}
                aria-hidden
                className={`absolute top-1/2 -translate-y-1/2 ${isNumber ? '-left-3' : '-right-3'}`}
              />
            )}
          </button>
        ) : (
          <span className="whitespace-nowrap">{text}</span>
        )}
      </th>
    )
  })

/** Takes the place of rows that are not mounted, except on paper. `height` is in pixels. */
export const RowSpace = ({ height }: { readonly height: number }) =>
  height > 0 && (
    <tbody aria-hidden className="print:hidden">
      <tr style={{ height }} />
    </tbody>
  )

interface SelectBoxProps {
  readonly label: string
  readonly isSelected: boolean
  /** True if the box is for several rows, of which only some are selected. */
  readonly isPartly?: boolean
  readonly isDisabled?: boolean
  readonly tabIndex?: number
  readonly onSelect: (isSelected: boolean) => void
}

/** Shows the box that selects a row, or all rows. */
export const SelectBox = ({ label, isSelected, isPartly = false, isDisabled, tabIndex, onSelect }: SelectBoxProps) => (
  <input
    type="checkbox"
    aria-label={label}
    className="block size-4 accent-(--accent)"
    tabIndex={tabIndex}
    disabled={isDisabled}
    checked={isSelected}
    ref={(box) => {
      if (box) box.indeterminate = isPartly
    }}
    onChange={(event) => onSelect(event.target.checked)}
  />
)

/** A column of `Table`. */
export interface TableColumn<Row, Name extends string = string> extends Omit<ColumnHeading<Name>, 'by'> {
  readonly name: Name
  readonly cell: (row: Row) => ReactNode
}

interface TableProps<Row, Name extends string> extends Omit<HeadingsProps<Name>, 'columns' | 'unsorted'> {
  readonly label: string
  readonly columns: readonly TableColumn<Row, Name>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Returns whether a row is marked as chosen. */
  readonly isChosen?: (row: Row) => boolean
}

const CELL = 'first:pl-0 last:pr-0'

/** Table of figures. A click on a heading sorts by its column. */
export function Table<Row, Name extends string>(props: TableProps<Row, Name>) {
  const { label, columns, rows, keyOf, sort, onSort, isChosen } = props
  return (
    <table aria-label={label} className="w-full border-separate border-spacing-0 text-xs tabular-nums">
      <thead>
        <tr>
          <ColumnHeadings
            columns={columns.map((column) => ({
              ...column,
              by: column.name,
              className: `py-0.5 ${CELL} ${column.className ?? ''}`,
            }))}
            sort={sort}
            onSort={onSort}
          />
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
                className={`border-line border-b px-2 py-1.5 align-top ${CELL} ${isNumber ? 'whitespace-nowrap text-right' : 'text-left'} ${className}`}
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

/** Shows a name or code that breaks after its separators, so that a narrow column breaks no word. */
export const Breakable = ({ text }: { readonly text: string }) =>
  Array.from(text.matchAll(/[^/_.,:=&?-]*[/_.,:=&?-]+|[^/_.,:=&?-]+/g), ({ 0: part, index }) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ))
