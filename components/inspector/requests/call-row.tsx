import { ChevronRight } from 'lucide-react'
import { countText, durationText } from '#components/token-view/numbers.ts'
import type { RecordedCall } from '#lib/analysis/requests/recorded-calls.ts'
import { tokensRead } from '#lib/trajectory/messages/response-calls.ts'
import { cachedTokensOf } from '#lib/trajectory/tokens/statistics.ts'
import { phasesOf, TimingBar } from './timing-bar.tsx'

interface CallRowProps {
  readonly call: RecordedCall
  readonly longestMs: number
  readonly isOpen: boolean
  /** Hash of the tokens before the response; undefined while it is computed. */
  readonly hash: string | undefined
  readonly onToggle: () => void
}

/** Shows one call as a line. */
export function CallRow({ call, longestMs, isOpen, hash, onToggle }: CallRowProps) {
  const { number, request, segment, segmentIndex } = call
  const { timing, finish, usage } = segment
  const holds = hash === undefined ? undefined : hash === request.inputHash
  const cached = cachedTokensOf(segment)
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      data-request={number}
      data-holds={holds}
      onClick={onToggle}
      className="grid min-h-8 w-full grid-cols-[1rem_4.5rem_minmax(0,1fr)_auto] items-center gap-x-3 px-3.5 py-1 text-left tabular-nums hover:bg-panel aria-expanded:bg-panel sm:grid-cols-[1rem_4.5rem_minmax(0,1fr)_minmax(0,1fr)_5.5rem_minmax(4rem,9rem)_4rem]"
    >
      <ChevronRight
        size={13}
        aria-hidden
        className={`text-faint transition-transform motion-reduce:transition-none ${isOpen ? 'rotate-90' : ''}`}
      />
      <span className="font-medium">request {number}</span>
      <span className="truncate text-dim">
        {countText(tokensRead(request, usage))} in
        {holds === false && <strong className="text-bad"> · ids differ</strong>}
        {request.read && <strong className="text-bad"> · differs from the tokens here</strong>}
        {cached !== null && cached > 0 && ` · ${countText(cached)} cached`}
      </span>
      <span className="truncate text-dim max-sm:text-right">
        {countText(segment.ids.length)} out
        <span className="max-lg:hidden"> · segment {segmentIndex}</span>
      </span>
      <span className={`max-sm:hidden ${finish?.kind === 'stop' ? 'text-dim' : 'text-warn'}`}>
        {finish?.kind ?? 'no finish'}
      </span>
      <span className="max-sm:hidden">
        {timing && <TimingBar phases={phasesOf(timing, request.scoring)} wholeMs={longestMs} />}
      </span>
      <span className="text-right text-dim max-sm:hidden">{timing ? durationText(timing.elapsedMs) : '—'}</span>
    </button>
  )
}
