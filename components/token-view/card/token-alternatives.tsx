import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import { percentText } from '../numbers.ts'
import { MarkedPiece } from '../pieces/marked-piece.tsx'
import { quotedPiece } from '../pieces/piece-text.ts'

/** The choice of an alternative, from which a branch can begin. */
export interface AlternativeChoice {
  /** Id of the chosen alternative; undefined if none is chosen. */
  readonly chosen: number | undefined
  readonly onChoose: (id: number | undefined) => void
}

interface TokenAlternativesProps {
  readonly token: Token
  readonly vocab: Vocab
  /** If omitted, no alternative can be chosen. */
  readonly choice?: AlternativeChoice | undefined
}

/** Number of alternatives that a key chooses. */
const KEYED_ALTERNATIVES = 5

/** Shows the most likely tokens at a position, the sampled one among them, and the probability that remains for all others. */
export function TokenAlternatives({ token, vocab, choice }: TokenAlternativesProps) {
  if (token.alternatives.length === 0) return <p className="text-faint text-xs">No alternatives were requested.</p>
  const isAmong = token.alternatives.some(({ id }) => id === token.id)
  const rows = isAmong ? token.alternatives : [...token.alternatives, { id: token.id, logprob: token.logprob }]
  const rest = 1 - rows.reduce((sum, { logprob }) => sum + probabilityOf(logprob), 0)
  return (
    <table className="w-full text-xs tabular-nums">
      <caption className="sr-only">Most likely tokens here</caption>
      <tbody>
        {rows.map(({ id, logprob }, index) => (
          <tr
            key={id}
            data-chosen={id === token.id || undefined}
            data-branch={choice?.chosen === id || undefined}
            className="data-branch:bg-warn-soft data-chosen:font-semibold"
          >
            <th scope="row" className="max-w-28 overflow-hidden py-0.5 text-left font-mono font-normal">
              {/* Only recorded alternatives can be chosen, and the last row may be the sampled token alone. */}
              {choice && index < token.alternatives.length ? (
                <button
                  type="button"
                  aria-pressed={choice.chosen === id}
                  aria-keyshortcuts={index < KEYED_ALTERNATIVES ? String(index + 1) : undefined}
                  title="Choose for a branch"
                  onClick={() => choice.onChoose(choice.chosen === id ? undefined : id)}
                  className="flex min-h-6 w-full items-center gap-1.5 rounded-sm text-left hover:bg-panel"
                >
                  {index < KEYED_ALTERNATIVES && <KeyHint>{String(index + 1)}</KeyHint>}
                  <Alternative id={id} token={token} vocab={vocab} />
                </button>
              ) : (
                <Alternative id={id} token={token} vocab={vocab} />
              )}
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

function Alternative({ id, token, vocab }: TokenAlternativesProps & { readonly id: number }) {
  return (
    <>
      <span aria-hidden className="min-w-0 truncate">
        <MarkedPiece id={id} vocab={vocab} />
      </span>
      <span className="sr-only">
        {quotedPiece(vocab[id])}
        {id === token.id && ' (chosen)'}
      </span>
    </>
  )
}

/** Shows the key of an action. Screen readers get it from `aria-keyshortcuts`. */
export const KeyHint = ({ children }: { readonly children: string }) => (
  <kbd
    aria-hidden
    className="inline-grid min-w-4 place-items-center rounded border border-current/35 px-1 font-mono text-[10px] leading-4"
  >
    {children}
  </kbd>
)

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
