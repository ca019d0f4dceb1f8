'use client'
import { useDeferredValue, useMemo } from 'react'
import { selectedHex } from '#components/token-view/card/selected-tokens.ts'
import { countText, decimalText, percentText } from '#components/token-view/numbers.ts'
import { selectedRange, single } from '#components/token-view/selection.ts'
import { CopyChoices } from '#components/ui/copy-button.tsx'
import { Fact, Facts, Heading } from '#components/ui/facts.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { type Extreme, idsIn, type RangeSums, rangeSums } from '#lib/trajectory/tokens/range-sums.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { Inspection } from '../inspection.ts'

interface RangeCardProps {
  readonly inspection: Pick<Inspection, 'trajectory' | 'onSelect'> & {
    readonly view: Pick<Inspection['view'], 'selection'>
  }
}

/** Shows the totals of the selected tokens. */
export function RangeCard({ inspection }: RangeCardProps) {
  const { trajectory, view, onSelect } = inspection
  // While the range is being dragged, drawing the grid has priority.
  const selection = useDeferredValue(view.selection)
  const range = selection && selectedRange(selection)
  const [start, end] = [range?.start ?? 0, range?.end ?? 0]
  const sums = useMemo(() => rangeSums(trajectory, { start, end }), [trajectory, start, end])
  const beginning = useMemo(
    () => textOf(idsIn(trajectory, { start, end: Math.min(end, start + SHOWN_TOKENS) }), trajectory.vocab),
    [trajectory, start, end],
  )
  if (sums.tokens === 0) return <p className="text-faint text-xs">No token is in this range.</p>
  const last = start + sums.tokens - 1
  const left = sums.tokens - SHOWN_TOKENS
  const jump = (index: number) => onSelect(single(index), 'tokens')
  const all = () => idsIn(trajectory, { start, end })
  return (
    <section aria-label="Range" data-range={`${start}-${last}`}>
      <div className="mb-2 flex items-baseline justify-between gap-2">
        <h2 className="font-semibold text-dim text-xs">
          Tokens {countText(start)} to {countText(last)}
        </h2>
        <span className="text-faint text-xs">Esc clears the selection</span>
      </div>
      <Facts>
        <Fact name="tokens">{countText(sums.tokens)}</Fact>
        <Fact name="trained (mask 1)">
          {countText(sums.trained)} · {percentText(sums.trained / sums.tokens)}
        </Fact>
        <Fact name={sums.segments.end - sums.segments.start === 1 ? 'segment' : 'segments'}>
          {segmentsText(sums.segments)}
        </Fact>
        <Fact name="bytes" title="Bytes of the tokens’ texts in UTF-8">
          {countText(sums.bytes)}
          {sums.textless > 0 && ` · ${countWithNoun(sums.textless, 'token')} without a known text`}
        </Fact>
      </Facts>
      <Heading>Logprobs of {sums.logprobs.of === 'trained' ? 'trained tokens' : 'context (prefill)'}</Heading>
      <Logprobs sums={sums} onJump={jump} />
      {sums.columns.length > 0 && (
        <>
          <Heading>Columns, mean</Heading>
          <Facts>
            {sums.columns.map(({ name, known, mean }) => (
              <Fact key={name} name={name} title={`Over ${countWithNoun(known, 'token')} with a value`}>
                {decimalText(mean, 4)} · {countText(known)}
              </Fact>
            ))}
          </Facts>
        </>
      )}
      <Heading>Text</Heading>
      <section
        aria-label="Text of the range"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        tabIndex={0}
        className="mb-3 max-h-64 overflow-y-auto whitespace-pre-wrap rounded-md border border-line bg-raised px-2 py-1.5 font-mono text-xs [overflow-wrap:anywhere]"
      >
        {visibleText(beginning)}
        {left > 0 && (
          <span className="text-faint">
            … and {countText(left)} more {left === 1 ? 'token' : 'tokens'}; copy to get all
          </span>
        )}
      </section>
      <CopyChoices
        choices={[
          { name: 'text', text: () => textOf(all(), trajectory.vocab) },
          ...(selection ? [{ name: 'bytes', text: () => selectedHex(trajectory, selection) }] : []),
          { name: 'ids', text: () => `[${all().join(', ')}]` },
          { name: 'sums as JSON', text: () => JSON.stringify({ start, end, ...sums }, null, 2) },
        ]}
      />
    </section>
  )
}

/** Number of tokens whose text is shown. */
const SHOWN_TOKENS = 1_000

function Logprobs({ sums, onJump }: { readonly sums: RangeSums; readonly onJump: (index: number) => void }) {
  const { known, sum, mean, perplexity, least, most } = sums.logprobs
  if (known === 0) return <p className="text-faint text-xs">Unknown.</p>
  return (
    <Facts>
      <Fact name="known">{countText(known)}</Fact>
      <Fact name="Σ logprob">{decimalText(sum)}</Fact>
      <Fact name="mean">{decimalText(mean, 4)}</Fact>
      <Fact name="perplexity">{decimalText(perplexity)}</Fact>
      <Jump name="lowest" extreme={least} onJump={onJump} />
      <Jump name="highest" extreme={most} onJump={onJump} />
    </Facts>
  )
}

interface JumpProps {
  readonly name: string
  readonly extreme: Extreme | null
  readonly onJump: (index: number) => void
}

function Jump({ name, extreme, onJump }: JumpProps) {
  return (
    extreme && (
      <Fact name={name}>
        {decimalText(extreme.logprob, 4)} ·{' '}
        <button
          type="button"
          className="font-medium text-accent hover:underline"
          title="Show it"
          onClick={() => onJump(extreme.index)}
        >
          token {countText(extreme.index)}
        </button>
      </Fact>
    )
  )
}

const segmentsText = ({ start, end }: RangeSums['segments']): string =>
  end - start === 1 ? String(start) : `${start} to ${end - 1}`
