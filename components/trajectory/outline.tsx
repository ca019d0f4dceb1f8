import { segmentStarts, segmentsOf, spansOf } from '#lib/core/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/core/trajectory-view.ts'
import { countText } from './numbers.ts'
import { segmentTitle } from './token-reading.ts'

interface OutlineProps {
  readonly trajectory: TrajectoryView
  readonly selected: number | undefined
  readonly onSelect: (tokenIndex: number) => void
}

/** The segments, their think blocks and tool calls; choosing one shows its first token. */
export function Outline({ trajectory, selected, onSelect }: OutlineProps) {
  const starts = segmentStarts(trajectory)
  return (
    <ol className="grid gap-0.5 text-xs">
      {segmentsOf(trajectory).map((segment, index) => {
        const start = starts[index] ?? 0
        const isCurrent = selected !== undefined && selected >= start && selected < start + segment.ids.length
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments are only ever appended
          <li key={index}>
            <Entry
              text={`${index} ${segmentTitle(segment)}`}
              note={noteOf(segment)}
              count={segment.ids.length}
              isCurrent={isCurrent}
              isTrained={segment.kind === 'response'}
              onSelect={() => onSelect(start)}
            />
            {spansOf(segment)
              .filter(({ kind }) => kind === 'think' || kind === 'tool-call')
              .map((span) => (
                <button
                  key={span.kind === 'tool-call' ? span.call.id : `think ${span.span.start}`}
                  type="button"
                  onClick={() => onSelect(start + span.span.start)}
                  className="ml-3 flex w-[calc(100%-12px)] justify-between rounded-md px-2 py-0.5 text-left text-dim tabular-nums hover:bg-accent-soft hover:text-ink"
                >
                  <span className="truncate">
                    {span.kind === 'tool-call' ? `call ${span.call.name ?? 'malformed'}` : 'think'}
                  </span>
                  <span>{countText(span.span.end - span.span.start)}</span>
                </button>
              ))}
          </li>
        )
      })}
    </ol>
  )
}

interface EntryProps {
  readonly text: string
  readonly note: string | undefined
  readonly count: number
  readonly isCurrent: boolean
  readonly isTrained: boolean
  readonly onSelect: () => void
}

function Entry({ text, note, count, isCurrent, isTrained, onSelect }: EntryProps) {
  return (
    <button
      type="button"
      onClick={onSelect}
      aria-current={isCurrent || undefined}
      className={`flex w-full items-baseline justify-between gap-2 rounded-md border-l-3 px-2 py-1 text-left tabular-nums hover:bg-accent-soft aria-[current=true]:bg-accent-soft ${isTrained ? 'border-trained' : 'border-line'}`}
    >
      <span className="truncate">
        {text}
        {note !== undefined && <span className="text-faint"> · {note}</span>}
      </span>
      <span className="text-dim">{countText(count)}</span>
    </button>
  )
}

function noteOf(segment: SegmentView): string | undefined {
  if (segment.problems && segment.problems.length > 0)
    return `${segment.problems.length} problem${segment.problems.length > 1 ? 's' : ''}`
  if (segment.kind !== 'response' || !segment.finish || segment.finish.kind === 'stop') return undefined
  return segment.finish.kind
}
