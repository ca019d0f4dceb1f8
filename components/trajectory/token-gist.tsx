import type { Token } from '#lib/core/tokens.ts'
import type { Vocab } from '#lib/core/trajectory.ts'
import { decimalText } from './numbers.ts'
import { pieceView } from './piece-view.ts'

/** A token in one line. */
export function TokenGist({ token, vocab }: { readonly token: Token; readonly vocab: Vocab }) {
  const { text, marks } = pieceView(vocab[token.id] ?? `⟨id ${token.id}⟩`)
  return (
    <>
      <span className="relative min-w-0 overflow-hidden whitespace-pre font-mono">
        {text}
        <span aria-hidden className="absolute inset-0 text-faint">
          {marks}
        </span>
      </span>
      <span className="whitespace-nowrap text-dim text-xs tabular-nums">
        token {token.index} · logprob {token.logprob === null ? 'unknown' : decimalText(token.logprob)} ·{' '}
        {token.trained ? 'trained' : 'context'}
      </span>
    </>
  )
}
