/**
 * Counts the values by which lists are filtered. Triggers keep the counts, whichever connection writes, because counting all rows takes
 * longer the more there are.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { FilterChoices } from '#lib/api/library.ts'
import { compareNames } from '#lib/util/text/file-names.ts'

/** Creates the table of counts with those of all rows, and the triggers. */
export function createChoices(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE choices (
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      detail TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (kind, name, detail)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO choices SELECT 'outcome', outcome_kind, outcome, count(*) FROM trajectories
      WHERE deleted_at IS NULL GROUP BY 2, 3;
    INSERT INTO choices SELECT 'source', source, coalesce(import_format, ''), count(*) FROM trajectories
      WHERE deleted_at IS NULL GROUP BY 2, 3;
    INSERT INTO choices SELECT 'tag', value, '', count(DISTINCT sequence) FROM trajectories, json_each(labels, '$.tags')
      WHERE deleted_at IS NULL GROUP BY 2;
    CREATE TRIGGER choices_of_inserted AFTER INSERT ON trajectories BEGIN
      ${countRow('new', 1)}
    END;
    CREATE TRIGGER choices_of_deleted AFTER DELETE ON trajectories BEGIN
      ${countRow('old', -1)}
    END;
    CREATE TRIGGER choices_of_updated AFTER UPDATE OF ${COUNTED.join(', ')} ON trajectories
      WHEN (${columnsOf('old')}) IS NOT (${columnsOf('new')})
    BEGIN
      ${countRow('old', -1)}
      ${countRow('new', 1)}
    END;
  `)
}

const COUNTED = ['deleted_at', 'outcome_kind', 'outcome', 'source', 'import_format', 'labels'] as const

type TriggerRow = 'old' | 'new'

const columnsOf = (row: TriggerRow): string => COUNTED.map((column) => `${row}.${column}`).join(', ')

/** Returns the statement of a trigger that adds a number to the counts of a row. A deleted row counts nowhere, and a tag counts once. */
const countRow = (row: TriggerRow, by: 1 | -1): string => `
  INSERT INTO choices
    SELECT 'outcome', ${row}.outcome_kind, ${row}.outcome, ${by} WHERE ${row}.deleted_at IS NULL
    UNION SELECT 'source', ${row}.source, coalesce(${row}.import_format, ''), ${by} WHERE ${row}.deleted_at IS NULL
    UNION SELECT 'tag', value, '', ${by} FROM json_each(${row}.labels, '$.tags') WHERE ${row}.deleted_at IS NULL
    ON CONFLICT DO UPDATE SET count = count + excluded.count;`

/** The largest number of values of each kind; those with the largest counts are listed. */
const MOST_VALUES = 200

/** Returns the values to filter by. */
export function filterChoices(database: DatabaseSync): FilterChoices {
  const statement = database.prepare(
    `SELECT name, detail, count FROM choices WHERE kind = ? AND count > 0 ORDER BY count DESC, name, detail LIMIT ${MOST_VALUES}`,
  )
  const counted = (kind: string) =>
    statement
      .all(kind)
      .map(({ name, detail, count }) => ({ name: String(name), detail: String(detail), count: Number(count) }))
  const sources = counted('source')
  return {
    total: sources.reduce((sum, { count }) => sum + count, 0),
    outcomes: counted('outcome').map(({ name, detail, count }) => ({
      kind: name as FilterChoices['outcomes'][number]['kind'],
      outcome: detail,
      count,
    })),
    sources: sources.map(({ name, detail, count }) => ({
      kind: name as FilterChoices['sources'][number]['kind'],
      format: detail === '' ? null : detail,
      count,
    })),
    tags: counted('tag')
      .map(({ name, count }) => ({ tag: name, count }))
      .sort((a, b) => b.count - a.count || compareNames(a.tag, b.tag)),
  }
}
