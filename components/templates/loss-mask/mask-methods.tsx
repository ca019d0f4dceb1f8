import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { ExplainedName } from '#components/ui/facts.tsx'
import type { MaskMethod, MaskMethodName, MaskReport } from '#lib/templates/loss-mask/report.ts'
import { MASK_METHODS } from './mask-words.ts'

/** Two ways whose disagreements are listed; undefined lists all. */
export type MethodPair = readonly [MaskMethodName, MaskMethodName] | undefined

interface MaskMethodsProps {
  readonly report: MaskReport
  readonly pair: MethodPair
  readonly onPair: (pair: MethodPair) => void
  readonly onLine: (line: number) => void
}

/** List of the ways with what each would train and its problems, and how often each two disagree. */
export function MaskMethods({ report, pair, onPair, onLine }: MaskMethodsProps) {
  return (
    <section aria-labelledby="mask-ways" className="px-3.5 py-2.5">
      <h2 id="mask-ways" className="mb-1 font-semibold text-dim text-xs">
        Loss mask, four ways
        <span className="ml-2 font-normal text-faint">
          on the tokens of the {report.sequence.of === 'trajectory' ? 'open trajectory' : 'whole rendering'}
        </span>
      </h2>
      <dl className="grid">
        {report.ways.map((way) => (
          <MethodRow key={way.name} way={way} onLine={onLine} />
        ))}
      </dl>
      {report.pairs.length > 0 && (
        <fieldset className="mt-2 flex flex-wrap items-center gap-1.5 text-xs">
          <legend className="sr-only">Show disagreements of two ways</legend>
          <span className="text-faint">Tokens they disagree on:</span>
          {report.pairs.map(({ ways, tokens }) => {
            const isChosen = pair?.[0] === ways[0] && pair[1] === ways[1]
            return (
              <button
                key={ways.join()}
                type="button"
                aria-pressed={isChosen}
                disabled={tokens === 0}
                onClick={() => onPair(isChosen ? undefined : ways)}
                className="min-h-6 rounded-md border border-line bg-raised px-1.5 tabular-nums enabled:hover:border-line-strong disabled:text-faint aria-pressed:border-ink aria-pressed:bg-ink aria-pressed:text-ground"
              >
                {MASK_METHODS[ways[0]].short} ↔ {MASK_METHODS[ways[1]].short}{' '}
                <b className="font-semibold">{countText(tokens)}</b>
              </button>
            )
          })}
        </fieldset>
      )}
    </section>
  )
}

const TONES = { none: 'text-dim', warning: 'text-warn', error: 'text-bad' } as const
const SIGNS = { none: '✓', warning: '!', error: '✗' } as const

function MethodRow({ way, onLine }: { readonly way: MaskMethod; readonly onLine: (line: number) => void }) {
  const { title, how } = MASK_METHODS[way.name]
  const [isExplained, setIsExplained] = useState(false)
  return (
    <div
      className="flex flex-wrap items-baseline justify-between gap-x-4 border-line border-t py-1 first:border-t-0"
      data-way={way.name}
      data-severity={way.kind === 'computed' ? way.finding.severity : 'missing'}
      data-trained={way.kind === 'computed' ? way.trained : undefined}
    >
      <dt className="shrink-0 font-medium" title={how}>
        <ExplainedName name={title} isExplained={isExplained} onExplained={setIsExplained} />
      </dt>
      {way.kind === 'missing' ? (
        <dd className="min-w-0 text-right text-faint [overflow-wrap:anywhere]">{way.why}</dd>
      ) : (
        <dd className="ml-auto min-w-0 text-right tabular-nums [overflow-wrap:anywhere]">
          <span className="font-medium">{countText(way.trained)} trained</span>
          <span className="text-faint"> of {countText(way.tokens)}</span>
          <span className={TONES[way.finding.severity]}>
            {' '}
            <span aria-hidden>{SIGNS[way.finding.severity]}</span> {way.finding.text}
          </span>
        </dd>
      )}
      {isExplained && <dd className="basis-full text-dim text-xs">{how}</dd>}
      {way.kind === 'computed' && way.breaks.length > 0 && <Breaks breaks={way.breaks} onLine={onLine} />}
    </div>
  )
}

/** Most breaks that are listed. */
const MOST_SHOWN = 50

function Breaks({
  breaks,
  onLine,
}: {
  readonly breaks: Extract<MaskMethod, { kind: 'computed' }>['breaks']
  readonly onLine: (line: number) => void
}) {
  return (
    <dd className="basis-full text-xs">
      <details>
        <summary className="text-dim hover:text-ink">
          where the prefix breaks: {breaks.length === 1 ? 'one place' : `${countText(breaks.length)} places`}
        </summary>
        <ul className="grid gap-2 py-1.5 pl-4">
          {breaks.slice(0, MOST_SHOWN).map(({ message, text, difference, line }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the list never changes
            <li key={index}>
              <p>
                <span className="font-medium">Message {message + 1}:</span> {text}
                {line !== undefined && (
                  <>
                    {' · '}
                    <button type="button" className="text-accent hover:underline" onClick={() => onLine(line)}>
                      template line {line}
                    </button>
                  </>
                )}
              </p>
              {difference && (
                <dl className="mt-0.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
                  <dt className="text-faint">expected</dt>
                  <dd className="truncate font-mono">{JSON.stringify(difference.expected)}</dd>
                  <dt className="text-faint">found</dt>
                  <dd className="truncate font-mono">{JSON.stringify(difference.found)}</dd>
                </dl>
              )}
            </li>
          ))}
          {breaks.length > MOST_SHOWN && (
            <li className="text-faint">and {countText(breaks.length - MOST_SHOWN)} more of the same</li>
          )}
        </ul>
      </details>
    </dd>
  )
}
