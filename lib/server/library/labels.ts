/** The labels of stored trajectories over HTTP: changes of labels, and of single notes on tokens. */
import * as z from 'zod'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { changedLabels, type Labels } from '#lib/trajectory/format/labels.ts'
import {
  MAX_TOKEN_NOTE_TEXT,
  MAX_TOKEN_NOTES,
  nextTokenNoteId,
  sortTokenNotes,
  type TokenNote,
  tokenNotesSchema,
  tokenNotesViolation,
} from '#lib/trajectory/format/token-notes.ts'
import { describeValue, type Violation, violationText } from '#lib/util/schema-violation.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { noTrajectory, storedRow } from './trajectories.ts'

const hasNoNul = (text: string): boolean => !text.includes('\0')
const WITHOUT_NUL = { message: 'a text without the character U+0000' }

/** Returns the schema of a text in one line, with at most `most` UTF-16 code units. `what` names it in errors. */
const lineText = (what: string, most: number) =>
  z
    .string()
    .max(most)
    .regex(/^\S(.*\S)?$/u, `${what} in one line, without spaces at its ends`)
    .refine(hasNoNul, WITHOUT_NUL)

/** Returns the schema of a text that people write, with at most `most` UTF-16 code units. */
const writtenText = (most: number) =>
  z.string().min(1).max(most).regex(/\S/u, 'a text that is not blank').refine(hasNoNul, WITHOUT_NUL)

const noteText = writtenText(MAX_TOKEN_NOTE_TEXT)

/** The largest number of tags of a trajectory. */
export const MAX_TAGS = 200
const tagList = z
  .array(lineText('a tag', 500))
  .max(MAX_TAGS)
  .refine((tags) => new Set(tags).size === tags.length, { message: 'tags that differ' })

/** Schema of a change of labels; omitted labels stay, null removes one. */
export const labelChangeSchema = z.strictObject({
  title: lineText('a title', 500).nullable().exactOptional().describe('null removes it.'),
  tags: tagList
    .nullable()
    .exactOptional()
    .describe(
      'All tags of the trajectory: they replace the earlier ones, also those that another client added meanwhile. null removes them.',
    ),
  addTags: tagList.exactOptional().describe('Tags to add. The others stay, also those that another client adds.'),
  removeTags: tagList.exactOptional().describe('Tags to remove. The others stay.'),
  note: writtenText(20_000).nullable().exactOptional().describe('null removes it.'),
  notes: z
    .nullable(tokenNotesSchema)
    .refine((notes) => notes?.every(({ text }) => noteText.safeParse(text).success) ?? true, {
      message: 'notes that are not blank and without the character U+0000',
    })
    .exactOptional()
    .describe(
      'All notes on tokens: they replace the earlier ones, also those that another client wrote meanwhile. null removes them. POST /api/trajectories/{key}/notes adds one.',
    ),
  reward: z.number().nullable().exactOptional().describe('null: not scored.'),
})

/** Schema of a new note on tokens. */
export const noteSchema = z.strictObject({
  start: z.int().min(0).describe('Index of the first token, counted from the start of the trajectory.'),
  end: z.int().min(0).describe('Index after the last token (half-open).'),
  text: noteText.describe('The note, as plain text.'),
})

/** Schema of a change of one note on tokens. */
export const noteChangeSchema = z.strictObject({
  text: noteText.nullable().describe('The new text. null deletes the note.'),
  before: z
    .string()
    .exactOptional()
    .describe(
      'The text that the client has read. If the note has another text by now, it stays, and the answer is 409. Omitted: any text is replaced.',
    ),
})

/**
 * Changes the labels of a trajectory and returns its row. Throws HttpProblem 404, 409 for more tags than a trajectory can have, and 422 for
 * notes on tokens that it does not have.
 */
export function labelTrajectory(
  key: string,
  change: z.infer<typeof labelChangeSchema>,
  all: Services,
): TrajectorySummary {
  const { notes } = change
  if (notes) {
    const { tokens } = storedRow(key, all)
    refuseViolation(tokenNotesViolation(notes, tokens), tokens)
  }
  const row = all.store.label(key, (labels) => {
    if ((changedLabels(labels, change).tags?.length ?? 0) > MAX_TAGS)
      throw new HttpProblem({
        status: 409,
        code: 'TOO_MANY_TAGS',
        detail: `the trajectory would have more than ${MAX_TAGS} tags`,
        hint: 'Remove some of its tags, then add the new ones.',
        field: 'addTags',
      })
    return change
  })
  if (!row) throw noTrajectory(key, all.store)
  return row
}

/** The notes on the tokens of a trajectory, in the order of their tokens. */
interface NotesAnswer {
  readonly notes: readonly TokenNote[]
}

/**
 * Adds a note on tokens with an id of its own, and returns all notes. Throws HttpProblem 404, 409 if the trajectory has the most notes, and 422 for
 * tokens that it does not have.
 */
export function addNote(key: string, note: z.infer<typeof noteSchema>, all: Services): NotesAnswer {
  const { tokens } = storedRow(key, all)
  return changeNotes(key, all, (notes) => {
    if (notes.length >= MAX_TOKEN_NOTES)
      throw new HttpProblem({
        status: 409,
        code: 'TOO_MANY_NOTES',
        detail: `the trajectory has ${MAX_TOKEN_NOTES} notes, which is the most`,
        hint: 'Delete one, then write the new one.',
      })
    const violation = tokenNotesViolation([{ id: '', ...note }], tokens)
    // The note is the whole body, and no entry of a list.
    refuseViolation(violation && { ...violation, path: '' }, tokens)
    return [...notes, { id: nextTokenNoteId(notes), ...note }]
  })
}

/**
 * Changes or deletes one note on tokens, and returns all notes. Throws HttpProblem 404, and 409 if another client has changed the note since
 * it was read.
 */
export function changeNote(
  key: string,
  id: string,
  { text, before }: z.infer<typeof noteChangeSchema>,
  all: Services,
): NotesAnswer {
  return changeNotes(key, all, (notes) => {
    const note = notes.find((one) => one.id === id)
    if (!note)
      throw new HttpProblem({
        status: 404,
        code: 'NO_NOTE',
        detail: `the trajectory has no note ${describeValue(id)}`,
        hint: 'Another client may have deleted it. Read the notes of the trajectory again.',
      })
    if (before !== undefined && before !== note.text)
      throw new HttpProblem({
        status: 409,
        code: 'NOTE_CHANGED',
        detail: `another client has changed the note ${describeValue(id)}: its text is now ${describeValue(note.text)}`,
        hint: 'Read the note again. To replace it, send its present text as "before".',
        field: 'before',
      })
    return notes.flatMap((one) => (one !== note ? [one] : text === null ? [] : [{ ...one, text }]))
  })
}

/** Changes the notes of a trajectory in one step, so that the notes of another client stay. Returns those that are shown. Throws HttpProblem 404. */
function changeNotes(
  key: string,
  { store }: Services,
  change: (notes: readonly TokenNote[]) => readonly TokenNote[],
): NotesAnswer {
  const changeLabels = ({ notes = [] }: Labels) => {
    const changed = sortTokenNotes(change(notes))
    return { notes: changed.length > 0 ? [...changed] : null }
  }
  if (!store.label(key, changeLabels)) throw noTrajectory(key, store)
  return { notes: store.labels(key)?.notes ?? [] }
}

/** Throws HttpProblem 422 for a violation by notes on a trajectory with so many tokens. */
function refuseViolation(violation: Violation | undefined, tokens: number): void {
  if (!violation) return
  throw new HttpProblem({
    status: 422,
    code: 'BAD_REQUEST',
    detail: violationText(violation),
    hint: `The trajectory has ${countWithNoun(tokens, 'token')}. A note is on the tokens from "start" to before "end".`,
    field: violation.path === '' ? undefined : violation.path,
  })
}
