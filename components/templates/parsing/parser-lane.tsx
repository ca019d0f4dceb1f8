import type { Lane } from '#lib/lab/parsing/analysis.ts'
import type { ReRendering } from '#lib/lab/parsing/rerender.ts'
import { countText } from '../../trajectory/numbers.ts'
import { CallCard } from './call-card.tsx'
import { ParsedText } from './parsed-text.tsx'

interface ParserLaneProps {
  readonly text: string
  readonly lane: Lane
  /** Undefined while it is being computed, or without a tokenizer. */
  readonly reRendering: ReRendering | undefined
  /** Another parser reads more calls here. */
  readonly better: { readonly parser: string; readonly calls: number } | undefined
  readonly onLine: (line: number) => void
}

/** One parser's view of the completion. */
export function ParserLane({ text, lane, reRendering, better, onLine }: ParserLaneProps) {
  const { parser, calls, dropped, drafted, thinking } = lane
  const isEmpty = calls.length === 0 && dropped.length === 0 && drafted.length === 0
  return (
    <section aria-label={parser} data-lane={parser} className="border-line border-b">
      <header className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 bg-panel px-3.5 py-1.5">
        <h3 className="font-mono font-semibold">{parser}</h3>
        <p className="text-dim text-xs tabular-nums">{summaryOf(lane)}</p>
        {better && (
          <p className="text-warn text-xs" data-better={better.parser}>
            {better.parser} reads {better.calls} more
          </p>
        )}
      </header>
      {!isEmpty && (
        <>
          <ParsedText text={text} lane={lane} />
          {dropped.length > 0 && (
            <ul aria-label="Dropped silently" className="px-3.5 pb-2 text-warn text-xs">
              {dropped.map(({ start, end, why }) => (
                <li key={start} className="[overflow-wrap:anywhere]">
                  Dropped silently: <code className="font-mono line-through">{excerpt(text.slice(start, end))}</code> –{' '}
                  {why}.
                </li>
              ))}
            </ul>
          )}
          {drafted.length > 0 && (
            <p className="px-3.5 pb-2 text-warn text-xs">
              {drafted.length === 1 ? 'A call stands' : `${drafted.length} calls stand`} in{' '}
              {thinking.some(({ closed }) => !closed) ? 'a think block that is not closed' : 'a think block'}: what is
              drafted there is not called.
            </p>
          )}
          {calls.map((call, index) => (
            <CallCard
              key={call.span.start}
              text={text}
              call={call}
              number={index + 1}
              reRendered={reRendering?.kind === 'written' ? reRendering.calls[index] : undefined}
              onLine={onLine}
            />
          ))}
        </>
      )}
    </section>
  )
}

function summaryOf({ calls, dropped, rest, drafted }: Lane): string {
  const malformed = calls.filter(({ kind }) => kind === 'malformed').length
  const characters = dropped.reduce((sum, { start, end }) => sum + end - start, 0)
  const read = calls.length - malformed
  return [
    calls.length === 0 ? 'no calls' : `${countText(read)} ${read === 1 ? 'call' : 'calls'}`,
    malformed > 0 && `${countText(malformed)} malformed`,
    characters > 0 && `${countText(characters)} characters dropped`,
    drafted.length > 0 && `${countText(drafted.length)} in thinking`,
    `${countText(rest.length)} characters left`,
  ]
    .filter(Boolean)
    .join(' · ')
}

const LONGEST = 120
const excerpt = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
