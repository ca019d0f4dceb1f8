/** Writes rows by column names, which are never user input; values are parameters. */
import type { DatabaseSync } from 'node:sqlite'

/** Values by column name. */
export type StoredRow = Readonly<Record<string, string | number | null>>

/** Inserts a row. Throws SQLite's errors. */
export function insertRow(database: DatabaseSync, table: string, row: StoredRow): void {
  const names = Object.keys(row)
  database
    .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `$${name}`).join(', ')})`)
    .run({ ...row })
}

/** Updates the given columns of the row with a key. Does nothing if there is no such row. */
export function updateRow(database: DatabaseSync, table: string, key: string, row: StoredRow): void {
  const assignments = Object.keys(row).map((name) => `${name} = $${name}`)
  database.prepare(`UPDATE ${table} SET ${assignments.join(', ')} WHERE key = $key`).run({ ...row, key })
}
