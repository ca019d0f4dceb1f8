import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import { decimalText } from '../numbers.ts'
import { MarkedPiece } from '../pieces/marked-piece.tsx'

/** Shows a token in one line: its text, index, logprob and mask. */
export function TokenSummaryLine({ token, vocab }: { readonly token: Token; readonly vocab: Vocab }) {
  return (
    <>
      <MarkedPiece id={token.id} vocab={vocab} className="min-w-0 overflow-hidden font-mono" />
      <span className="whitespace-nowrap text-dim text-xs tabular-nums">
        token {token.index} · logprob {token.logprob === null ? 'unknown' : decimalText(token.logprob)} ·{' '}
        {token.trained ? 'trained' : 'context'}
      </span>
    </>
  )
}
