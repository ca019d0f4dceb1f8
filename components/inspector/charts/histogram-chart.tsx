'use client'
import { useMemo, useState } from 'react'
import { decimalText, percentText } from '#components/token-view/numbers.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { Heading } from '../../ui/facts.tsx'
import { CheckField } from '../../ui/field.tsx'
import { useMedia } from '../../ui/use-media.ts'
import type { InspectorPartProps } from '../inspection.ts'
import { type Bin, binQuery, surpriseHistogram } from './histogram.ts'
import { seriesNamed } from './series.ts'

/** Shows how often each surprisal occurs among trained tokens. A click on a bar searches for its tokens. */
export function HistogramChart({ inspection }: InspectorPartProps) {
  const { trajectory, onView, say } = inspection
  const { values } = seriesNamed(trajectory, 'logprob')
  const [isLogarithmic, setIsLogarithmic] = useState(true)
  const isNarrow = useMedia('(max-width: 640px)')
  const bins = useMemo(() => surpriseHistogram(values, isNarrow ? FEW_BINS : undefined), [values, isNarrow])
  const most = bins.reduce((largest, { count }) => Math.max(largest, count), 1)
  const height = (count: number) =>
    count === 0 ? 0 : Math.max(LEAST, HEIGHT * (isLogarithmic ? Math.log1p(count) / Math.log1p(most) : count / most))
  const find = (bin: Bin) => {
    onView({ find: binQuery(bin), tab: 'tokens' })
    say(`Find ${countWithNoun(bin.count, 'token')} with surprisal ${rangeText(bin)}`)
  }
  return (
    <section aria-label="Surprisal of trained tokens">
      <div className="flex flex-wrap items-center gap-x-3 [&>h2]:m-0">
        <Heading>Surprisal of trained tokens</Heading>
        <CheckField
          label="logarithmic counts"
          checked={isLogarithmic}
          onChange={({ target }) => setIsLogarithmic(target.checked)}
        />
      </div>
      {bins.length === 0 ? (
        <p className="py-6 text-faint">No trained token has a logprob: nothing to count.</p>
      ) : (
        <>
          <ol className="flex items-end gap-px border-line-strong border-b pt-2">
            {bins.map((bin) => (
              <li key={bin.from} className="min-w-0 flex-1">
                <button
                  type="button"
                  disabled={bin.count === 0}
                  aria-label={`surprisal ${rangeText(bin)}: ${countWithNoun(bin.count, 'token')}`}
                  title={`${rangeText(bin)}\n${countWithNoun(bin.count, 'token')}, ${percentText(bin.count / values.length)}\nClick to find them`}
                  onClick={() => find(bin)}
                  className="group flex w-full items-end disabled:cursor-default"
                  style={{ height: HEIGHT }}
                >
                  <span
                    className="block w-full forced-color-adjust-none bg-accent group-hover:bg-ink"
                    style={{ height: height(bin.count) }}
                  />
                </button>
              </li>
            ))}
          </ol>
          <p className="flex justify-between text-faint text-xs tabular-nums" aria-hidden>
            <span>0</span>
            <span>surprisal (−logprob), nats; bars up to {countWithNoun(most, 'token')}</span>
            <span>{bins.at(-1)?.to}</span>
          </p>
        </>
      )}
    </section>
  )
}

const HEIGHT = 140
/** Smallest height of a bar in pixels, however few tokens it has. */
const LEAST = 6
/** Number of bars that a finger can hit in a narrow window. */
const FEW_BINS = 12

const rangeText = ({ from, to }: Bin): string => `${decimalText(from, 2)} to ${decimalText(to, 2)} nats`
