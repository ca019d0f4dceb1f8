import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { violationText } from '#lib/util/schema-violation.ts'
import { withNotesInside } from './labels.ts'
import {
  MAX_TOKEN_NOTE_TEXT,
  MAX_TOKEN_NOTES,
  nextTokenNoteId,
  rangesWithNotes,
  sortTokenNotes,
  type TokenNote,
  tokenNotesSchema,
  tokenNotesViolation,
} from './token-notes.ts'

const COUNT = 30
const note = (start: number, end: number, id = `${start}-${end}`): TokenNote => ({ id, start, end, text: 'seen' })
const anyNotes = fc
  .uniqueArray(fc.tuple(fc.nat(COUNT - 1), fc.nat(COUNT)), { maxLength: 8, selector: String })
  .map((ranges) => ranges.filter(([start, end]) => start < end).map(([start, end]) => note(start, end)))

describe('Notes on tokens', () => {
  test('with any ranges inside the trajectory are valid, and their marks cover exactly their tokens', () => {
    fc.assert(
      fc.property(anyNotes, (notes) => {
        expect(tokenNotesViolation(notes, COUNT)).toBeUndefined()
        const ranges = rangesWithNotes(notes)
        expect(ranges).toEqual([...ranges].sort((a, b) => a - b))
        const isMarked = (token: number) =>
          ranges.some((start, index) => index % 2 === 0 && token >= start && token < (ranges[index + 1] ?? 0))
        for (let token = 0; token < COUNT; token++)
          expect(isMarked(token)).toBe(notes.some(({ start, end }) => token >= start && token < end))
      }),
    )
  })

  test('are listed in the order of their tokens, the longer one first', () => {
    const ids = sortTokenNotes([note(4, 5), note(2, 3), note(2, 9)]).map(({ id }) => id)
    expect(ids).toEqual(['2-9', '2-3', '4-5'])
  })

  test.each([
    ['an empty range', [note(3, 3)], 'notes[0]: expected 0 ≤ start < end ≤ 30, found start 3, end 3'],
    ['a reversed range', [note(0, 1), note(5, 2)], 'notes[1]: expected 0 ≤ start < end ≤ 30, found start 5, end 2'],
    ['a range outside', [note(29, 31)], 'notes[0]: expected 0 ≤ start < end ≤ 30, found start 29, end 31'],
    ['an id used twice', [note(0, 1, 'a'), note(1, 2, 'a')], 'notes[1].id: expected an id used once, found "a"'],
  ])('with %s are refused with their path', (_what, notes, expected) => {
    const violation = tokenNotesViolation(notes, COUNT)
    expect(violation && violationText(violation)).toBe(expected)
  })

  test('are limited in number and in the length of their texts', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => note(0, 1, String(index)))
    const accepts = (notes: unknown) => tokenNotesSchema.safeParse(notes).success
    expect([accepts(many(MAX_TOKEN_NOTES)), accepts(many(MAX_TOKEN_NOTES + 1))]).toEqual([true, false])
    const long = (length: number) => [{ ...note(0, 1), text: 'x'.repeat(length) }]
    expect([accepts(long(MAX_TOKEN_NOTE_TEXT)), accepts(long(MAX_TOKEN_NOTE_TEXT + 1))]).toEqual([true, false])
    expect([accepts(long(0)), accepts([note(0, 1, '')]), accepts([note(0, 1, 'x'.repeat(41))])]).toEqual([
      false,
      false,
      false,
    ])
  })

  test('get an id that none of them has', () => {
    expect(nextTokenNoteId([])).toBe('1')
    expect(nextTokenNoteId([note(0, 1, '7'), note(0, 1, 'x9'), note(0, 1, '2')])).toBe('8')
  })

  test('on tokens that a trajectory no longer has are left out, and all others are unchanged', () => {
    const labels = { title: 'a', notes: [note(0, 2), note(1, 5)] }
    expect(withNotesInside(labels, 5)).toBe(labels)
    expect(withNotesInside(labels, 4)).toEqual({ title: 'a', notes: [note(0, 2)] })
    expect(withNotesInside(labels, 1)).toEqual({ title: 'a' })
    expect(withNotesInside({}, 0)).toEqual({})
  })
})
