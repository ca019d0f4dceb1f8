/** Reads SQLite databases row by row. A text that is a JSON list or object becomes its value, since SQLite has no lists. */
import { parsePythonJson } from '#lib/json/python-json.ts'
import { ContainerError, type ReadContainer, type Row, type SqliteTables } from './container.ts'
import { jsonRow } from './json-value.ts'

/** Yields the tables of a database. */
export const readSqlite: ReadContainer = async function* ({ bytes, tools }) {
  if (!tools.sqlite) throw new ContainerError('a file that this page can read', 'an SQLite database', NO_SQLITE)
  const database = await tools.sqlite(bytes)
  try {
    for (const { name, rows } of database.tables) yield { kind: 'rows', name, rows: rowsOf(rows) }
  } finally {
    await database.close()
  }
}

const NO_SQLITE = 'Open it in the library, where the server reads it, and choose its trajectories there.'

/** V8 has no longer texts. */
const TOO_LONG: Row = { ok: false, error: { path: '', expected: 'texts of at most 512 MiB', found: 'a longer one' } }

async function* rowsOf(rows: SqliteTables['tables'][number]['rows']): AsyncGenerator<Row> {
  for (const row of rows()) {
    const read = row ? jsonRow(row) : TOO_LONG
    yield read.ok ? { ok: true, value: withParsedTexts(read.value) } : read
  }
}

const withParsedTexts = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, typeof value === 'string' ? parsed(value) : value]),
  )

function parsed(text: string): unknown {
  if (!/^[[{]/.test(text)) return text
  try {
    return parsePythonJson(text)
  } catch {
    return text
  }
}
