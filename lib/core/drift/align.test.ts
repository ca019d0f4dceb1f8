import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alignByOffsets, driftOf, type Stretch } from './align.ts'

/** Ids that are pieces of text: 0 is empty, 1…3 single letters, others several. */
const PIECES = ['', 'a', 'b', 'c', 'aa', 'ab', 'ba', 'abc', 'bc', 'abab'] as const
const encoder = new TextEncoder()
const TABLE = PIECES.map((piece) => encoder.encode(piece))
const bytes = (id: number): Uint8Array => TABLE[id] as Uint8Array
const spelled = (ids: readonly number[]): string => ids.map((id) => PIECES[id]).join('')
const idOf = (piece: (typeof PIECES)[number]): number => PIECES.indexOf(piece)
const ids = (text: string): number[] =>
  text === '' ? [] : text.split('|').map((piece) => idOf(piece as (typeof PIECES)[number]))

/** `ab|c = ab|c`, `a|b ~ ab` (drift), `a ≠ b` (drift of other bytes). */
const draw = (left: string, right: string): string =>
  alignByOffsets(ids(left), ids(right), bytes)
    .map((stretch) => {
      const side = (all: string, { start, end }: Stretch['left']) => all.split('|').slice(start, end).join('|')
      const sign = stretch.kind === 'equal' ? '=' : stretch.sameBytes ? '~' : '≠'
      return `${side(left, stretch.left)} ${sign} ${side(right, stretch.right)}`
    })
    .join('   ')

describe('alignment by offsets', () => {
  test('cuts where tokens of both end at the same byte', () => {
    expect(draw('a|b|c', 'a|b|c')).toBe('a|b|c = a|b|c')
    expect(draw('c|a|b|c', 'c|ab|c')).toBe('c = c   a|b ~ ab   c = c')
    expect(draw('abab|c', 'ab|ab|c')).toBe('abab ~ ab|ab   c = c')
    expect(draw('a|ba|b', 'ab|ab')).toBe('a|ba|b ~ ab|ab')
    expect(draw('', '')).toBe('')
  })

  test('neighbouring differences are one stretch', () => {
    expect(draw('c|a|b|a|a|c', 'c|ab|aa|c')).toBe('c = c   a|b|a|a ~ ab|aa   c = c')
  })

  test('an id that stands further on is no match: one other split shifts nothing', () => {
    expect(draw('a|b|ab|ab', 'ab|ab|a|b')).toBe('a|b ~ ab   ab = ab   ab ~ a|b')
  })

  test('tokens that spell nothing stand alone, or within others', () => {
    expect(draw('a||b', 'a|b')).toBe('a = a    ~    b = b')
    expect(draw('a|b|', 'a|b')).toBe('a|b = a|b    ~ ')
    expect(draw('ab|c', 'a||b|c')).toBe('ab ~ a||b   c = c')
  })

  test('where the bytes differ they meet at the nearest three equal ids, or at the end', () => {
    expect(draw('a|b|c|ab|a|b', 'a|c|c|ab|a|b')).toBe('a = a   b ≠ c   c|ab|a|b = c|ab|a|b')
    expect(draw('a|b', 'a|c')).toBe('a = a   b ≠ c')
    expect(draw('a|b', 'a')).toBe('a = a   b ≠ ')
    expect(draw('a', 'a|b')).toBe('a = a    ≠ b')
    expect(draw('c|b|a|b|c', 'c|a|a|b|a|b|c')).toBe('c = c    ≠ a|a   b|a|b|c = b|a|b|c')
  })

  test('a stretch of other bytes may be longer than the first window', () => {
    const left = [1, ...Array.from({ length: 40 }, () => 2), 1, 3, 7]
    const right = [1, ...Array.from({ length: 20 }, () => 3), 1, 3, 7]
    expect(alignByOffsets(left, right, bytes)).toEqual([
      { kind: 'equal', left: { start: 0, end: 1 }, right: { start: 0, end: 1 } },
      { kind: 'drift', left: { start: 1, end: 41 }, right: { start: 1, end: 21 }, sameBytes: false },
      { kind: 'equal', left: { start: 41, end: 44 }, right: { start: 21, end: 24 } },
    ])
  })

  test('takes the nearer of two places where both go on alike', () => {
    const left = [2, 2, 1, 3, 7, 5, 6, 8, 4]
    const right = [3, 1, 3, 7, 9, 5, 6, 8, 4]
    expect(driftOf(alignByOffsets(left, right, bytes)).map(({ left }) => left)).toEqual([
      { start: 0, end: 2 },
      { start: 5, end: 5 },
    ])
  })

  test('takes the same of two that are equally near, whichever side they stand on', () => {
    const left = [2, 1, 3, 7, 5, 6, 8]
    const right = [3, 5, 6, 8, 1, 3, 7]
    expect(driftOf(alignByOffsets(left, right, bytes))[0]).toMatchObject({ left: { end: 1 }, right: { end: 4 } })
    expect(driftOf(alignByOffsets(right, left, bytes))[0]).toMatchObject({ left: { end: 4 }, right: { end: 1 } })
  })

  test('reads typed arrays', () => {
    expect(driftOf(alignByOffsets(Int32Array.of(1, 2), Int32Array.of(5), bytes))).toEqual([
      { kind: 'drift', left: { start: 0, end: 2 }, right: { start: 0, end: 1 }, sameBytes: true },
    ])
  })
})

const anyIds = fc.array(fc.nat({ max: PIECES.length - 1 }), { maxLength: 60 })

/** Another way to cut the text of some ids, chosen at each place by a number. */
const recut = (text: string, choices: readonly number[]): number[] => {
  const cut: number[] = []
  for (let at = 0, n = 0; at < text.length; n++) {
    const fitting = PIECES.flatMap((piece, id) => (piece !== '' && text.startsWith(piece, at) ? [id] : []))
    const id = fitting[(choices[n % Math.max(1, choices.length)] ?? 0) % fitting.length] as number
    cut.push(id)
    at += (PIECES[id] as string).length
  }
  return cut
}
const sameText = fc
  .tuple(anyIds, fc.array(fc.nat({ max: 9 }), { maxLength: 60 }))
  .map(([left, choices]) => [left, recut(spelled(left), choices)] as const)
const anyPair = fc.oneof(sameText, fc.tuple(anyIds, anyIds))

describe('every alignment', () => {
  const slice = <T>(all: readonly T[], { start, end }: Stretch['left']) => all.slice(start, end)

  test('is made of stretches that are both sequences, equal and drift by turns', () => {
    fc.assert(
      fc.property(anyPair, ([left, right]) => {
        const stretches = alignByOffsets(left, right, bytes)
        expect(stretches.flatMap((s) => slice(left, s.left))).toEqual([...left])
        expect(stretches.flatMap((s) => slice(right, s.right))).toEqual([...right])
        for (const [index, stretch] of stretches.entries()) {
          const before = stretches[index - 1]
          expect([stretch.left.start, stretch.right.start]).toEqual([before?.left.end ?? 0, before?.right.end ?? 0])
          expect(stretch.kind).not.toBe(before?.kind)
        }
      }),
    )
  })

  test('has equal ids where it says so, and the same bytes where it says so', () => {
    fc.assert(
      fc.property(anyPair, ([left, right]) => {
        for (const stretch of alignByOffsets(left, right, bytes)) {
          const [ours, theirs] = [slice(left, stretch.left), slice(right, stretch.right)]
          if (stretch.kind === 'equal') expect(ours).toEqual(theirs)
          else expect(ours).not.toEqual(theirs)
          if (stretch.kind === 'drift' && stretch.sameBytes) expect(spelled(ours)).toBe(spelled(theirs))
        }
      }),
    )
  })

  test('of the same text has the same bytes throughout, and no id in drift that stands at the same byte in both', () => {
    const placed = (all: readonly number[]) => all.map((id, index) => `${id} at ${spelled(all.slice(0, index)).length}`)
    fc.assert(
      fc.property(sameText, fc.array(fc.nat({ max: 9 })), ([, right], choices) => {
        const left = recut(spelled(right), choices)
        const drift = driftOf(alignByOffsets(left, right, bytes))
        expect(drift.every(({ sameBytes }) => sameBytes)).toBe(true)
        const common = new Set(placed(left)).intersection(new Set(placed(right)))
        const inDrift = drift.flatMap((stretch) => slice(placed(left), stretch.left))
        expect(inDrift.filter((token) => common.has(token))).toEqual([])
      }),
    )
  })

  test('of a sequence with itself has no drift', () => {
    fc.assert(fc.property(anyIds, (all) => driftOf(alignByOffsets(all, all, bytes)).length === 0))
  })

  test('of swapped sequences is the same, swapped', () => {
    fc.assert(
      fc.property(anyPair, ([left, right]) => {
        const swapped = alignByOffsets(right, left, bytes).map((s) => ({ ...s, left: s.right, right: s.left }))
        expect(swapped).toEqual(alignByOffsets(left, right, bytes))
      }),
      { numRuns: 500 },
    )
  })
})
