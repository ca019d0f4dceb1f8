import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import { pieceOf } from './piece-view.ts'

interface MarkedPieceProps {
  readonly id: number
  readonly vocab: Vocab
  readonly className?: string
}

/** Shows the text of one token, with its spaces and line ends marked as in the token view. Its direction moves no neighbour. */
export function MarkedPiece({ id, vocab, className = '' }: MarkedPieceProps) {
  const { text, marks } = pieceOf(id, vocab)
  return (
    <bdi className={`relative whitespace-pre ${className}`}>
      {text}
      <span aria-hidden className="pointer-events-none absolute inset-0 text-faint forced-color-adjust-none">
        {marks}
      </span>
    </bdi>
  )
}
