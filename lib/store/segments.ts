/**
 * Writes and reads the segments of a trajectory. The JSON of a segment is one text. If the segment has many tokens, its
 * long lists of numbers are stored in parts instead, because SQLite and its binding copy every text several times.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type JsonPath, jsonPathText } from '#lib/json/json-path.ts'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'

/** Entries of a part. Lists of a segment with more tokens are stored in parts if they have more entries. */
export const PART = 16_384

/**
 * Returns a function that replaces the segments of a trajectory from a position on. It must be called in a transaction.
 */
export function createSegmentWriter(
  database: DatabaseSync,
): (key: string, all: readonly Segment[], from: number) => void {
  // The parts of a deleted segment are deleted with it.
  const drop = database.prepare('DELETE FROM segments WHERE key = ? AND position >= ?')
  const put = database.prepare('INSERT INTO segments (key, position, segment) VALUES (?, ?, ?)')
  const putPart = database.prepare(
    'INSERT INTO segment_lists (key, position, path, part, entries) VALUES (?, ?, ?, ?, ?)',
  )
  return (key, all, from) => {
    drop.run(key, from)
    for (const [offset, segment] of all.slice(from).entries()) {
      const position = from + offset
      const lists: LongList[] = []
      const rest = segment.ids.length > PART ? withoutLongLists(segment, [], lists) : segment
      put.run(key, position, JSON.stringify(rest))
      for (const { path, entries } of lists)
        for (let part = 0; part * PART < entries.length; part++)
          putPart.run(
            key,
            position,
            JSON.stringify(path),
            part,
            JSON.stringify(entries.slice(part * PART, (part + 1) * PART)),
          )
    }
  }
}

/** Returns a function that returns the segments of a trajectory as JSON values. It throws SyntaxError for damaged texts. */
export function createSegmentReader(database: DatabaseSync): (key: string) => readonly unknown[] {
  const rows = database.prepare('SELECT position, segment FROM segments WHERE key = ? ORDER BY position')
  const parts = database.prepare(
    'SELECT position, path, entries FROM segment_lists WHERE key = ? ORDER BY position, path, part',
  )
  return (key) => {
    const segments = new Map<unknown, unknown>()
    for (const { position, segment } of rows.iterate(key)) segments.set(position, JSON.parse(String(segment)))
    const lists = new Map<string, StoredList>()
    for (const { position, path, entries } of parts.iterate(key)) {
      // Another process may have added this segment since its row was looked for.
      if (!segments.has(position)) continue
      const name = `${position} ${path}`
      const list = lists.get(name) ?? putList(segments.get(position), JSON.parse(String(path)))
      lists.set(name, list)
      for (const entry of JSON.parse(String(entries))) list.entries.push(entry)
    }
    for (const { path, count, entries } of lists.values())
      if (entries.length !== count)
        throw new SyntaxError(`${jsonPathText(path)} has ${entries.length} of its ${count} entries`)
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
  readonly count: unknown
  readonly entries: unknown[]
}

/** Puts an empty list in place of the number at a path. Throws SyntaxError if there is no number. */
function putList(segment: unknown, path: JsonPath): StoredList {
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((outer, step) => (isHolder(outer) ? outer[step] : undefined), segment)
  const last = path.at(-1) ?? ''
  const count = isHolder(holder) ? holder[last] : undefined
  if (!isHolder(holder) || typeof count !== 'number')
    throw new SyntaxError(`the segment has no list ${jsonPathText(path)}`)
  const entries: unknown[] = []
  holder[last] = entries
  return { path, count, entries }
}

const isHolder = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null
