import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { type AlignedRun, alignTokens, driftOf } from './align.ts'

/** Each id is a piece of text: 0 is empty, 1…3 are single letters, the others have several letters. */
const PIECES = [
  '',
  'a',
  'b',
  'c',
  'aa',
  'ab',
  'ba',
  'abc',
  'bc',
  'abab',
  ' a',
  '\n',
  ' ',
  '<a>',
  '<',
  '>',
  '1',
  'é',
] as const
/** An id without a known text. */
const UNKNOWN = PIECES.length
const encoder = new TextEncoder()
const TABLE = PIECES.map((piece) => encoder.encode(piece))
const bytes = (id: number): Uint8Array | undefined => TABLE[id]
const spelled = (ids: readonly number[]): string => ids.map((id) => PIECES[id] ?? `⟨${id}⟩`).join('')
const idOf = (piece: (typeof PIECES)[number]): number => PIECES.indexOf(piece)
const ids = (text: string): number[] =>
  text === '' ? [] : text.split('|').map((piece) => idOf(piece as (typeof PIECES)[number]))

/** Notation: `ab|c = ab|c`, `a|b ~ ab` (drift of equal bytes), `a ≠ b` (drift of different bytes). */
const draw = (left: string, right: string): string =>
  alignTokens(ids(left), ids(right), bytes)
    .map((alignedRun) => {
      const side = (all: string, { start, end }: AlignedRun['left']) => all.split('|').slice(start, end).join('|')
      const sign = alignedRun.kind === 'equal' ? '=' : alignedRun.sameBytes ? '~' : '≠'
      return `${side(left, alignedRun.left)} ${sign} ${side(right, alignedRun.right)}`
    })
    .join('   ')

describe('alignTokens', () => {
  test('cuts where tokens of both sides end at the same byte', () => {
    expect(draw('a|b|c', 'a|b|c')).toBe('a|b|c = a|b|c')
    expect(draw('c|a|b|c', 'c|ab|c')).toBe('c = c   a|b ~ ab   c = c')
    expect(draw('abab|c', 'ab|ab|c')).toBe('abab ~ ab|ab   c = c')
    expect(draw('a|ba|b', 'ab|ab')).toBe('a|ba|b ~ ab|ab')
    expect(draw('', '')).toBe('')
  })

  test('merges adjacent differences into one drift', () => {
    expect(draw('c|a|b|a|a|c', 'c|ab|aa|c')).toBe('c = c   a|b|a|a ~ ab|aa   c = c')
  })

  test('does not match equal ids at different bytes of the same text', () => {
    expect(draw('a|b|ab|ab', 'ab|ab|a|b')).toBe('a|b ~ ab   ab = ab   ab ~ a|b')
  })

  test('keeps tokens without text alone or inside of others', () => {
    expect(draw('a||b', 'a|b')).toBe('a = a    ~    b = b')
    expect(draw('a|b|', 'a|b')).toBe('a|b = a|b    ~ ')
    expect(draw('ab|c', 'a||b|c')).toBe('ab ~ a||b   c = c')
  })

  test('aligns by text where the bytes differ', () => {
    expect(draw('a|b|c|ab|a|b', 'a|c|c|ab|a|b')).toBe('a = a   b ≠ c   c|ab|a|b = c|ab|a|b')
    expect(draw('a|b', 'a|c')).toBe('a = a   b ≠ c')
    expect(draw('a|b', 'a')).toBe('a = a   b ≠ ')
    expect(draw('a', 'a|b')).toBe('a = a    ≠ b')
    expect(draw('c|b|a|b|c', 'c|a|a|b|a|b|c')).toBe('c = c    ≠ a|a   b|a|b|c = b|a|b|c')
  })

  test('does not match a long run of equal ids elsewhere in the same text', () => {
    const [joined, apart] = [
      Array.from({ length: 40 }, () => 'ab'),
      Array.from({ length: 60 }, () => ['a', 'b']).flat(),
    ]
    const both = apart.slice(0, 40).join('|')
    const rest = apart.slice(40).join('|')
    expect(draw([...joined, ...apart].join('|'), [...apart, ...joined].join('|'))).toBe(
      `${joined.join('|')} ~ ${rest}   ${both} = ${both}   ${rest} ~ ${joined.join('|')}`,
    )
  })

  test('reports a moved run of ids as a removal and an insertion', () => {
    const row = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)
    const [moved, others] = [row(1000, 40), row(2000, 90)]
    expect(driftOf(alignTokens([1, ...moved, ...others, 2], [1, ...others, ...moved, 2], bytes))).toEqual([
      { kind: 'drift', left: { start: 1, end: 41 }, right: { start: 1, end: 1 }, sameBytes: false },
      { kind: 'drift', left: { start: 131, end: 131 }, right: { start: 91, end: 131 }, sameBytes: false },
    ])
  })

  test('moves a drift to a better edge, but leaves at least one equal token', () => {
    expect(draw('c|<a>|b', 'c|<a>|a|<a>|b')).toBe('c = c    ≠ <a>|a   <a>|b = <a>|b')
    expect(draw('<a>|b', '<a>|a|<a>|b')).toBe('<a> = <a>    ≠ a|<a>   b = b')
  })

  test('accepts typed arrays', () => {
    expect(driftOf(alignTokens(Int32Array.of(1, 2), Int32Array.of(5), bytes))).toEqual([
      { kind: 'drift', left: { start: 0, end: 2 }, right: { start: 0, end: 1 }, sameBytes: true },
    ])
  })
})

const knownIds = fc.array(fc.nat({ max: PIECES.length - 1 }), { maxLength: 60 })
const anyIds = fc.array(fc.nat({ max: UNKNOWN + 1 }), { maxLength: 60 })

/** Tokenizes the text of some ids differently; each choice is a number. */
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
  .tuple(knownIds, fc.array(fc.nat({ max: 9 }), { maxLength: 60 }))
  .map(([left, choices]) => [left, recut(spelled(left), choices)] as const)
/** Replaces a run of tokens by others. */
const edited = fc
  .tuple(
    anyIds,
    fc.array(fc.record({ at: fc.nat({ max: 60 }), gone: fc.nat({ max: 9 }), news: anyIds }), { maxLength: 3 }),
  )
  .map(([left, edits]) => {
    const right = [...left]
    for (const { at, gone, news } of edits) right.splice(at, gone, ...news.slice(0, 9))
    return [left, right] as const
  })
/** Passages that repeat, long enough to be found as runs, with some tokens replaced. */
const passages = Array.from({ length: 6 }, (_, passage) =>
  Array.from({ length: 25 }, (_, index) => (index * (2 * passage + 3) + passage) % (UNKNOWN + 2)),
)
const ofPassages = fc.array(fc.constantFrom(...passages), { maxLength: 12 }).map((all) => all.flat())
const long = fc
  .tuple(ofPassages, ofPassages, fc.nat({ max: 100 }), anyIds)
  .map(([left, right, at, news]) => [left, [...right.slice(0, at), ...news, ...right.slice(at)]] as const)
const longSameText = fc.tuple(ofPassages, fc.array(fc.nat({ max: 9 }), { maxLength: 6 })).map(([all, choices]) => {
  const left = all.filter((id) => id < UNKNOWN)
  return [left, recut(spelled(left), choices)] as const
})
const anyPair = fc.oneof(sameText, edited, long, longSameText, fc.tuple(anyIds, anyIds))

describe('every alignment', () => {
  const slice = <T>(all: readonly T[], { start, end }: AlignedRun['left']) => all.slice(start, end)

  test('consists of alternating equal and drift runs that cover both sequences', () => {
    fc.assert(
      fc.property(anyPair, ([left, right]) => {
        const alignedRuns = alignTokens(left, right, bytes)
        expect(alignedRuns.flatMap((s) => slice(left, s.left))).toEqual([...left])
        expect(alignedRuns.flatMap((s) => slice(right, s.right))).toEqual([...right])
        for (const [index, alignedRun] of alignedRuns.entries()) {
          const before = alignedRuns[index - 1]
          expect([alignedRun.left.start, alignedRun.right.start]).toEqual([
            before?.left.end ?? 0,
            before?.right.end ?? 0,
          ])
          expect(alignedRun.kind).not.toBe(before?.kind)
        }
      }),
    )
  })

  test('has equal ids in equal runs and equal bytes where sameBytes is set', () => {
    fc.assert(
      fc.property(anyPair, ([left, right]) => {
        for (const alignedRun of alignTokens(left, right, bytes)) {
          const [ours, theirs] = [slice(left, alignedRun.left), slice(right, alignedRun.right)]
          if (alignedRun.kind === 'equal') expect(ours).toEqual(theirs)
          else expect(ours).not.toEqual(theirs)
          if (alignedRun.kind === 'drift') expect(alignedRun.sameBytes).toBe(spelled(ours) === spelled(theirs))
        }
      }),
    )
  })

  test('of one text has equal bytes throughout, and no drift contains an id at the same byte of both sides', () => {
    const placed = (all: readonly number[]) => {
      let at = 0
      return all.map((id) => {
        const token = `${id} at ${at}`
        at += bytes(id)?.length ?? 0
        return token
      })
    }
    fc.assert(
      fc.property(fc.oneof(sameText, longSameText), fc.array(fc.nat({ max: 9 })), ([, right], choices) => {
        const left = recut(spelled(right), choices)
        const drift = driftOf(alignTokens(left, right, bytes))
        expect(drift.every(({ sameBytes }) => sameBytes)).toBe(true)
        const common = new Set(placed(left)).intersection(new Set(placed(right)))
        const inDrift = drift.flatMap((alignedRun) => slice(placed(left), alignedRun.left))
        expect(inDrift.filter((token) => common.has(token))).toEqual([])
      }),
    )
  })

  test('of a sequence with itself has no drift', () => {
    fc.assert(fc.property(anyIds, (all) => driftOf(alignTokens(all, all, bytes)).length === 0))
  })

  test('of swapped sequences is the swapped alignment', () => {
    fc.assert(
      fc.property(anyPair, ([left, right]) => {
        const swapped = alignTokens(right, left, bytes).map((s) => ({ ...s, left: s.right, right: s.left }))
        expect(swapped).toEqual(alignTokens(left, right, bytes))
      }),
      { numRuns: runs(500) },
    )
  })
})

test('finds replaced tokens in place and reports no other drift', () => {
  const edit = fc.record({ before: anyIds, gone: anyIds, behind: anyIds }).chain(({ before, gone, behind }) =>
    fc.record({
      before: fc.constant(before),
      gone: fc.constant(gone),
      news: fc.array(fc.nat({ max: UNKNOWN + 1 }), { minLength: gone.length, maxLength: gone.length }),
      behind: fc.constant(behind),
    }),
  )
  fc.assert(
    fc.property(edit, ({ before, gone, news, behind }) => {
      const drift = driftOf(alignTokens([...before, ...gone, ...behind], [...before, ...news, ...behind], bytes))
      const tokens = (side: 'left' | 'right') => drift.reduce((sum, { [side]: { start, end } }) => sum + end - start, 0)
      expect(tokens('left')).toBeLessThanOrEqual(gone.length)
      expect(tokens('right')).toBeLessThanOrEqual(news.length)
    }),
  )
})
