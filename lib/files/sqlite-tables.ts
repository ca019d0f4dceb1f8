/** Opens the tables of an SQLite database that a file contains. */
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { type ByteSource, ContainerError, piecesOf, type SqliteTables } from '#lib/formats/containers/container.ts'
import { errorText } from '#lib/util/text/error-text.ts'

/** Returns a function that copies a database into this folder, reads it there and deletes it. */
export const sqliteTablesIn =
  (folder: string) =>
  async (bytes: ByteSource): Promise<SqliteTables> => {
    // SQLite opens only names. The copy is never written, and has no journal of another program.
    const name = path.join(folder, `.unpacked-${randomUUID()}.sqlite`)
    try {
      const descriptor = openSync(name, 'wx', 0o600)
      try {
        for await (const piece of piecesOf(bytes))
          for (let done = 0; done < piece.length; ) done += writeSync(descriptor, piece, done)
      } finally {
        closeSync(descriptor)
      }
      const database = orBroken(() => new DatabaseSync(immutable(name), { readOnly: true, allowExtension: false }))
      try {
        return { tables: orBroken(() => tablesOf(database)), close: async () => database.close() }
      } catch (error) {
        database.close()
        throw error
      }
    } finally {
      removed(name)
    }
  }

/** Nobody else writes the copy. SQLite then creates no files beside it, also for a database with a write-ahead log. */
function immutable(name: string): URL {
  const address = pathToFileURL(name)
  address.searchParams.set('immutable', '1')
  return address
}

/** On POSIX, the open database keeps the content of its deleted file. */
function removed(name: string): void {
  try {
    unlinkSync(name)
  } catch {
    // It could not be created, which the caller reports.
  }
}

function tablesOf(database: DatabaseSync): SqliteTables['tables'] {
  // Views and virtual tables run code of the file; only plain tables are read. Without trust, its functions are harmless.
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0')
  const names = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid",
    )
    .all()
    .map(({ name }) => String(name))
  return names.map((name) => ({ name, rows: () => rowsOf(database, name) }))
}

function* rowsOf(database: DatabaseSync, table: string): Generator<Readonly<Record<string, unknown>> | undefined> {
  const statement = orBroken(() => {
    const columns = storedColumns(database, table).map(quoted).join(', ')
    return database.prepare(`SELECT ${columns} FROM ${quoted(table)}`)
  })
  statement.setReadBigInts(true)
  const rows = statement.iterate()
  for (;;) {
    // Node returns undefined for a row with a text that V8 cannot represent, and continues with the next row.
    const next: IteratorResult<Readonly<Record<string, unknown>>> | undefined = orBroken(() => rows.next())
    if (next?.done) return
    yield next?.value
  }
}

/** Returns the columns whose values are in the file. The expressions of the others could make any value large. */
const storedColumns = (database: DatabaseSync, table: string): readonly string[] =>
  database
    .prepare('SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 2')
    .all(table)
    .map(({ name }) => String(name))

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

function orBroken<T>(step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw new ContainerError(
      'a whole SQLite database',
      errorText(error),
      'Copy it while no program writes to it, together with its -wal file: `sqlite3 FILE ".backup COPY"`.',
    )
  }
}
