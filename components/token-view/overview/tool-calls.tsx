'use client'
import { useMemo } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { BoundedText } from '#components/ui/bounded-text.tsx'
import { useRowWindow } from '#components/ui/rows/row-window.tsx'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { ToolCall } from '#lib/trajectory/format/trajectory.ts'
import { haveResultMessages } from '#lib/trajectory/messages/tool-calls.ts'
import { callTotal, statistics } from '#lib/trajectory/tokens/statistics.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { clipText, durationText } from '../numbers.ts'

interface ToolCallsProps {
  readonly trajectory: TrajectoryView
  readonly onSelect: (tokenIndex: number) => void
}

/** Lists every tool call of the trajectory, parsed or malformed, with its result. A long list mounts only its visible cards. */
export function ToolCalls({ trajectory, onSelect }: ToolCallsProps) {
  const calls = useMemo(() => {
    const starts = segmentStarts(trajectory)
    return segmentsOf(trajectory).flatMap((segment, index) =>
      segment.kind === 'response'
        ? segment.toolCalls.map((call) => ({ call, first: (starts[index] ?? 0) + call.span.start }))
        : [],
    )
  }, [trajectory])
  const { scroller, onScroll, first, end, offsets, after, unprinted, measure } = useRowWindow({
    count: calls.length,
    heightOf: usualHeight,
  })
  if (calls.length === 0) return <p className="text-faint text-xs">{emptyText(trajectory)}</p>
  const isLong = calls.length > MANY_CALLS
  return (
    <div
      ref={scroller}
      onScroll={onScroll}
      className={isLong ? '-mx-1.5 max-h-[70dvh] overflow-y-auto px-1.5 [overflow-anchor:none]' : ''}
    >
      <div style={{ height: isLong ? offsets[first] : 0 }} />
      <ul aria-label="Tool calls">
        {calls.slice(isLong ? first : 0, isLong ? end : undefined).map(({ call, first: token }, index) => (
          <li key={call.id} ref={isLong ? measure : null} data-row={first + index} className="pb-2">
            <ToolCallCard
              call={call}
              origin={originOf(trajectory.model.tools.find(({ name }) => name === call.name))}
              state={stateText(call, trajectory)}
              onSelect={() => onSelect(token)}
            />
          </li>
        ))}
      </ul>
      {isLong && <div style={{ height: after }} />}
      <UnprintedRows count={unprinted} />
    </div>
  )
}

/** Returns why no call is listed: only calls that a parser found have tokens to show. */
function emptyText(trajectory: TrajectoryView): string {
  const { toolCalls } = statistics(trajectory)
  if (!toolCalls) return 'Unknown: no parser has read the ids of the file.'
  const count = callTotal(toolCalls)
  if (count > 0)
    return `${countWithNoun(count, 'tool call')} in the messages of the file. A tokenizer finds their tokens.`
  return trajectory.outcome.kind === 'running' ? 'No tool calls yet.' : 'No tool calls.'
}

/** Largest number of calls that are all mounted and scroll with the pane. */
const MANY_CALLS = 20
const usualHeight = () => 120

function ToolCallCard({
  call,
  origin,
  state,
  onSelect,
}: {
  readonly call: ToolCall
  /** Origin of the tool, such as an MCP server; undefined if the application provides it. */
  readonly origin: string | undefined
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
          <span className="min-w-0 truncate font-semibold">{visibleText(call.name ?? 'unreadable call')}</span>
          {origin !== undefined && <span className="text-faint">{visibleText(origin)}</span>}
        </span>
        <span className="text-faint">{state}</span>
      </button>
      <div className="grid gap-1.5 px-2.5 pt-1 pb-2">
        {call.kind === 'parsed' ? (
          <Arguments input={call.input} />
        ) : (
          <p className="text-bad">Malformed: {visibleText(call.why)}.</p>
        )}
        {call.result && (
          <div className={`flex gap-1 font-mono ${call.result.status === 'success' ? '' : 'text-bad'}`}>
            <span className="sr-only">Result: </span>
            <span aria-hidden>{'→ '}</span>
            <div className="min-w-0 flex-1">
              {call.result.text === '' ? (
                <span className="font-sans text-faint">no text</span>
              ) : (
                <BoundedText
                  text={call.result.text}
                  label={`Result of ${visibleText(call.name ?? 'the call')}`}
                  longest={600}
                />
              )}
              {call.result.wholeLength !== undefined && (
                <p className="mt-1 font-sans text-faint">
                  {countText(call.result.text.length)} of {countText(call.result.wholeLength)} characters: cut by the
                  setting “result characters”.
                </p>
              )}
            </div>
          </div>
        )}
        <details>
          <summary className="text-faint hover:text-ink">raw text</summary>
          <div className="mt-1 rounded bg-panel p-1.5 font-mono">
            <BoundedText text={call.raw} label={`Raw text of ${visibleText(call.name ?? 'the call')}`} />
          </div>
        </details>
      </div>
    </article>
  )
}

const originOf = (tool: ToolSpec | undefined): string | undefined =>
  tool?.mock ? 'mock' : tool?.mcp ? `MCP · ${tool.mcp.server}` : undefined

/** Longest argument shown, in characters; the raw text is complete. */
const LONG_VALUE = 600

function Arguments({ input }: { readonly input: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(input)
  if (entries.length === 0) return <p className="text-faint">no arguments</p>
  return (
    <dl className="grid gap-0.5 font-mono">
      {entries.map(([name, value]) => (
        <div key={name} className="[overflow-wrap:anywhere]">
          {typeof value === 'string' && value.includes('\n') ? (
            <>
              <dt className="text-dim">{visibleText(name)}:</dt>
              <dd className="mt-0.5 rounded bg-panel px-1.5 py-1">
                <BoundedText text={value} label={`Argument ${visibleText(name)}`} longest={LONG_VALUE} />
              </dd>
            </>
          ) : (
            <>
              <dt className="inline text-dim [unicode-bidi:isolate]">{visibleText(name)}: </dt>
              <dd className="inline [unicode-bidi:isolate]">
                {visibleText(clipText(JSON.stringify(value), LONG_VALUE))}
              </dd>
            </>
          )}
        </div>
      ))}
    </dl>
  )
}

function stateText(call: ToolCall, { live, provenance, segments }: TrajectoryView): string {
  if (live?.runningCalls[call.id] !== undefined) return 'running…'
  if (!call.result) {
    if (provenance.kind !== 'import') return 'not executed'
    // A file from a trainer has the tool result among its ids, but does not say which ids they are.
    return haveResultMessages(segments) ? 'result in the messages' : 'no recorded result'
  }
  const time = call.result.elapsedMs === undefined ? '' : ` ${durationText(call.result.elapsedMs)}`
  return `${call.result.status === 'success' ? '✓' : call.result.status === 'cancelled' ? 'stopped' : '✗'}${time}`
}
