import { bytesOf } from '#lib/core/pieces.ts'
import { spanLabel, type Token } from '#lib/core/tokens.ts'
import type { Problem, Vocab, VocabEntry } from '#lib/core/trajectory.ts'
import { Fact, Facts, Heading } from '../ui/facts.tsx'
import { MarkedPiece } from './marked-piece.tsx'
import { clipped, countText, decimalText, percentText } from './numbers.ts'
import { segmentTitle } from './token-reading.ts'

/** Everything about one token. */
export function TokenCard({ token, vocab }: { readonly token: Token; readonly vocab: Vocab }) {
  const spans = token.spans.map(spanLabel)
  return (
    <section aria-label="Token" data-token={token.index}>
      <Heading>Token {countText(token.index)}</Heading>
      <p className="mb-3 overflow-hidden rounded-md border border-line bg-raised px-2.5 py-2 font-mono text-base">
        <MarkedPiece id={token.id} vocab={vocab} className="inline-block max-w-full" />
      </p>
      <Facts>
        <Fact name="id">{token.id}</Fact>
        <Fact name="bytes">
          <span className="font-mono">{bytesText(vocab[token.id])}</span>
        </Fact>
        <Fact name="text">
          <span className="font-mono">{entryText(vocab[token.id])}</span>
          {vocab[token.id] === undefined && 'not known: no tokenizer was named'}
        </Fact>
        <Fact
          name="logprob"
          title={token.segment.kind === 'response' ? 'Sampled: after temperature' : 'Prefill: at temperature 1'}
        >
          {token.logprob === null ? 'unknown' : decimalText(token.logprob, 4)}
        </Fact>
        <Fact name="probability">{token.logprob === null ? 'unknown' : percentText(Math.exp(token.logprob))}</Fact>
        <Fact name="loss mask">{token.trained ? '1 · trained' : '0 · context'}</Fact>
        <Fact name="segment">
          {token.segmentIndex} · {segmentTitle(token.segment)} · token {countText(token.indexInSegment)}
        </Fact>
        <Fact name="span">{spans.length > 0 ? spans.join(' → ') : 'none'}</Fact>
      </Facts>
      <Problems problems={token.segment.problems ?? []} tokenIndex={token.indexInSegment} />
      <Heading>Alternatives</Heading>
      {token.alternatives.length === 0 ? (
        <p className="text-faint text-xs">None were asked for at this token.</p>
      ) : (
        <Alternatives token={token} vocab={vocab} />
      )}
    </section>
  )
}

/** What could not be stored at this token, or did not agree in its segment. */
function Problems({ problems, tokenIndex }: { readonly problems: readonly Problem[]; readonly tokenIndex: number }) {
  const here = problems.filter(({ index }) => index === undefined || index === tokenIndex)
  return (
    here.length > 0 && (
      <>
        <Heading>Problems</Heading>
        <ul className="grid gap-1 text-warn text-xs">
          {here.map(({ kind, message, column, raw }) => (
            <li key={`${kind} ${column} ${message}`}>
              {message}
              {(column !== undefined || raw !== undefined) && (
                <span className="block break-all text-dim">
                  {[column, raw && clipped(raw, LONG_TEXT)].filter(Boolean).join(': ')}
                </span>
              )}
            </li>
          ))}
        </ul>
      </>
    )
  )
}

/** A text that can be said, whatever it holds. */
const quoted = (entry: VocabEntry | undefined): string =>
  typeof entry === 'string' ? JSON.stringify(entry) : entry === undefined ? 'unknown' : `bytes ${entry.hex}`

/** The bytes of a token in hexadecimal, as far as there is room. */
export function bytesText(entry: VocabEntry | undefined): string {
  if (entry === undefined) return 'not known'
  const bytes = Array.from(bytesOf(entry), (byte) => byte.toString(16).toUpperCase().padStart(2, '0'))
  if (bytes.length > MANY_BYTES) return `${bytes.slice(0, MANY_BYTES).join(' ')} … (${countText(bytes.length)})`
  return bytes.join(' ') || 'none'
}

/** The text of a token as a JSON string. */
export const entryText = (entry: VocabEntry | undefined): string | undefined =>
  typeof entry === 'string' ? clipped(JSON.stringify(entry), LONG_TEXT) : entry && 'part of a character'

const MANY_BYTES = 24
const LONG_TEXT = 200

function Alternatives({ token, vocab }: { readonly token: Token; readonly vocab: Vocab }) {
  return (
    <table className="w-full text-xs tabular-nums">
      <caption className="sr-only">The likeliest tokens here</caption>
      <tbody>
        {token.alternatives.map(({ id, logprob }) => {
          const probability = logprob === null ? 0 : Math.exp(logprob)
          return (
            <tr key={id} data-chosen={id === token.id || undefined} className="data-chosen:font-semibold">
              <th scope="row" className="max-w-24 overflow-hidden py-0.5 text-left font-mono font-normal">
                <span aria-hidden>
                  <MarkedPiece id={id} vocab={vocab} />
                </span>
                <span className="sr-only">
                  {quoted(vocab[id])}
                  {id === token.id && ' (chosen)'}
                </span>
              </th>
              <td className="w-full px-2 align-middle leading-none">
                <meter
                  className="alternative"
                  min={0}
                  max={1}
                  value={probability}
                  aria-label={`probability ${percentText(probability)}`}
                />
              </td>
              <td className="whitespace-nowrap text-right">
                {logprob === null ? 'unknown' : percentText(probability)}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
