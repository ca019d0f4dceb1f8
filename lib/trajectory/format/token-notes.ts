/** Notes that people write on ranges of tokens. They are labels: they change after the run, and the record does not. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Maximum number of notes on the tokens of one trajectory. */
export const MAX_TOKEN_NOTES = 100
/** Maximum UTF-16 code units of the text of one note. */
export const MAX_TOKEN_NOTE_TEXT = 2_000

const tokenIndex = z.int().check(z.minimum(0))

/** Schema of the notes on the tokens of one trajectory. `tokenNotesViolation` checks the rest. */
export const tokenNotesSchema = z
  .array(
    z.looseObject({
      id: withDescription(
        z.string().check(z.minLength(1), z.maxLength(40)),
        'Identifies the note among those of the trajectory.',
      ),
      start: withDescription(tokenIndex, 'Index of the first token, counted from the start of the trajectory.'),
      end: withDescription(tokenIndex, 'Index after the last token (half-open). A note has at least one token.'),
      text: withDescription(
        z.string().check(z.minLength(1), z.maxLength(MAX_TOKEN_NOTE_TEXT)),
        'The note, as plain text.',
      ),
    }),
  )
  .check(z.maxLength(MAX_TOKEN_NOTES))

/** A note on the tokens from `start` to `end` (exclusive) of a trajectory. */
export type TokenNote = Plain<z.infer<typeof tokenNotesSchema>>[number]

/** Returns what is wrong with notes on a trajectory of `count` tokens: an id used twice, or a range without tokens or outside. */
export function tokenNotesViolation(notes: readonly TokenNote[], count: number): Violation | undefined {
  const ids = new Set<string>()
  for (const [index, { id, start, end }] of notes.entries()) {
    if (ids.has(id)) return { path: `notes[${index}].id`, expected: 'an id used once', found: JSON.stringify(id) }
    if (start >= end || end > count)
      return { path: `notes[${index}]`, expected: `0 ≤ start < end ≤ ${count}`, found: `start ${start}, end ${end}` }
    ids.add(id)
  }
  return undefined
}

/** Returns an id that none of the notes has: the number after the largest. */
export const nextTokenNoteId = (notes: readonly TokenNote[]): string =>
  String(notes.reduce((largest, { id }) => Math.max(largest, /^\d{1,9}$/.test(id) ? Number(id) : 0), 0) + 1)

/** Sorts the notes by their tokens. Of notes with the same first token, the longer is first. */
export const sortTokenNotes = (notes: readonly TokenNote[]): readonly TokenNote[] =>
  notes.toSorted((a, b) => a.start - b.start || b.end - a.end)

/** Returns the tokens that have a note as flat pairs [start, end, …]: half-open, sorted and without overlap. */
export function rangesWithNotes(notes: readonly TokenNote[]): number[] {
  const ranges: number[] = []
  for (const { start, end } of sortTokenNotes(notes)) {
    const last = ranges.at(-1)
    if (last !== undefined && start < last) ranges[ranges.length - 1] = Math.max(last, end)
    else ranges.push(start, end)
  }
  return ranges
}
