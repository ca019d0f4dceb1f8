import { segmentStarts, segmentsOf } from '#lib/core/tokens.ts'
import type { ToolCall } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { durationText } from './numbers.ts'

interface ToolCallsProps {
  readonly trajectory: TrajectoryView
  readonly onSelect: (tokenIndex: number) => void
}

/** Every tool call of the trajectory, parsed or malformed, with what became of it. */
export function ToolCalls({ trajectory, onSelect }: ToolCallsProps) {
  const starts = segmentStarts(trajectory)
  const calls = segmentsOf(trajectory).flatMap((segment, index) =>
    segment.kind === 'response'
      ? segment.toolCalls.map((call) => ({ call, first: (starts[index] ?? 0) + call.span.start }))
      : [],
  )
  if (calls.length === 0) return <p className="text-faint text-xs">None so far.</p>
  return (
    <ul className="grid gap-2">
      {calls.map(({ call, first }) => (
        <li key={call.id}>
          <ToolCallCard
            call={call}
            isMock={trajectory.model.tools.some(({ name, mock }) => name === call.name && mock !== undefined)}
            state={stateText(call, trajectory)}
            onSelect={() => onSelect(first)}
          />
        </li>
      ))}
    </ul>
  )
}

function ToolCallCard({
  call,
  isMock,
  state,
  onSelect,
}: {
  readonly call: ToolCall
  readonly isMock: boolean
  readonly state: string
  readonly onSelect: () => void
}) {
  return (
    <article className="rounded-md border border-line bg-raised text-xs" data-call={call.id}>
      <button
        type="button"
        onClick={onSelect}
        className="flex w-full items-baseline justify-between gap-2 rounded-t-md px-2.5 pt-2 text-left hover:text-accent"
        title="Show its tokens"
      >
        <span className="flex min-w-0 items-baseline gap-1.5">
          <span className="min-w-0 truncate font-semibold">{call.name ?? 'unreadable call'}</span>
          {isMock && <span className="text-faint">mock</span>}
        </span>
        <span className="text-faint">{state}</span>
      </button>
      <div className="grid gap-1.5 px-2.5 pt-1 pb-2">
        {call.kind === 'parsed' ? <Arguments input={call.input} /> : <p className="text-bad">Malformed: {call.why}.</p>}
        {call.result && (
          <p
            className={`whitespace-pre-wrap font-mono [overflow-wrap:anywhere] ${call.result.status === 'success' ? '' : 'text-bad'}`}
          >
            <span className="sr-only">Result: </span>
            <span aria-hidden>→ </span>
            {call.result.text}
          </p>
        )}
        <details>
          <summary className="text-faint hover:text-ink">raw text</summary>
          <pre className="mt-1 overflow-x-auto whitespace-pre-wrap rounded bg-panel p-1.5 font-mono [overflow-wrap:anywhere]">
            {call.raw}
          </pre>
        </details>
      </div>
    </article>
  )
}

function Arguments({ input }: { readonly input: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(input)
  if (entries.length === 0) return <p className="text-faint">no arguments</p>
  return (
    <dl className="grid gap-0.5 font-mono">
      {entries.map(([name, value]) => (
        <div key={name} className="[overflow-wrap:anywhere]">
          <dt className="inline text-dim">{name}: </dt>
          <dd className="inline">{JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

function stateText(call: ToolCall, { live, provenance }: TrajectoryView): string {
  if (live?.runningCalls[call.id] !== undefined) return 'running …'
  // The file of a trainer has the result among its ids, and does not say which they are.
  if (!call.result) return provenance.kind === 'import' ? 'result not told' : 'not executed'
  const time = call.result.elapsedMs === undefined ? '' : ` ${durationText(call.result.elapsedMs)}`
  return `${call.result.status === 'success' ? '✓' : call.result.status === 'cancelled' ? 'stopped' : '✗'}${time}`
}
