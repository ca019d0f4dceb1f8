import { countText } from '#components/token-view/numbers.ts'
import type { ParserReading } from '#lib/templates/tool-parsing/analysis.ts'
import type { ReRendering } from '#lib/templates/tool-parsing/rerender.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import { ParsedCallCard } from './call-card.tsx'
import { ParsedText } from './parsed-text.tsx'

interface ParserLaneProps {
  readonly text: string
  readonly lane: ParserReading
  /** Renders of the calls; undefined while they are computed, or without a tokenizer. */
  readonly reRendering: ReRendering | undefined
  /** Another parser that reads more calls of this completion. */
  readonly better: { readonly parser: string; readonly calls: number } | undefined
  readonly onLine: (line: number) => void
}

/** One parser's view of the completion. It is closed at first if this parser reads nothing that another one reads. */
export function ParserLane({ text, lane, reRendering, better, onLine }: ParserLaneProps) {
  const { parser, calls, dropped, drafted } = lane
  const header = (
    <>
      <h2 className="inline font-mono font-semibold">{parser}</h2>
      <span className="ml-3 text-dim text-xs tabular-nums">{summaryOf(lane)}</span>
      {better && (
        <span className="ml-3 text-warn text-xs" data-better={better.parser}>
          {better.parser} reads {better.calls} more
        </span>
      )}
    </>
  )
  const isEmpty = calls.length === 0 && dropped.length === 0 && drafted.length === 0
  const readsNothing = better !== undefined && calls.every(({ kind }) => kind === 'malformed')
  return (
    <section aria-label={parser} data-lane={parser} className="border-line border-b">
      {isEmpty ? (
        <div className="bg-panel py-1.5 pr-3.5 pl-7">{header}</div>
      ) : (
        <details open={!readsNothing}>
          <summary className="bg-panel px-3.5 py-1.5 marker:text-faint">{header}</summary>
          <LaneBody text={text} lane={lane} reRendering={reRendering} onLine={onLine} />
        </details>
      )}
    </section>
  )
}

/** Most cards shown; the text above shows all calls. */
const MOST_CARDS = 50

function LaneBody({ text, lane, reRendering, onLine }: Omit<ParserLaneProps, 'better'>) {
  const { calls, dropped, drafted, thinking } = lane
  return (
    <>
      <ParsedText text={text} lane={lane} />
      {dropped.length > 0 && (
        <ul aria-label="Dropped silently" className="px-3.5 pb-2 text-warn text-xs">
          {dropped.slice(0, MOST_CARDS).map(({ start, end, why }) => (
            <li key={start} className="[overflow-wrap:anywhere]">
              Dropped silently:{' '}
              <code className="font-mono line-through">{excerpt(text.slice(start, end), LONGEST)}</code> – {why}.
            </li>
          ))}
        </ul>
      )}
      {drafted.length > 0 && (
        <p className="px-3.5 pb-2 text-warn text-xs">
          {drafted.length === 1 ? 'A call is' : `${drafted.length} calls are`} inside{' '}
          {thinking.some(({ closed }) => !closed) ? 'a think block that is not closed' : 'a think block'}: drafted calls
          are not executed.
        </p>
      )}
      {calls.slice(0, MOST_CARDS).map((call, index) => (
        <ParsedCallCard
          key={call.span.start}
          text={text}
          call={call}
          number={index + 1}
          reRendered={reRendering?.kind === 'written' ? reRendering.calls[index] : undefined}
          onLine={onLine}
        />
      ))}
      {calls.length > MOST_CARDS && (
        <p className="border-line border-t px-3.5 py-2 text-faint text-xs">
          and {countText(calls.length - MOST_CARDS)} more calls
        </p>
      )}
    </>
  )
}

function summaryOf({ calls, dropped, rest, drafted }: ParserReading): string {
  const malformed = calls.filter(({ kind }) => kind === 'malformed').length
  const characters = dropped.reduce((sum, { start, end }) => sum + end - start, 0)
  const read = calls.length - malformed
  return [
    calls.length === 0 ? 'no calls' : countWithNoun(read, 'call'),
    malformed > 0 && `${countText(malformed)} malformed`,
    characters > 0 && `${countText(characters)} characters dropped`,
    drafted.length > 0 && `${countText(drafted.length)} in thinking`,
    `${countText(rest.length)} characters left`,
  ]
    .filter(Boolean)
    .join(' · ')
}

const LONGEST = 120
