'use client'
import { CopyChoices } from '#components/ui/copy-button.tsx'
import { Fact, Facts, Heading } from '#components/ui/facts.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { ForcedTokens, Problem, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { callAt } from '#lib/trajectory/messages/response-calls.ts'
import { spanPath } from '#lib/trajectory/messages/span-path.ts'
import { entropyAt, marginAt, rankAt } from '#lib/trajectory/tokens/alternatives.ts'
import { forcedAt } from '#lib/trajectory/tokens/forced-tokens.ts'
import { bytesOf, textOf } from '#lib/trajectory/tokens/pieces.ts'
import { idsBetween, segmentStarts, type Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { clipText, countText, decimalText, indexText, percentText } from '../numbers.ts'
import { messagePlace } from '../overview/message-place.ts'
import { MarkedPiece } from '../pieces/marked-piece.tsx'
import { hexOf } from '../pieces/piece-text.ts'
import { partBytes, splitCharacterAt } from '../pieces/split-character.ts'
import { segmentTitle } from '../segment-title.ts'
import { type AlternativeChoice, TokenAlternatives } from './token-alternatives.tsx'
import { columnsOf, tokenRecord, weightVersionOf } from './token-record.ts'
import { TrainerFacts } from './trainer-facts.tsx'

interface TokenCardProps {
  readonly trajectory: TrajectoryView
  readonly token: Token
  /** `pinned`: the token is selected and the card stays; `pointed`: the pointer rests on the token. */
  readonly state: 'pinned' | 'pointed'
  /** Whether the missing prompt logprobs are being requested. */
  readonly isRequesting?: boolean
  /** The choice of an alternative for a branch. If omitted, none can be chosen. */
  readonly choice?: AlternativeChoice | undefined
  /** Returns the address that shows the token again. If omitted, no link can be copied. */
  readonly linkTo?: (tokenIndex: number) => string
}

/** Shows everything that is known about one token. */
export function TokenCard({ trajectory, token, state, isRequesting = false, choice, linkTo }: TokenCardProps) {
  const { vocab } = trajectory
  const entry = vocab[token.id]
  const spans = spanPath(trajectory, token)
  const place = messagePlace(trajectory, token)
  const columns = columnsOf(trajectory, token)
  const weights = weightVersionOf(trajectory, token)
  const forced = forcedAt(token.segment, token.indexInSegment)
  const text = typeof entry === 'string' ? entry : undefined
  return (
    <section aria-label="Token" data-token={token.index} data-state={state}>
      <div className="mb-2 flex items-baseline justify-between gap-2">
        <h2 className="font-semibold text-dim text-xs">
          Token {countText(token.index)}
          {forced && (
            <span className="ml-2 rounded-full border border-warn bg-warn-soft px-1.5 py-0.5 text-warn">forced</span>
          )}
        </h2>
        <span className="text-faint text-xs">
          {state === 'pinned' ? 'pinned · Esc unpins' : 'under the pointer · click to pin'}
        </span>
      </div>
      <p className="mb-3 max-h-40 overflow-auto rounded-md border border-line bg-raised px-2.5 py-2 font-mono text-base">
        <MarkedPiece id={token.id} vocab={vocab} className="inline-block" />
      </p>
      <Facts>
        <Fact name="position">{indexText(token.index, segmentStarts(trajectory).at(-1) ?? 0)}</Fact>
        <Fact name="segment">
          {token.segmentIndex} · {segmentTitle(token.segment)} · token{' '}
          {indexText(token.indexInSegment, token.segment.ids.length)}
        </Fact>
        <Fact name="message" title={place.title}>
          {visibleText(place.text)}
        </Fact>
        <Fact name="span">{spans.length > 0 ? visibleText(spans.join(' → ')) : 'none'}</Fact>
        <Fact name="id">{token.id}</Fact>
        <Fact name="text">
          {entry === undefined ? (
            'unknown: no tokenizer was named'
          ) : text === undefined ? (
            'part of a character'
          ) : (
            <Scrolled label="Text of the token">{JSON.stringify(text)}</Scrolled>
          )}
        </Fact>
        <Fact name="bytes">
          {entry === undefined ? (
            'unknown'
          ) : (
            <Scrolled label="Bytes of the token">{hexOf(bytesOf(entry)) || 'none'}</Scrolled>
          )}
        </Fact>
        <Fact name="logprob" title="Natural logarithm of the probability">
          {forced
            ? forcedLogprobText(token)
            : token.logprob === null
              ? unknownText(token, isRequesting)
              : `${decimalText(token.logprob, 4)} · ${logprobSource(token)}`}
        </Fact>
        <Fact name="probability">{token.logprob === null ? 'unknown' : percentText(Math.exp(token.logprob))}</Fact>
        <Fact name="rank" title="Among the recorded alternatives: a server reports only the most likely tokens">
          {rankText(token)}
        </Fact>
        {token.alternatives.length > 0 && (
          <Fact
            name="entropy, margin"
            title="From the recorded alternatives: the entropy is at least this, in nats; the margin is between the two most likely"
          >
            ≥ {decimalText(entropyAt(token.segment, token.indexInSegment), 2)} nats ·{' '}
            {marginText(marginAt(token.segment, token.indexInSegment))}
          </Fact>
        )}
        <Fact name="loss mask">{token.trained ? '1 · trained' : forced ? '0 · forced' : '0 · context'}</Fact>
        {forced && (
          <Fact name="provenance" title="A branch inserted the token: the model did not sample it">
            {FORCED_TEXTS[forced.as]}
            {forced.instead !== undefined && forced.start === token.indexInSegment && (
              <>
                , for <MarkedPiece id={forced.instead} vocab={vocab} className="font-mono" />
              </>
            )}
          </Fact>
        )}
        {weights !== undefined && <Fact name="weights">{clipText(weights, LONG_TEXT)}</Fact>}
        <TrainerFacts trajectory={trajectory} token={token} />
      </Facts>
      <CharacterTokens token={token} vocab={vocab} />
      <Problems problems={token.segment.problems ?? []} tokenIndex={token.indexInSegment} />
      <Heading>Alternatives</Heading>
      <TokenAlternatives token={token} vocab={vocab} choice={choice} />
      {columns.length > 0 && (
        <>
          <Heading>Columns</Heading>
          <Facts>
            {columns.map(({ name, value }) => (
              <Fact key={name} name={clipText(name, LONG_TEXT)}>
                {value === null ? <span className="text-faint">no data</span> : numberText(value)}
              </Fact>
            ))}
          </Facts>
        </>
      )}
      <div className="mt-4">
        <CopyChoices
          choices={[
            ...(text === undefined ? [] : [{ name: 'text', text: () => text }]),
            { name: 'id', text: () => String(token.id) },
            ...(entry === undefined ? [] : [{ name: 'bytes', text: () => hexOf(bytesOf(entry)) }]),
            { name: 'JSON', text: () => JSON.stringify(tokenRecord(trajectory, token), null, 2) },
            ...(linkTo ? [{ name: 'link', text: () => linkTo(token.index) }] : []),
          ]}
        />
      </div>
    </section>
  )
}

/** Where inserted tokens come from. */
const FORCED_TEXTS: Readonly<Record<ForcedTokens['as'], string>> = {
  alternative: 'forced: an alternative was chosen',
  text: 'forced: a text was inserted',
  ids: 'forced: ids were inserted',
}

const LONG_TEXT = 200

/** Returns the number with all digits of the file: values that are compared must not be rounded. */
const numberText = (value: number): string => String(value).replaceAll('-', '−')

const unknownText = ({ segment, index }: Token, isRequesting: boolean): string =>
  isRequesting && segment.kind === 'prompt' && index > 0 ? 'requesting…' : 'unknown'

/** Returns the logprob of an inserted token: nothing sampled it, and the alternatives of its position may score it. */
function forcedLogprobText({ id, logprob, alternatives }: Token): string {
  const scored = logprob ?? alternatives.find((alternative) => alternative.id === id)?.logprob ?? null
  return scored === null ? 'none sampled' : `none sampled · ${decimalText(scored, 4)} scored`
}

function logprobSource({ segment, indexInSegment }: Token): string {
  if (segment.kind === 'prompt') return 'prefill, T 1'
  const temperature = callAt(segment, indexInSegment)?.request?.samplingParams.temperature
  return typeof temperature === 'number' ? `sampled, T ${temperature}` : 'sampled'
}

function rankText({ segment, indexInSegment, alternatives }: Token): string {
  const rank = rankAt(segment, indexInSegment)
  if (rank === null) return 'unknown'
  return rank === Number.POSITIVE_INFINITY
    ? `beyond ${alternatives.length}`
    : `${rank} of ${alternatives.length} recorded`
}

const marginText = (margin: number | null): string => (margin === null ? '—' : percentText(margin))

/** Shows a long text in a scrollable box. */
function Scrolled({ label, children }: { readonly label: string; readonly children: string }) {
  if (children.length <= LONG_TEXT) return <span className="font-mono">{visibleText(children)}</span>
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
      tabIndex={0}
      className="max-h-40 overflow-y-auto rounded border border-line p-1 text-left font-mono"
    >
      {visibleText(children)}
    </section>
  )
}

/** Lists the tokens that share a character with this one. */
function CharacterTokens({ token, vocab }: { readonly token: Token; readonly vocab: Vocab }) {
  const { ids: all } = token.segment
  const group = splitCharacterAt((index) => partBytes(vocab[elementAt(all, index)]), token.indexInSegment, all.length)
  if (!group) return null
  const ids = idsBetween(all, group)
  const first = token.index - token.indexInSegment + group.start
  return (
    <>
      <Heading>
        {ids.length} tokens form <span className="font-mono text-base text-ink">{textOf(ids, vocab)}</span>
      </Heading>
      <ul className="grid gap-0.5 text-xs tabular-nums">
        {ids.map((id, offset) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the tokens never changes
            key={offset}
            aria-current={first + offset === token.index || undefined}
            className="flex justify-between gap-2 aria-[current=true]:font-semibold"
          >
            <span>
              token {countText(first + offset)} · id {id}
            </span>
            <span className="font-mono">{hexOf(bytesOf(vocab[id] ?? ''))}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Lists the values that could not be stored at this token and the inconsistencies of its segment. */
function Problems({ problems, tokenIndex }: { readonly problems: readonly Problem[]; readonly tokenIndex: number }) {
  const here = problems.filter(({ index }) => index === undefined || index === tokenIndex)
  return (
    here.length > 0 && (
      <>
        <Heading>Problems</Heading>
        <ul className="grid gap-1 text-warn text-xs">
          {here.map(({ kind, message, column, raw }) => (
            <li key={`${kind} ${column} ${message}`}>
              {visibleText(message)}
              {(column !== undefined || raw !== undefined) && (
                <span className="block break-all text-dim">
                  {visibleText([column, raw && clipText(raw, LONG_TEXT)].filter(Boolean).join(': '))}
                </span>
              )}
            </li>
          ))}
        </ul>
      </>
    )
  )
}
