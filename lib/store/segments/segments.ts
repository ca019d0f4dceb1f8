/**
 * Writes and reads the segments of a trajectory. The JSON of a segment is one text. If the segment has many tokens, its
 * long lists of numbers are stored in parts instead: SQLite and its binding copy every text several times, and a response that
 * a branch cuts begins with the same parts. Equal texts are stored once.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type JsonPath, jsonPathText } from '#lib/json/json-path.ts'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import { createTextWriter, readRowText, SHARED_COLUMNS, SHARED_JOIN } from './shared-texts.ts'

/** Tokens of a part. Lists of a segment with more tokens are stored in parts if they have more entries. */
export const PART = 2048

/** The largest number of entries of a part, whose list may have many entries for each token. */
const MOST_ENTRIES = 16_384

/**
 * Returns a function that replaces the segments of a trajectory from a position on. It must be called in a transaction.
 */
export function createSegmentWriter(
  database: DatabaseSync,
): (key: string, all: readonly Segment[], from: number) => void {
  // The parts of a deleted segment are deleted with it.
  const drop = database.prepare('DELETE FROM segments WHERE key = ? AND position >= ?')
  const put = database.prepare('INSERT INTO segments (key, position, segment, shared) VALUES (?, ?, ?, ?)')
  const putPart = database.prepare(
    'INSERT INTO segment_lists (key, position, path, part, entries, shared) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const store = createTextWriter(database)
  return (key, all, from) => {
    drop.run(key, from)
    for (const [offset, segment] of all.slice(from).entries()) {
      const position = from + offset
      const lists: LongList[] = []
      const rest = segment.ids.length > PART ? withoutLongLists(segment, [], lists) : segment
      const { text, shared } = store(JSON.stringify(rest))
      put.run(key, position, text, shared)
      for (const { path, entries } of lists) {
        const size = partSize(entries.length / segment.ids.length)
        for (let part = 0; part * size < entries.length; part++) {
          const stored = store(JSON.stringify(entries.slice(part * size, (part + 1) * size)))
          putPart.run(key, position, JSON.stringify(path), part, stored.text, stored.shared)
        }
      }
    }
  }
}

/** Returns the entries of a part: those of the same tokens for each length of a list, so that cut lists have the same parts. */
const partSize = (entriesOfToken: number): number =>
  Math.min(PART * Math.max(1, Math.floor(entriesOfToken)), MOST_ENTRIES)

/** Returns a function that returns the segments of a trajectory as JSON values. It throws SyntaxError for damaged texts. */
export function createSegmentReader(database: DatabaseSync): (key: string) => readonly unknown[] {
  const rows = database.prepare(
    `SELECT position, segment AS text, ${SHARED_COLUMNS} FROM segments ${SHARED_JOIN}
     WHERE key = ? ORDER BY position`,
  )
  const parts = database.prepare(
    `SELECT position, path, entries AS text, ${SHARED_COLUMNS} FROM segment_lists ${SHARED_JOIN}
     WHERE key = ? ORDER BY position, path, part`,
  )
  return (key) => {
    const segments = new Map<unknown, unknown>()
    for (const row of rows.iterate(key))
      segments.set(row.position, JSON.parse(readRowText(row, `segments[${row.position}]`)))
    const lists = new Map<string, StoredList>()
    for (const row of parts.iterate(key)) {
      const { position, path } = row
      const name = `${position} ${path}`
      const list = lists.get(name) ?? findList(segments.get(position), JSON.parse(String(path)))
      lists.set(name, list)
      const what = `segments[${position}].${jsonPathText(list.path)}`
      list.parts.push(JSON.parse(readRowText(row, what)))
    }
    for (const list of lists.values()) fillList(list)
    return [...segments.values()]
  }
}

interface LongList {
  readonly path: JsonPath
  readonly entries: readonly unknown[]
}

/** Returns the value with the number of its entries in place of each long list of numbers, and adds those to `lists`. */
function withoutLongLists(value: unknown, path: JsonPath, lists: LongList[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  const inner = (entry: unknown, step: string | number) => withoutLongLists(entry, [...path, step], lists)
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, inner(entry, name)]))
  if (value.length <= PART || !value.every(isNumberOrNull)) return value.map(inner)
  lists.push({ path, entries: value })
  return value.length
}

const isNumberOrNull = (entry: unknown): boolean => entry === null || typeof entry === 'number'

interface StoredList {
  readonly path: JsonPath
  /** The object or array that contains the list, in place of which it has the number of its entries. */
  readonly holder: Record<string | number, unknown>
  readonly parts: unknown[][]
}

/** Finds the place of a list. Throws SyntaxError if the segment has no number there. */
function findList(segment: unknown, path: JsonPath): StoredList {
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((outer, step) => (isHolder(outer) ? outer[step] : undefined), segment)
  if (!isHolder(holder) || typeof holder[path.at(-1) ?? ''] !== 'number')
    throw new SyntaxError(`the segment has no list ${jsonPathText(path)}`)
  return { path, holder, parts: [] }
}

/** Puts a list in its place. Throws SyntaxError if it has another number of entries than its place says. */
function fillList({ path, holder, parts }: StoredList): void {
  const last = path.at(-1) ?? ''
  const none: unknown[] = []
  const entries = none.concat(...parts)
  if (entries.length !== holder[last])
    throw new SyntaxError(`${jsonPathText(path)} has ${entries.length} of its ${holder[last]} entries`)
  holder[last] = entries
}

const isHolder = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null
