import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import { percentText } from '../numbers.ts'
import { MarkedPiece } from '../pieces/marked-piece.tsx'
import { quotedPiece } from '../pieces/piece-text.ts'

interface TokenAlternativesProps {
  readonly token: Token
  readonly vocab: Vocab
}

/** Shows the most likely tokens at a position, the sampled one among them, and the probability that remains for all others. */
export function TokenAlternatives({ token, vocab }: TokenAlternativesProps) {
  if (token.alternatives.length === 0) return <p className="text-faint text-xs">No alternatives were requested.</p>
  const isAmong = token.alternatives.some(({ id }) => id === token.id)
  const rows = isAmong ? token.alternatives : [...token.alternatives, { id: token.id, logprob: token.logprob }]
  const rest = 1 - rows.reduce((sum, { logprob }) => sum + probabilityOf(logprob), 0)
  return (
    <table className="w-full text-xs tabular-nums">
      <caption className="sr-only">Most likely tokens here</caption>
      <tbody>
        {rows.map(({ id, logprob }) => (
          <tr key={id} data-chosen={id === token.id || undefined} className="data-chosen:font-semibold">
            <th scope="row" className="max-w-24 overflow-hidden py-0.5 text-left font-mono font-normal">
              <span aria-hidden>
                <MarkedPiece id={id} vocab={vocab} />
              </span>
              <span className="sr-only">
                {quotedPiece(vocab[id])}
                {id === token.id && ' (chosen)'}
              </span>
            </th>
            <Probability value={probabilityOf(logprob)} text={logprob === null ? 'unknown' : undefined} />
          </tr>
        ))}
        {rest > ROUNDING && (
          <tr className="text-dim" title="The probability of all tokens that are not listed">
            <th scope="row" className="whitespace-nowrap py-0.5 text-left font-normal">
              all others
            </th>
            <Probability value={rest} text={undefined} />
          </tr>
        )}
      </tbody>
    </table>
  )
}

const probabilityOf = (logprob: number | null): number => (logprob === null ? 0 : Math.exp(logprob))

/** Float32 logprobs add up to a probability of 1 within this error only. */
const ROUNDING = 1e-6

function Probability({ value, text }: { readonly value: number; readonly text: string | undefined }) {
  return (
    <>
      <td className="w-full px-2 align-middle leading-none">
        <meter className="alternative" min={0} max={1} value={value} aria-label={`probability ${percentText(value)}`} />
      </td>
      <td className="whitespace-nowrap text-right">{text ?? percentText(value)}</td>
    </>
  )
}
