/**
 * Stores equal texts of segments once. Samples of a group and branches begin with the same tokens, so their segments repeat
 * texts. A text is found by its checksum and its content, so a writer need not know who stored an equal one.
 */
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'

/** Shortest text that is shared, in characters. A row of its own would cost more than it saves for shorter ones. */
export const SHORTEST_SHARED = 1024

/** A text as its row stores it: the text itself, or '' and the id of a shared text. */
export interface StoredText {
  readonly text: string
  readonly shared: number | null
}

/**
 * Returns a function that stores a long text, or counts one more use of the equal text that is stored. It must be called in a
 * transaction that also writes the row with the result; triggers count the rows that are deleted.
 */
export function createTextWriter(database: DatabaseSync): (text: string) => StoredText {
  const find = database.prepare('SELECT id, text FROM shared_texts WHERE checksum = ?')
  const use = database.prepare('UPDATE shared_texts SET uses = uses + 1 WHERE id = ?')
  const put = database.prepare('INSERT INTO shared_texts (checksum, uses, text) VALUES (?, 1, ?)')
  return (text) => {
    if (text.length < SHORTEST_SHARED) return { text, shared: null }
    const checksum = crc32(text)
    // A damaged text is not equal, so it gets no further user.
    const found = find.all(checksum).find((row) => row.text === text)
    if (!found) return { text: '', shared: Number(put.run(checksum, text).lastInsertRowid) }
    const shared = Number(found.id)
    use.run(shared)
    return { text: '', shared }
  }
}

/** Columns that `readRowText` needs, of rows that are joined with `shared_texts` by SHARED_JOIN. */
export const SHARED_COLUMNS = 'shared, checksum, uses, shared_texts.text AS shared_text'

/** Joins rows that have the column `shared` with their texts. */
export const SHARED_JOIN = 'LEFT JOIN shared_texts ON shared_texts.id = shared'

/**
 * Returns the text of a row with the columns `text` (its own) and those of SHARED_COLUMNS. `what` names it in errors.
 * Throws SyntaxError if its shared text is missing or damaged.
 */
export function readRowText(row: Readonly<Record<string, unknown>>, what: string): string {
  if (row.shared === null) return String(row.text)
  if (typeof row.shared_text !== 'string') throw new SyntaxError(`the shared text of ${what} is missing`)
  if (crc32(row.shared_text) !== row.checksum)
    throw new SyntaxError(`the shared text of ${what} is damaged, which is stored once for ${row.uses} segments`)
  return row.shared_text
}

/** Creates the table, and the columns and triggers of the tables whose rows use it. */
export function createSharedTexts(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE shared_texts (
      id INTEGER PRIMARY KEY,
      checksum INTEGER NOT NULL,
      uses INTEGER NOT NULL,
      text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX shared_texts_by_checksum ON shared_texts (checksum);
  `)
  for (const table of ['segments', 'segment_lists'])
    database.exec(`
      ALTER TABLE ${table} ADD COLUMN shared INTEGER;
      CREATE TRIGGER ${table}_deleted AFTER DELETE ON ${table} WHEN old.shared IS NOT NULL BEGIN
        DELETE FROM shared_texts WHERE id = old.shared AND uses = 1;
        UPDATE shared_texts SET uses = uses - 1 WHERE id = old.shared;
      END;
    `)
}

/**
 * Shares the texts of existing segments that are equal to another one. Texts without an equal one stay in their rows, because moving
 * them would write the whole database again.
 */
export function shareEqualSegments(database: DatabaseSync): void {
  database.exec('CREATE TEMP TABLE long_segments (key TEXT, position INTEGER, checksum INTEGER)')
  const long = database.prepare('SELECT key, position, segment FROM segments WHERE octet_length(segment) >= ?')
  const insert = database.prepare('INSERT INTO long_segments (key, position, checksum) VALUES (?, ?, ?)')
  for (const { key, position, segment } of long.iterate(SHORTEST_SHARED))
    insert.run(String(key), Number(position), crc32(String(segment)))
  database.exec('CREATE INDEX temp.long_segments_by_checksum ON long_segments (checksum)')
  const repeated = database.prepare(
    `SELECT key, position FROM long_segments
     WHERE checksum IN (SELECT checksum FROM long_segments GROUP BY checksum HAVING count(*) > 1)`,
  )
  const read = database.prepare('SELECT segment FROM segments WHERE key = ? AND position = ?')
  const put = database.prepare('UPDATE segments SET segment = ?, shared = ? WHERE key = ? AND position = ?')
  const share = createTextWriter(database)
  for (const { key, position } of repeated.iterate()) {
    const row = [String(key), Number(position)] as const
    const { text, shared } = share(String(read.get(...row)?.segment))
    put.run(text, shared, ...row)
  }
  database.exec('DROP TABLE temp.long_segments')
}
