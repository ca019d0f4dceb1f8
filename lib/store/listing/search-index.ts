/**
 * Indexes generated text: text, thinking and tool calls, with a row for each response, so that a running
 * trajectory adds only new rows. Older records are indexed when they are checked.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { trainedSpans } from '#lib/trajectory/health/trained-spans.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { foldCase } from './fold-case.ts'

/** The index entries of a record. */
export interface RecordIndex {
  /** Text of each response, by the position of its segment. */
  readonly texts: readonly { readonly position: number; readonly text: string }[]
  /** As trainedSpans returns them. */
  readonly trainedSpans: readonly number[]
}

/** Returns the entries of a whole record. */
export const recordIndex = (trajectory: Trajectory): RecordIndex => ({
  texts: generatedTexts(trajectory),
  trainedSpans: trainedSpans(trajectory.segments),
})

/** Returns the texts of responses; `from` is the first segment to include. */
export function generatedTexts({ segments, vocab, model }: Trajectory, from = 0): RecordIndex['texts'] {
  const special = new Set(model.tokenizer?.specialIds)
  return segments.flatMap((segment, position) => {
    if (position < from || segment.kind !== 'response') return []
    // Ids without a text would be found as numbers, and markers in every trajectory.
    const ids = segment.ids.filter((id) => !special.has(id) && Object.hasOwn(vocab, id))
    const text = indexedText(foldCase(textOf(ids, vocab)))
    return text === '' ? [] : [{ position, text }]
  })
}

/** Scripts without spaces between words: each character is a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu

/** Returns folded text as the index tokenizes it. */
export const indexedText = (text: string): string =>
  text
    .replace(UNSPACED, ' $& ')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: SQLite ends a text at U+0000
    .replace(/\u0000/g, ' ')
    .trim()

/** Writer of the index. */
export interface SearchIndex {
  /** Replaces the entries of the segments from `from` on. It must be called in a transaction. */
  write(key: string, texts: RecordIndex['texts'], from: number): void
}

/** Prepares the statements for the index on a connection. */
export function createSearchIndex(database: DatabaseSync): SearchIndex {
  const drop = database.prepare('DELETE FROM generated WHERE key = ? AND position >= ?')
  const insert = database.prepare('INSERT INTO generated (key, position) VALUES (?, ?) RETURNING id')
  const insertText = database.prepare('INSERT INTO generated_search (rowid, text) VALUES (?, ?)')
  return {
    write(key, texts, from) {
      drop.run(key, from)
      for (const { position, text } of texts) insertText.run(insert.get(key, position)?.id as number, text)
    },
  }
}
