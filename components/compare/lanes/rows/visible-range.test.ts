import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPieceTable } from '#components/token-view/pieces/piece-table.ts'
import { alignTokens } from '#lib/trajectory/drift/align.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { pairingOf } from '../pairing.ts'
import { makeRows } from './make-rows.ts'
import type { RowSide } from './rows.ts'
import { visibleRangeOf } from './visible-range.ts'

const PIECES = ['one', 'two', 'three', 'four', 'five', 'six'] as const

/** Returns a side whose segments have these ids. */
function sideOf(...ids: readonly (readonly number[])[]): RowSide {
  const segments = ids.map((own): SegmentView => ({ kind: 'prompt', ids: own, messages: [] }))
  const table = createPieceTable((text) => text.length)
  table.takeVocab(Object.fromEntries(PIECES.map((piece, id) => [id, piece])))
  return { segments, starts: segmentStarts({ segments }), table }
}

/** Height of a line in the gutter in pixels. A label has two lines if the next label leaves room. */
const LINE = 14

function expectApart(left: RowSide, right: RowSide, arrangement: 'lanes' | 'unified'): number {
  const encoder = new TextEncoder()
  const idsOf = ({ segments }: RowSide) => segments.flatMap((segment) => Array.from(segment.ids))
  const alignedRuns = alignTokens(idsOf(left), idsOf(right), (id) => encoder.encode(PIECES[id]))
  const settings = { arrangement, onlyDifferences: false, open: new Set<number>(), columns: 12, rowHeight: 24 }
  const rows = makeRows({ left, right }, alignedRuns, settings)
  let count = 0
  for (const column of arrangement === 'unified' ? (['both'] as const) : (['left', 'right'] as const)) {
    const { runs, notes, folds } = visibleRangeOf(rows, pairingOf(alignedRuns), column, 0, 9999)
    const said = [
      ...runs.flatMap(({ isLabelled, isTight, top }) =>
        isLabelled ? [{ top, bottom: top + (isTight ? LINE : 2 * LINE) }] : [],
      ),
      ...notes.map(({ top }) => ({ top, bottom: top + LINE })),
      ...folds.map(({ top, height }) => ({ top, bottom: top + height })),
    ].sort((a, b) => a.top - b.top)
    for (const [index, { top }] of said.slice(1).entries()) expect(top).toBeGreaterThanOrEqual(said[index]?.bottom ?? 0)
    count += said.length
  }
  return count
}

const segments = fc.array(fc.array(fc.nat(PIECES.length - 1), { minLength: 1, maxLength: 8 }), {
  minLength: 1,
  maxLength: 6,
})

test.each(['lanes', 'unified'] as const)(
  'the gutter of arrangement “%s” has no overlapping labels, markers or folds',
  (arrangement) => {
    expect(expectApart(sideOf([0, 1, 2, 3]), sideOf([0, 4, 2, 5]), arrangement)).toBeGreaterThan(1)
    fc.assert(
      fc.property(segments, segments, (left, right) => {
        expectApart(sideOf(...left), sideOf(...right), arrangement)
      }),
    )
  },
)
