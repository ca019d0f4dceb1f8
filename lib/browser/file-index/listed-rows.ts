/** Selection and order of a file's rows. */
import type { ListSort } from '#lib/api/library.ts'
import { type FileSampleRow, placeWords } from './sample-row.ts'

/** Columns by which the rows are sorted. `place` is the order of the file. */
export const ROW_COLUMNS = ['place', 'title', 'turns', 'tokens', 'trained', 'reward'] as const
/** Name of a sortable column. */
export type RowColumn = (typeof ROW_COLUMNS)[number]

/** Column and direction by which the rows are sorted. */
export interface RowSort {
  readonly by: RowColumn
  readonly order: ListSort['order']
}

/** Which rows are listed, and in which order. */
export interface RowFilter {
  /** Text in the title, question, id, group, outcome, place or error of a row; '' lists all. */
  readonly q: string
  /** Outcome of the trajectory, or NOT_READ; '' lists all. */
  readonly outcome: string
  readonly sort: RowSort
}

/** Value of the outcome filter for records that could not be read. No outcome has spaces. */
export const NOT_READ = 'not read'

/** Returns the first direction when a column is chosen: numbers begin with the greatest. */
export const firstRowOrder = (by: RowColumn): RowSort['order'] => (by === 'place' || by === 'title' ? 'asc' : 'desc')

/** Returns the indexes of the listed rows in their order. Rows without a value are last in both directions. */
export function listedRows(rows: readonly FileSampleRow[], { q, outcome, sort }: RowFilter): readonly number[] {
  const text = q.trim().toLowerCase()
  const listed: number[] = []
  for (const [index, row] of rows.entries())
    if ((outcome === '' || outcomeOf(row) === outcome) && (text === '' || searchedText(row).includes(text)))
      listed.push(index)
  const { by, order } = sort
  const direction = order === 'asc' ? 1 : -1
  if (by === 'place') return direction === 1 ? listed : listed.reverse()
  const valueAt = (index: number) => sortValue(rows[index], by)
  return listed
    .map((index) => ({ index, value: valueAt(index) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null)
      return direction * compare(a.value, b.value) || a.index - b.index
    })
    .map(({ index }) => index)
}

/** Returns the outcome of a row as the filter names it. */
const outcomeOf = (row: FileSampleRow): string => (row.ok ? row.outcome : NOT_READ)

/** Returns the outcomes of the rows with their counts, the most frequent first. */
export function outcomeCounts(rows: readonly FileSampleRow[]): readonly (readonly [outcome: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(outcomeOf(row), (counts.get(outcomeOf(row)) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}

const searchedText = (row: FileSampleRow): string =>
  (row.ok
    ? [row.title ?? '', row.question, row.id, row.group ?? '', row.outcome, placeWords(row)]
    : [row.message, placeWords(row)]
  )
    .join('\n')
    .toLowerCase()

function sortValue(row: FileSampleRow | undefined, by: Exclude<RowColumn, 'place'>): string | number | null {
  if (!row?.ok) return null
  return by === 'title' ? row.title || row.question || null : row[by]
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)
