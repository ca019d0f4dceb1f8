/** Writes rows by column names, which are never user input; values are parameters. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** Values by column name. */
export type StoredRow = Readonly<Record<string, string | number | null>>

/** Inserts a row. Throws SQLite's errors. */
export function insertRow(database: DatabaseSync, table: string, row: StoredRow): void {
  const names = Object.keys(row)
  const values = names.map((name) => `$${name}`)
  statementOf(database, `INSERT INTO ${table} (${names.join(', ')}) VALUES (${values.join(', ')})`).run({ ...row })
}

/** Updates the given columns of the row with a key. Does nothing if there is no such row. */
export function updateRow(database: DatabaseSync, table: string, key: string, row: StoredRow): void {
  const assignments = Object.keys(row).map((name) => `${name} = $${name}`)
  statementOf(database, `UPDATE ${table} SET ${assignments.join(', ')} WHERE key = $key`).run({ ...row, key })
}

/** Prepared statements by their text. Callers write few sets of columns, and preparing one costs more than running it. */
const statements = memoizeByIdentity((_: DatabaseSync) => new Map<string, StatementSync>())

function statementOf(database: DatabaseSync, text: string): StatementSync {
  const known = statements(database)
  const statement = known.get(text) ?? database.prepare(text)
  known.set(text, statement)
  return statement
}
