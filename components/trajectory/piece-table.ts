/** How wide each distinct token is, in cells of the monospaced font. Measured once for each id. */
import type { Vocab, VocabEntry } from '#lib/core/trajectory.ts'
import { type PieceView, pieceOf } from './piece-view.ts'

export interface Piece extends PieceView {
  readonly cells: number
}

export interface PieceTable {
  /** Ids without an entry are drawn as their number. */
  piece(id: number, vocab: Vocab): Piece
}

/** `measure` gives the width of a text in cells; it is asked only for what is not plain ASCII. */
export function createPieceTable(measure: (text: string) => number): PieceTable {
  const known = new Map<number, { readonly entry: VocabEntry | undefined; readonly piece: Piece }>()
  return {
    piece(id, vocab) {
      const entry = vocab[id]
      const found = known.get(id)
      // The same id is another text in a trajectory of another tokenizer.
      if (found && found.entry === entry) return found.piece
      const view = pieceOf(id, vocab)
      // Rounded up to whole cells: guesses by character class were wrong by a factor of two in some fonts.
      const cells = view.isPlain ? view.text.length : Math.max(1, Math.ceil(measure(view.text) - 0.05))
      const piece = { ...view, cells }
      known.set(id, { entry, piece })
      return piece
    },
  }
}
