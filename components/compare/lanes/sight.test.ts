import { expect, test } from 'vitest'
import { alignTokens } from '#lib/core/drift/align.ts'
import { segmentStarts } from '#lib/core/tokens.ts'
import type { SegmentView } from '#lib/core/trajectory-view.ts'
import { createPieceTable } from '../../trajectory/piece-table.ts'
import { makeRows } from './make-rows.ts'
import { pairingOf } from './pairing.ts'
import type { RowSide } from './rows.ts'
import { sightOf } from './sight.ts'

const PIECES = ['one', 'two', 'three', 'four', 'five', 'six'] as const

function sideOf(ids: readonly number[]): RowSide {
  const segments: readonly SegmentView[] = [{ kind: 'prompt', ids, messages: [] }]
  const table = createPieceTable((text) => text.length)
  table.takeVocab(Object.fromEntries(PIECES.map((piece, id) => [id, piece])))
  return { segments, starts: segmentStarts({ segments }), table }
}

/** Lines of 11 and 14 pixels in the gutter: a label has two of them. */
const [LABEL, NOTE] = [28, 14]

test.each(['lanes', 'unified'] as const)('nothing in the gutter of %s lies over anything else', (arrangement) => {
  const [left, right] = [
    [0, 1, 2, 3],
    [0, 4, 2, 5],
  ]
  const encoder = new TextEncoder()
  const stretches = alignTokens(left, right, (id) => encoder.encode(PIECES[id]))
  const settings = { arrangement, onlyDifferences: false, open: new Set<number>(), columns: 40, rowHeight: 24 }
  const rows = makeRows({ left: sideOf(left), right: sideOf(right) }, stretches, settings)
  const { runs, notes } = sightOf(rows, pairingOf(stretches), arrangement === 'unified' ? 'both' : 'left', 0, 999)
  const said = [
    ...runs.flatMap(({ isLabelled, top }) => (isLabelled ? [{ top, bottom: top + LABEL }] : [])),
    ...notes.map(({ top }) => ({ top, bottom: top + NOTE })),
  ].sort((a, b) => a.top - b.top)
  expect(said.length).toBeGreaterThan(1)
  for (const [index, { top }] of said.slice(1).entries()) expect(top).toBeGreaterThanOrEqual(said[index]?.bottom ?? 0)
})
