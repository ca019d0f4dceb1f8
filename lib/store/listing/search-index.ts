/**
 * The index of what models wrote: their text, thinking and tool calls, a row for each response, so that a run that goes on
 * adds only what is new. Records that were stored before there was an index get theirs when they are checked.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { trainedSpans } from '#lib/trajectory/health/trainer-cut.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { folded } from './folded.ts'

/** What the index holds of a record. */
export interface RecordIndex {
  /** Of each response, by the position of its segment. */
  readonly texts: readonly { readonly position: number; readonly text: string }[]
  /** As trainedSpans gives them. */
  readonly trainedSpans: readonly number[]
}

/** `from`: the first segment that is of interest. */
export function recordIndex(trajectory: Trajectory, from = 0): RecordIndex {
  const { segments, vocab, model } = trajectory
  const special = new Set(model.tokenizer?.specialIds)
  const texts = segments.flatMap((segment, position) => {
    if (position < from || segment.kind !== 'response') return []
    // Ids without a text would be found as numbers, markers in every trajectory.
    const ids = Array.from(segment.ids).filter((id) => !special.has(id) && Object.hasOwn(vocab, id))
    const text = indexedText(folded(textOf(ids, vocab)))
    return text === '' ? [] : [{ position, text }]
  })
  return { texts, trainedSpans: trainedSpans(segments) }
}

/** Scripts without spaces between words: each of their characters is a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu

/** Folded text as the index takes it apart. */
export const indexedText = (text: string): string =>
  text
    .replace(UNSPACED, ' $& ')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: SQLite ends a text at U+0000
    .replace(/\u0000/g, ' ')
    .trim()

export interface SearchIndex {
  /** Takes the place of what is known of the segments from `from` on. Within a transaction. */
  write(key: string, index: RecordIndex, from: number): void
}

export function createSearchIndex(database: DatabaseSync): SearchIndex {
  const drop = database.prepare('DELETE FROM generated WHERE key = ? AND position >= ?')
  const insert = database.prepare('INSERT INTO generated (key, position) VALUES (?, ?) RETURNING id')
  const insertText = database.prepare('INSERT INTO generated_search (rowid, text) VALUES (?, ?)')
  return {
    write(key, { texts }, from) {
      drop.run(key, from)
      for (const { position, text } of texts) insertText.run(insert.get(key, position)?.id as number, text)
    },
  }
}
