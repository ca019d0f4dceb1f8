'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import { countText, durationText, percentText } from '#components/token-view/numbers.ts'
import { useRowWindow } from '#components/ui/rows/row-window.tsx'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import { type RecordedCall, recordedCalls } from '#lib/analysis/requests/recorded-calls.ts'
import { tokensRead } from '#lib/trajectory/messages/response-calls.ts'
import { cachedTokensOf } from '#lib/trajectory/tokens/statistics.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { CopyRun } from '../commands/copy-run.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { useInspectTask } from '../use-inspect-task.ts'
import { CallDetails } from './call-details.tsx'
import { CallRow } from './call-row.tsx'

/** Lists the recorded calls with what was sent, what was received, and how long it took. */
export function RequestsTab({ inspection }: InspectorPartProps) {
  const { trajectory, view } = inspection
  const calls = recordedCalls(trajectory)
  const [chosen, setChosen] = useState<number | undefined>(() => callAt(calls, view.selection?.focus))
  const checks = useInspectTask(inspection, 'checkInputs', null)
  const hashes = new Map(
    checks.kind === 'done' ? checks.result.map(({ segmentIndex, hash }) => [segmentIndex, hash] as const) : [],
  )
  const { scroller, onScroll, first, end, offsets, after, unprinted, measure, reveal } = useRowWindow({
    count: calls.length,
    heightOf,
  })
  const show = useEffectEvent(() => reveal((chosen ?? 1) - 1, 'top'))
  useEffect(() => show(), [])
  if (calls.length === 0) return <NoCalls trajectory={trajectory} />
  const longestMs = calls.reduce((most, { segment }) => Math.max(most, segment.timing?.elapsedMs ?? 0), 0)
  return (
    <section
      aria-label="Requests"
      data-requests={calls.length}
      data-idle={checks.kind === 'done'}
      className="grid h-full grid-rows-[auto_minmax(0,1fr)] text-xs"
    >
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 border-line border-b px-3.5 py-2">
        <p className="text-dim tabular-nums">{summary(trajectory, calls)}</p>
        <CopyRun trajectory={trajectory} />
      </div>
      <div ref={scroller} onScroll={onScroll} className="min-h-0 overflow-y-auto [overflow-anchor:none]">
        <div style={{ height: offsets[first] }} />
        <ol>
          {calls.slice(first, end).map((call, index) => {
            const isOpen = call.number === chosen
            return (
              <li
                key={call.segmentIndex}
                ref={measure}
                data-row={first + index}
                aria-setsize={calls.length}
                aria-posinset={first + index + 1}
                className="border-line border-b"
              >
                <CallRow
                  call={call}
                  longestMs={longestMs}
                  isOpen={isOpen}
                  hash={hashes.get(call.segmentIndex)}
                  onToggle={() => setChosen(isOpen ? undefined : call.number)}
                />
                {isOpen && <CallDetails inspection={inspection} call={call} hash={hashes.get(call.segmentIndex)} />}
              </li>
            )
          })}
        </ol>
        <div style={{ height: after }} />
        <UnprintedRows count={unprinted} />
      </div>
    </section>
  )
}

/** Returns the height of a closed row, in pixels; an open one is measured. */
const heightOf = () => 44

/** Returns the number of the call that read or sampled a token; that of the first call if no token is selected. */
function callAt(calls: readonly RecordedCall[], token: number | undefined): number {
  const call = token === undefined ? undefined : calls.find((one) => token < one.inputLength + one.segment.ids.length)
  return call?.number ?? 1
}

function summary(trajectory: TrajectoryView, calls: readonly RecordedCall[]): string {
  const sum = (amount: (call: RecordedCall) => number | undefined) =>
    calls.reduce((total, call) => total + (amount(call) ?? 0), 0)
  const sent = sum(({ request }) => request.inputLength)
  const read = sum(({ request, segment: { usage } }) => tokensRead(request, usage))
  const cached = sum(({ segment }) => cachedTokensOf(segment) ?? 0)
  const responses = segmentsOf(trajectory).filter(({ kind }) => kind === 'response').length
  const ms = sum(({ segment }) => segment.timing?.elapsedMs)
  return [
    countWithNoun(calls.length, 'request'),
    // A chat endpoint receives messages, so its tokens are not sent.
    `${countText(sent)} tokens ${calls.some(({ request }) => request.endpoint === 'chat') ? 'read' : 'sent'}`,
    ...(cached > 0 ? [`${percentText(cached / read)} from the cache`] : []),
    `${countText(sum(({ segment }) => segment.ids.length))} written`,
    ...(ms > 0 ? [durationText(ms)] : []),
    ...(responses > calls.length ? [`${countText(responses - calls.length)} responses have no recorded request`] : []),
  ].join(' · ')
}

function NoCalls({ trajectory }: { readonly trajectory: TrajectoryView }) {
  const { provenance } = trajectory
  const hasResponses = segmentsOf(trajectory).some(({ kind }) => kind === 'response')
  return (
    <div className="grid max-w-prose gap-1 p-4" data-requests={0}>
      <p className="font-medium">There are no requests to show.</p>
      <p className="text-dim">
        {!hasResponses
          ? 'The model has written nothing yet.'
          : provenance.kind === 'import'
            ? `Files of the format ${provenance.format} contain the tokens that were read and written, but not the calls. Rollscope records each call of its own runs.`
            : 'The calls of these responses were not recorded. Rollscope records each call of its own runs.'}
      </p>
    </div>
  )
}
