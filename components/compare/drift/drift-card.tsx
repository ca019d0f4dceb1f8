'use client'
/** Card of one drift span: its cause, its remedy, and the tokens of both sides. */
import type { ReactNode } from 'react'
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { hexOf, pieceBytesText } from '#components/token-view/pieces/piece-text.ts'
import { CopyChoices } from '#components/ui/copy-button.tsx'
import { Fact, Facts, Heading } from '#components/ui/facts.tsx'
import { PREFILL_COLUMN } from '#lib/analysis/rescore/columns.ts'
import type { SpanRatio } from '#lib/analysis/rescore/units.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf, textOf } from '#lib/trajectory/tokens/pieces.ts'
import { idsIn } from '#lib/trajectory/tokens/range-sums.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { deltaText, ratioTextOfDelta, WHY_NO_RATIO } from '../rescore/rescore-texts.ts'
import type { ShownPair } from '../view.ts'
import { driftVocabularyOf, kindMeaning, LAYER_TEXTS, SEVERITY_TEXTS } from './drift-words.ts'

interface DriftCardProps {
  readonly pair: ShownPair
  /** Number of the span, from 0. */
  readonly drift: number
  /** Undefined if the sides were not rescored. */
  readonly weight?: SpanRatio | undefined
  /** pinned: chosen, so the card stays; pointed: the pointer is over the span. */
  readonly state: 'pinned' | 'pointed'
  /** Returns links to other pages that show these tokens of the side. */
  readonly linksOf: (side: 'left' | 'right', tokens: Span) => ReactNode
  /** Further texts that can be copied. */
  readonly copies?: readonly { readonly name: string; readonly text: () => string }[]
}

/** Shows one drift span in detail. */
export function DriftCard({ pair, drift, weight, state, linksOf, copies = [] }: DriftCardProps) {
  const { left, right, comparison } = pair.compared
  const { spans } = comparison.report
  const span = elementAt(spans, drift)
  const { title, ink } = SEVERITY_TEXTS[span.severity]
  const { noun, costs, kindText, causeText } = driftVocabularyOf(pair)
  return (
    <section aria-label={noun === 'drift' ? 'Drift span' : 'Difference'} data-drift={drift} data-state={state}>
      <div className="mb-2 flex items-baseline justify-between gap-2">
        <h2 className="font-semibold text-dim text-xs">
          {noun === 'drift' ? 'Drift' : 'Difference'} {countText(drift + 1)} of {countText(spans.length)}
        </h2>
        <span className="text-faint text-xs">
          {state === 'pinned' ? 'pinned · Esc unpins' : 'under the pointer · click to pin'}
        </span>
      </div>
      <p className="font-semibold text-(--mark-hit)" title={costs ? kindMeaning(span) : undefined}>
        {kindText(span)}
      </p>
      <p className="mt-1 [overflow-wrap:anywhere]">{causeText(span)}</p>
      {costs && <p className="mt-2 text-dim text-xs [overflow-wrap:anywhere]">{span.remedy}</p>}
      <div className="mt-3">
        <Facts>
          {costs && (
            <Fact name="severity">
              <span className={ink}>{title}</span>
            </Fact>
          )}
          <Fact name="layer" title={LAYER_TEXTS[span.layer]}>
            {span.layer}
          </Fact>
          <Fact name="trained tokens">
            {countText(span.trained.left)} left · {countText(span.trained.right)} right
          </Fact>
          {weight && (
            <Fact
              name="importance ratio"
              title="p right / p left of the whole span, and the difference of its logprobs, by prefill"
            >
              {weight.kind === 'known'
                ? `${ratioTextOfDelta(weight.delta)} · Δ ${deltaText(weight.delta)}`
                : WHY_NO_RATIO[weight.why]}
            </Fact>
          )}
          {span.turn !== undefined && <Fact name="response">{countText(span.turn + 1)}</Fact>}
          {span.tool !== undefined && <Fact name="tool">{span.tool}</Fact>}
        </Facts>
      </div>
      <SideTokens name="Left" trajectory={left.trajectory} tokens={span.left}>
        {linksOf('left', span.left)}
      </SideTokens>
      <SideTokens name="Right" trajectory={right.trajectory} tokens={span.right}>
        {linksOf('right', span.right)}
      </SideTokens>
      <div className="mt-4">
        <CopyChoices
          choices={[
            ...copiesOf('left', left.trajectory, span.left),
            ...copiesOf('right', right.trajectory, span.right),
            { name: `${noun} as JSON`, text: () => JSON.stringify(span, null, 2) },
            ...copies,
          ]}
        />
      </div>
    </section>
  )
}

interface SideTokensProps {
  readonly name: string
  readonly trajectory: TrajectoryView
  readonly tokens: Span
  readonly children: ReactNode
}

/** Most tokens shown; copying has no such limit. */
const SHOWN_TOKENS = 40

function SideTokens({ name, trajectory, tokens, children }: SideTokensProps) {
  const count = tokens.end - tokens.start
  const isRescored = trajectory.segments.some(({ columns }) => columns?.[PREFILL_COLUMN])
  const places = Array.from({ length: Math.min(count, SHOWN_TOKENS) }, (_, offset) => tokens.start + offset)
  return (
    <>
      <Heading>
        {name} ·{' '}
        {count === 0
          ? `nothing, before token ${countText(tokens.start)}`
          : count === 1
            ? `token ${countText(tokens.start)}`
            : `${countText(count)} tokens from ${countText(tokens.start)}`}
      </Heading>
      {count > 0 && (
        <div>
          <table className="w-full table-fixed text-xs tabular-nums">
            <thead className="text-faint">
              <tr>
                <th className="pr-2 text-left font-normal">piece</th>
                <th className="w-14 pr-2 text-right font-normal">id</th>
                {!isRescored && <th className="pr-2 text-left font-normal">bytes</th>}
                <th className="w-14 text-right font-normal" title="Natural logarithm of the probability, as recorded">
                  logprob
                </th>
                {isRescored && (
                  <th className="w-15 pl-2 text-right font-normal" title="By prefill at temperature 1">
                    prefill
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {places.map((index) => (
                <TokenLine key={index} trajectory={trajectory} index={index} isRescored={isRescored} />
              ))}
            </tbody>
          </table>
          {count > SHOWN_TOKENS && (
            <p className="text-faint text-xs">… and {countText(count - SHOWN_TOKENS)} more; copy to get all</p>
          )}
        </div>
      )}
      <div className="mt-1.5 grid justify-items-start gap-1 text-xs">{children}</div>
    </>
  )
}

interface TokenLineProps {
  readonly trajectory: TrajectoryView
  readonly index: number
  /** Whether the column of prefill logprobs is shown. */
  readonly isRescored: boolean
}

function TokenLine({ trajectory, index, isRescored }: TokenLineProps) {
  const token = tokenAt(trajectory, index)
  if (!token) return null
  const entry = trajectory.vocab[token.id]
  return (
    <tr className="align-baseline">
      <td className="overflow-hidden pr-2">
        <span
          className={`inline-block max-w-full overflow-hidden rounded-sm border border-line bg-raised px-0.5 align-bottom font-mono ${token.trained ? 'border-b-(--trained)' : ''}`}
          title={token.trained ? 'trained' : 'context'}
        >
          <MarkedPiece id={token.id} vocab={trajectory.vocab} />
        </span>
        {/* Two columns of numbers leave no room for a column of bytes. */}
        {isRescored && (
          <span className="block truncate font-mono text-faint" title={pieceBytesText(entry)}>
            {pieceBytesText(entry)}
          </span>
        )}
      </td>
      <td className="pr-2 text-right">{token.id}</td>
      {!isRescored && (
        <td className="truncate pr-2 font-mono text-dim" title={pieceBytesText(entry)}>
          {pieceBytesText(entry)}
        </td>
      )}
      <td className="text-right">
        <Logprob value={token.logprob} />
      </td>
      {isRescored && (
        <td className="pl-2 text-right">
          <Logprob value={numberAt(token.segment.columns?.[PREFILL_COLUMN], token.indexInSegment)} />
        </td>
      )}
    </tr>
  )
}

const Logprob = ({ value }: { readonly value: number | null }) =>
  value === null ? <span className="text-faint">—</span> : decimalText(value)

function copiesOf(name: string, trajectory: TrajectoryView, tokens: Span) {
  if (tokens.start === tokens.end) return []
  const all = () => idsIn(trajectory, tokens)
  return [
    { name: `${name} ids`, text: () => `[${all().join(', ')}]` },
    { name: `${name} text`, text: () => textOf(all(), trajectory.vocab) },
    {
      name: `${name} bytes`,
      text: () => Array.from(all(), (id) => hexOf(bytesOf(trajectory.vocab[id] ?? ''))).join(' '),
    },
  ]
}
