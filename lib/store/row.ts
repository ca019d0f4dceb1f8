/** Writes rows by column names, which are never user input; values are parameters. */
import type { DatabaseSync } from 'node:sqlite'

export type Row = Readonly<Record<string, string | number | null>>

export function insertRow(database: DatabaseSync, table: string, row: Row): void {
  const names = Object.keys(row)
  database
    .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `$${name}`).join(', ')})`)
    .run({ ...row })
}

export function updateRow(database: DatabaseSync, table: string, key: string, row: Row): void {
  const assignments = Object.keys(row).map((name) => `${name} = $${name}`)
  database.prepare(`UPDATE ${table} SET ${assignments.join(', ')} WHERE key = $key`).run({ ...row, key })
}
