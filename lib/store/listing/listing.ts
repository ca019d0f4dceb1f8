/**
 * Selects and sorts the trajectories of a list, page by page. A page begins after a row, not after a number of rows, so
 * added or deleted rows shift nothing. All input is passed as parameters.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { CutCount, GroupSummary, ListSort, Neighbours, TrajectorySummary } from '#lib/api/library.ts'
import { sortBySeverity } from '#lib/trajectory/health/health.ts'
import { countUntrainedTokens, cutFinding, type TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { SUMMARY_COLUMNS, summary } from '../entry.ts'
import { IS_ESTIMATE_SAMPLE } from '../estimates.ts'
import { type HealthFilter, healthCondition } from '../health.ts'
import { type Condition, searchConditions } from './search.ts'

/** Conditions on the rows of a list, which must all be true. Omitted fields have no effect. */
export interface ListFilter {
  /**
   * Words and "phrases" that must all occur: inside of words in title, question, tags, note, notes on tokens, model, outcome or file
   * name, or at the beginning of words in generated text; also numbers such as `reward>0.5`.
   */
  readonly text?: string
  /** A kind (running, ended, failed), or a reason or code. */
  readonly outcome?: string
  /** Tags that must all be present. */
  readonly tags?: readonly string[]
  readonly source?: { readonly kind: string; readonly format?: string }
  readonly health?: HealthFilter
  /** The id of a group of samples. */
  readonly group?: string
  /** `hidden` leaves out the samples of value estimates. */
  readonly estimates?: 'hidden'
}

/** The row at which a page ends, and the side of it on which the page is. */
export interface Cursor {
  readonly side: 'before' | 'after'
  /** The value that the row is sorted by. */
  readonly value: string | number | null
  readonly sequence: number
}

/** Filter, order and position of a page. */
export interface ListQuery {
  readonly filter: ListFilter
  readonly sort: ListSort
  readonly limit: number
  /** The trainer's limit, for findings of rows and a total. */
  readonly cut?: TrainerCut
  /** Shows a group as one row: its first sample in the order. */
  readonly foldsGroups?: boolean
  /** Omitted for the first page. */
  readonly cursor?: Cursor
}

/** A list without its pages. */
export type PlaceQuery = Omit<ListQuery, 'limit' | 'cursor'>

/** One page of a list. Omitted cursors mean that it is the first or last page. */
export interface Page {
  readonly rows: readonly TrajectorySummary[]
  readonly cut?: CutCount
  /** Groups of the rows that represent one. Omitted: groups are not folded. */
  readonly groups?: readonly GroupSummary[]
  /** Number of samples of value estimates that the rest of the filter selects. Omitted: they are not left out. */
  readonly hidden?: number
  /** Total number of rows that pass the filter. */
  readonly total: number
  /** Number of rows before this page. */
  readonly start: number
  readonly previous?: Cursor
  readonly next?: Cursor
}

/** Returns a page. If no rows are left on the cursor's side, it is the page at that end. */
export function list(
  database: DatabaseSync,
  { filter, sort, limit, cursor, cut, foldsGroups = false }: ListQuery,
): Page {
  const matching = filterConditions(filter, cut)
  const where = foldsGroups ? [...matching, firstOfGroup(sort, matching)] : matching
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
    rows: rows.map((row) => withCut(row, cut)),
    ...(cut && { cut: cutCount(database, matching, cut) }),
    ...(foldsGroups && { groups: groupsOf(database, rows, matching) }),
    ...(filter.estimates === 'hidden' && { hidden: hiddenCount(database, filter, cut) }),
    total,
    start,
    ...(first && start > 0 && { previous: { side: 'before', ...positionOf(first) } }),
    ...(last && start + rows.length < total && { next: { side: 'after', ...positionOf(last) } }),
  }
}

function hiddenCount(
  database: DatabaseSync,
  { estimates: _, ...rest }: ListFilter,
  cut: TrainerCut | undefined,
): number {
  return count(database, [...filterConditions(rest, cut), { sql: IS_ESTIMATE_SAMPLE, values: [] }])
}

/** Selects rows that lose trained tokens. */
const losesTrainedTokens = (cut: TrainerCut | undefined): Condition => {
  if (!cut) return { sql: 'FALSE', values: [] }
  return cut.overlong === 'cut'
    ? { sql: `(tokens > ? AND json_extract(trained_spans, '$[#-1]') > ?)`, values: [cut.tokens, cut.tokens] }
    : { sql: '(tokens > ? AND trained > 0)', values: [cut.tokens] }
}

const spansOf = ({ trained_spans }: Row): readonly number[] | undefined =>
  typeof trained_spans === 'string' ? (JSON.parse(trained_spans) as readonly number[]) : undefined

function withCut(row: Row, cut: TrainerCut | undefined): TrajectorySummary {
  const found = summary(row)
  const spans = spansOf(row)
  const finding = cut && spans && cutFinding(spans, found.tokens, cut)
  if (!finding || !found.health) return found
  const { kind, severity, label, count } = finding
  const findings = sortBySeverity([...found.health.findings, { kind, severity, label, count }])
  return { ...found, health: { ...found.health, findings } }
}

function cutCount(database: DatabaseSync, matching: readonly Condition[], cut: TrainerCut): CutCount {
  const where = conjunction(matching)
  const all = database
    .prepare(`SELECT count(*) AS samples, coalesce(sum(trained), 0) AS trained FROM trajectories WHERE ${where}`)
    .get(...valuesOf(matching))
  const longer = database
    .prepare(`SELECT tokens, trained, trained_spans FROM trajectories WHERE tokens > ? AND ${where}`)
    .all(cut.tokens, ...valuesOf(matching))
  const losses = longer.map((row) => {
    if (cut.overlong !== 'cut') return Number(row.trained)
    const spans = spansOf(row)
    return spans && countUntrainedTokens(spans, Number(row.tokens), cut)
  })
  return {
    samples: Number(all?.samples),
    longer: longer.length,
    losing: losses.filter((lost) => lost !== undefined && lost > 0).length,
    lost: losses.reduce((sum: number, lost) => sum + (lost ?? 0), 0),
    trained: Number(all?.trained),
    unknown: losses.filter((lost) => lost === undefined).length,
  }
}

/** Selects for each group its first matching row in the order; rows without a group are unchanged. */
function firstOfGroup({ by, order }: ListSort, matching: readonly Condition[]): Condition {
  const value = EXPRESSIONS[by]
  const [direction] = DIRECTIONS[order]
  return {
    sql: `(group_id IS NULL OR sequence IN (
      SELECT sequence FROM (
        SELECT sequence, row_number() OVER (
          PARTITION BY group_id ORDER BY (${value} IS NULL), ${value} ${direction}, sequence DESC
        ) AS place
        FROM trajectories WHERE group_id IS NOT NULL AND ${conjunction(matching)}
      ) WHERE place = 1))`,
    values: valuesOf(matching),
  }
}

function groupsOf(database: DatabaseSync, rows: readonly Row[], matching: readonly Condition[]): GroupSummary[] {
  const ids = JSON.stringify(rows.flatMap(({ group_id }) => (group_id === null ? [] : [group_id])))
  return database
    .prepare(
      `SELECT group_id AS id, json_group_array(key ORDER BY group_index, sequence) AS keys, count(*) AS size,
        sum(${conjunction(matching)}) AS matching, sum(outcome_kind = 'running') AS running,
        count(reward) AS known, min(reward) AS min, max(reward) AS max,
        -- Paths of one rollout have its number and its reward, which counts once.
        (SELECT avg(reward) FROM (SELECT DISTINCT group_index, reward FROM trajectories AS paths
          WHERE paths.group_id = trajectories.group_id AND paths.deleted_at IS NULL)) AS mean
      FROM trajectories WHERE group_id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL
      GROUP BY group_id ORDER BY group_id`,
    )
    .all(...valuesOf(matching), ids)
    .map((row) => {
      const [size, known, min, max] = [row.size, row.known, row.min, row.max].map(Number) as [
        number,
        number,
        number,
        number,
      ]
      return {
        id: String(row.id),
        keys: JSON.parse(String(row.keys)) as string[],
        matching: Number(row.matching),
        running: Number(row.running),
        rewards: known === 0 ? null : { known, mean: Number(row.mean), min, max },
        isFlat: size > 1 && known === size && min === max,
      }
    })
}

/**
 * Returns the rows before and after a row, or undefined if the row does not exist. The filter may exclude the row
 * itself. If groups are folded, a sample has the position of its group.
 */
export function neighbours(database: DatabaseSync, key: string, query: PlaceQuery): Neighbours | undefined {
  const { filter, sort, cut, foldsGroups = false } = query
  const isKey: Condition = { sql: 'key = ?', values: [key] }
  const [own] = select(database, sort, [VISIBLE, isKey], false, 1)
  if (!own) return undefined
  const matching = filterConditions(filter, cut)
  const where = foldsGroups ? [...matching, firstOfGroup(sort, matching)] : matching
  const isOfGroup: Condition = { sql: 'group_id = ?', values: [own.group_id as Value] }
  const [listed] = select(
    database,
    sort,
    [...where, foldsGroups && own.group_id !== null ? isOfGroup : isKey],
    false,
    1,
  )
  const position = positionOf(listed ?? own)
  const beside = (side: Cursor['side']): Condition[] => [...where, besideRow(sort, position, side)]
  const keyBeside = (side: Cursor['side']) => select(database, sort, beside(side), side === 'before', 1)[0]?.key
  const [previous, next] = [keyBeside('before'), keyBeside('after')]
  return {
    ahead: count(database, beside('before')),
    total: count(database, where),
    isListed: listed !== undefined,
    ...(previous !== undefined && { previous: String(previous) }),
    ...(next !== undefined && { next: String(next) }),
  }
}

type Value = string | number | null
type Row = Record<string, unknown>
type Position = Omit<Cursor, 'side'>

const VISIBLE: Condition = { sql: 'deleted_at IS NULL', values: [] }

function filterConditions(
  { text = '', outcome, tags = [], source, health, group, estimates }: ListFilter,
  cut: TrainerCut | undefined,
): readonly Condition[] {
  return [
    VISIBLE,
    ...searchConditions(text),
    ...(outcome === undefined ? [] : [{ sql: '(outcome_kind = ? OR outcome = ?)', values: [outcome, outcome] }]),
    ...tags.map((tag) => ({
      sql: `EXISTS (SELECT 1 FROM json_each(labels, '$.tags') WHERE value = ?)`,
      values: [tag],
    })),
    ...(source === undefined ? [] : [{ sql: 'source = ?', values: [source.kind] }]),
    ...(source?.format === undefined ? [] : [{ sql: 'import_format = ?', values: [source.format] }]),
    ...(group === undefined ? [] : [{ sql: 'group_id = ?', values: [group] }]),
    ...(estimates === undefined ? [] : [{ sql: `NOT ${IS_ESTIMATE_SAMPLE}`, values: [] }]),
    ...(health === undefined
      ? []
      : [health === 'lost' ? losesTrainedTokens(cut) : { sql: healthCondition(health), values: [] }]),
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
  const byValue = `(${value} IS NULL) ${unknown}, ${value} ${direction}, sequence ${ties}`
  // A sequence is never null, and the table has its order.
  const orderBy = by === 'added' ? `sequence ${direction}` : byValue
  // Only the rows of the page are read whole: SQLite would carry all columns of all rows through the sort.
  return database
    .prepare(
      `SELECT ${SUMMARY_COLUMNS}, trained_spans, ${value} AS sort_value FROM trajectories WHERE sequence IN (
        SELECT sequence FROM trajectories WHERE ${conjunction(conditions)} ORDER BY ${orderBy} LIMIT ?
      ) ORDER BY ${orderBy}`,
    )
    .all(...valuesOf(conditions), limit)
}

/** Selects the rows before a row, or after it. */
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
