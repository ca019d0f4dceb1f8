import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { FindState } from './use-find.ts'

interface FindAnswerProps {
  readonly id: string
  readonly state: FindState
  /** The query that was searched for. */
  readonly query: string
  /** Whether a hit is selected: the answer would then cover the tokens. */
  readonly isStepping: boolean
}

/** Shows below the focused field where the query is invalid and why, or notes about the hits. */
export function FindAnswer({ id, state, query, isStepping }: FindAnswerProps) {
  const answer = isStepping ? null : answerOf(state, query)
  return (
    <div
      id={id}
      className={`absolute top-full right-0 left-0 z-20 mt-1 hidden rounded-md border border-line bg-ground px-2.5 py-1.5 text-xs shadow-lg ${answer ? 'peer-focus:block' : ''}`}
    >
      {answer}
    </div>
  )
}

function answerOf(state: FindState, query: string) {
  if (state.kind === 'searching' || query === '') return null
  if (state.kind === 'failed') return <p className="text-bad">{state.message}</p>
  const { result } = state
  switch (result.kind) {
    case 'nothing':
      return null
    case 'fault':
      return (
        <>
          <Place query={query} at={result.fault.at} />
          <p className="text-bad">{result.fault.message}</p>
          {result.fault.hint !== undefined && <p className="text-dim">{result.fault.hint}</p>}
        </>
      )
    case 'found':
      return (
        <>
          <p className="text-dim tabular-nums">
            {countWithNoun(result.tokens, 'token')} in all
            {result.understood !== query && (
              <>
                , of <code className="wrap-anywhere">{result.understood}</code>
              </>
            )}
            . Enter: next, ⇧ Enter: previous.
          </p>
          {state.isBehind && <p className="text-dim">New tokens have arrived. Press Enter to search again.</p>}
          {result.notes.map(({ message }) => (
            <p key={message} className="text-warn">
              {message}
            </p>
          ))}
        </>
      )
  }
}

/** Shows the query with the fault underlined. */
const Place = ({ query, at }: { readonly query: string; readonly at: Span }) => (
  <p className="wrap-anywhere font-mono text-dim">
    {query.slice(Math.max(0, at.start - NEAR), at.start)}
    <mark className="bg-transparent text-bad underline decoration-wavy underline-offset-2">
      {query.slice(at.start, at.end) || '␣'}
    </mark>
    {query.slice(at.end, at.end + NEAR)}
  </p>
)

/** Number of characters shown on each side of the fault. */
const NEAR = 60
