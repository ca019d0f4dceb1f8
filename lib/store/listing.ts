/**
 * Which trajectories a list shows, in which order, page by page. A page begins after a row, not after a number of rows:
 * what is added or deleted meanwhile shifts nothing. All that is asked for goes in as parameters.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Choices, ListSort, TrajectorySummary } from '#lib/core/library.ts'
import { folded, SUMMARY_COLUMNS, summary } from './entry.ts'
import { type HealthFilter, healthCondition } from './health.ts'

export interface ListFilter {
  /** Words that must all stand in title, question, tags, note, model, outcome or file name, as parts of words too. */
  readonly text?: string
  /** A kind (running, ended, failed), or a reason or code. */
  readonly outcome?: string
  /** All of them. */
  readonly tags?: readonly string[]
  readonly source?: { readonly kind: string; readonly format?: string }
  readonly health?: HealthFilter
  /** The id of a group of samples. */
  readonly group?: string
}

/** A row that a page ends at, and the side of it on which the page lies. */
export interface Cursor {
  readonly side: 'before' | 'after'
  /** What it is sorted by. */
  readonly value: string | number | null
  readonly sequence: number
}

export interface ListQuery {
  readonly filter: ListFilter
  readonly sort: ListSort
  readonly limit: number
  /** Omitted: the first page. */
  readonly cursor?: Cursor
}

export interface Page {
  readonly rows: readonly TrajectorySummary[]
  /** Rows in all that the filter lets through. */
  readonly total: number
  /** Rows ahead of this page. */
  readonly start: number
  readonly previous?: Cursor
  readonly next?: Cursor
}

/** Where there is nothing on the cursor's side any more, the page at that end. */
export function list(database: DatabaseSync, { filter, sort, limit, cursor }: ListQuery): Page {
  const where = filterConditions(filter)
  const read = (further: readonly Condition[], isReversed: boolean): Row[] => {
    const rows = select(database, sort, [...where, ...further], isReversed, limit)
    return isReversed ? rows.reverse() : rows
  }
  const total = count(database, where)
  const rows = pageRows(read, sort, limit, cursor)
  const [first] = rows
  const last = rows.at(-1)
  const start = first && cursor ? count(database, [...where, besideRow(sort, positionOf(first), 'before')]) : 0
  return {
    rows: rows.map(summary),
    total,
    start,
    ...(first && start > 0 && { previous: { side: 'before', ...positionOf(first) } }),
    ...(last && start + rows.length < total && { next: { side: 'after', ...positionOf(last) } }),
  }
}

const MOST_TAGS = 200

/** What there is to filter by. */
export function choices(database: DatabaseSync): Choices {
  const counted = (columns: string) =>
    database
      .prepare(
        `SELECT ${columns}, count(*) AS count FROM trajectories WHERE deleted_at IS NULL GROUP BY ${columns} ORDER BY count DESC, ${columns}`,
      )
      .all()
  const tags = database
    .prepare(
      `SELECT value AS tag, count(*) AS count FROM trajectories, json_each(labels, '$.tags') WHERE deleted_at IS NULL GROUP BY value ORDER BY count DESC, value LIMIT ${MOST_TAGS}`,
    )
    .all()
  return {
    total: count(database, [VISIBLE]),
    outcomes: counted('outcome_kind, outcome').map((row) => ({
      kind: row.outcome_kind as Choices['outcomes'][number]['kind'],
      outcome: String(row.outcome),
      count: Number(row.count),
    })),
    sources: counted('source, import_format').map((row) => ({
      kind: row.source as Choices['sources'][number]['kind'],
      format: row.import_format === null ? null : String(row.import_format),
      count: Number(row.count),
    })),
    tags: tags.map((row) => ({ tag: String(row.tag), count: Number(row.count) })),
  }
}

type Value = string | number | null
type Row = Record<string, unknown>
type Position = Omit<Cursor, 'side'>

interface Condition {
  readonly sql: string
  readonly values: readonly Value[]
}

const VISIBLE: Condition = { sql: 'deleted_at IS NULL', values: [] }

function filterConditions({ text = '', outcome, tags = [], source, health, group }: ListFilter): readonly Condition[] {
  const words = folded(text)
    .split(/\s+/)
    .filter((word) => word !== '')
  return [
    VISIBLE,
    // instr knows no patterns: a % in the search is a % in the text.
    ...words.map((word) => ({
      sql: '(instr(labels_search, ?) > 0 OR instr(record_search, ?) > 0)',
      values: [word, word],
    })),
    ...(outcome === undefined ? [] : [{ sql: '(outcome_kind = ? OR outcome = ?)', values: [outcome, outcome] }]),
    ...tags.map((tag) => ({
      sql: `EXISTS (SELECT 1 FROM json_each(labels, '$.tags') WHERE value = ?)`,
      values: [tag],
    })),
    ...(source === undefined ? [] : [{ sql: 'source = ?', values: [source.kind] }]),
    ...(source?.format === undefined ? [] : [{ sql: 'import_format = ?', values: [source.format] }]),
    ...(group === undefined ? [] : [{ sql: 'group_id = ?', values: [group] }]),
    ...(health === undefined ? [] : [{ sql: healthCondition(health), values: [] }]),
  ]
}

const EXPRESSIONS: Readonly<Record<ListSort['by'], string>> = {
  added: 'sequence',
  title: 'coalesce(title_sort, question_sort)',
  tokens: 'tokens',
  trained: 'trained',
  meanLogprob: 'mean_logprob',
  reward: 'reward',
}

const DIRECTIONS = { asc: ['ASC', '>'], desc: ['DESC', '<'] } as const
const REVERSED = { asc: 'desc', desc: 'asc' } as const

function select(
  database: DatabaseSync,
  { by, order }: ListSort,
  conditions: readonly Condition[],
  isReversed: boolean,
  limit: number,
): Row[] {
  const value = EXPRESSIONS[by]
  const [direction] = DIRECTIONS[isReversed ? REVERSED[order] : order]
  const [unknown, ties] = isReversed ? ['DESC', 'ASC'] : ['ASC', 'DESC']
  return database
    .prepare(
      `SELECT ${SUMMARY_COLUMNS}, ${value} AS sort_value FROM trajectories WHERE ${conjunction(conditions)} ORDER BY (${value} IS NULL) ${unknown}, ${value} ${direction}, sequence ${ties} LIMIT ?`,
    )
    .all(...valuesOf(conditions), limit)
}

/** Rows that the order puts before a row, or after it. */
function besideRow({ by, order }: ListSort, { value, sequence }: Position, side: Cursor['side']): Condition {
  const expression = EXPRESSIONS[by]
  const isAfter = side === 'after'
  const [, comparison] = DIRECTIONS[isAfter ? order : REVERSED[order]]
  const tie = `sequence ${isAfter ? '<' : '>'} ?`
  if (value === null)
    return isAfter
      ? { sql: `(${expression} IS NULL AND ${tie})`, values: [sequence] }
      : { sql: `(${expression} IS NOT NULL OR ${tie})`, values: [sequence] }
  const unknown = isAfter ? ` OR ${expression} IS NULL` : ''
  return {
    sql: `(${expression} ${comparison} ? OR (${expression} = ? AND ${tie})${unknown})`,
    values: [value, value, sequence],
  }
}

function pageRows(
  read: (further: readonly Condition[], isReversed: boolean) => Row[],
  sort: ListSort,
  limit: number,
  cursor: Cursor | undefined,
): Row[] {
  if (!cursor) return read([], false)
  const isBackwards = cursor.side === 'before'
  const rows = read([besideRow(sort, cursor, cursor.side)], isBackwards)
  if (isBackwards && rows.length < limit) return read([], false)
  return rows.length > 0 ? rows : read([], true)
}

const positionOf = (row: Row): Position => ({
  value: row.sort_value as Value,
  sequence: Number(row.sequence),
})

function count(database: DatabaseSync, conditions: readonly Condition[]): number {
  const row = database
    .prepare(`SELECT count(*) AS count FROM trajectories WHERE ${conjunction(conditions)}`)
    .get(...valuesOf(conditions))
  return Number(row?.count)
}

const conjunction = (conditions: readonly Condition[]): string => conditions.map(({ sql }) => sql).join(' AND ')
const valuesOf = (conditions: readonly Condition[]): Value[] => conditions.flatMap(({ values }) => values)
