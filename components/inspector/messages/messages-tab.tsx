'use client'
import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { firstRangeAfter, type TokenMarks } from '#components/token-view/token-marks.ts'
import { useRowWindow } from '#components/ui/rows/row-window.tsx'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { conversationRows, messageAt } from '#lib/trajectory/messages/conversation-rows.ts'
import { segmentMessages } from '#lib/trajectory/messages/message-parts.ts'
import { segmentIndexAt, segmentStarts, segmentsOf, shiftedSpan } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { InspectorPartProps } from '../inspection.ts'
import { MessageView } from './message-view.tsx'

/** Shows the parsed conversation and the tokens of each part. A long one mounts only visible messages. */
export function MessagesTab({ inspection }: InspectorPartProps) {
  const { trajectory, view, pointed, marks, onPointAt, onSelect } = inspection
  const [isMarkdown, setIsMarkdown] = useState(false)
  const rows = conversationRows(trajectory)
  const starts = segmentStarts(trajectory)
  const segments = segmentsOf(trajectory)
  const heightOf = useMemo(() => {
    const list = segmentsOf(trajectory)
    const all = conversationRows(trajectory)
    return (row: number) => usualHeight(list[all[row]?.segmentIndex ?? -1]?.ids.length ?? 0)
  }, [trajectory])
  const { scroller, onScroll, first, end, offsets, after, unprinted, measure, reveal } = useRowWindow({
    count: rows.length,
    heightOf,
  })
  const linked = placeOf(trajectory, pointed ?? view.selection?.focus)
  const chosen = placeOf(trajectory, view.selection?.focus)
  const chosenRow = chosen?.row
  const show = useEffectEvent((row: number) => reveal(row, 'top'))
  useEffect(() => {
    if (chosenRow !== undefined) show(chosenRow)
  }, [chosenRow])
  const hits = marks.find(({ kind }) => kind === 'hit')

  return (
    <div className="grid h-full grid-rows-[auto_minmax(0,1fr)]">
      <div className="flex items-center gap-4 border-line border-b px-3.5 py-1.5 text-xs">
        <span className="text-dim tabular-nums">{countWithNoun(rows.length, 'message')}</span>
        <label className="ml-auto flex items-center gap-1.5">
          <input type="checkbox" checked={isMarkdown} onChange={() => setIsMarkdown(!isMarkdown)} />
          Markdown
        </label>
      </div>
      <div
        ref={scroller}
        onScroll={onScroll}
        className="min-h-0 overflow-y-auto overscroll-contain [overflow-anchor:none]"
      >
        {rows.length === 0 && <p className="p-4 text-faint">No messages yet.</p>}
        <div style={{ height: offsets[first] }} />
        <ol aria-label="Messages" data-messages={rows.length}>
          {rows.slice(first, end).map(({ segmentIndex, messageIndex }, index) => {
            const message = segmentMessages(trajectory, segmentIndex)[messageIndex]
            const segment = segments[segmentIndex]
            const row = first + index
            if (!message || !segment) return null
            const start = starts[segmentIndex] ?? 0
            return (
              <li
                key={`${segmentIndex}.${messageIndex}`}
                ref={measure}
                data-row={row}
                aria-setsize={rows.length}
                aria-posinset={row + 1}
              >
                <MessageView
                  trajectory={trajectory}
                  message={message}
                  segment={segment}
                  segmentIndex={segmentIndex}
                  number={row + 1}
                  start={start}
                  linkedPart={linked?.row === row ? (linked.partIndex ?? 'template') : undefined}
                  hits={message.tokens && hits ? hitsIn(hits, shiftedSpan(message.tokens, start)) : 0}
                  isMarkdown={isMarkdown}
                  onPointAt={onPointAt}
                  onChoose={({ start, end }, tab) => onSelect({ anchor: start, focus: end - 1 }, tab)}
                />
              </li>
            )
          })}
        </ol>
        <div style={{ height: after }} />
        <UnprintedRows count={unprinted} />
      </div>
    </div>
  )
}

/** Returns the estimated height in pixels of a message with so many tokens, until it is measured. Long messages are cut. */
const usualHeight = (tokens: number): number => 70 + 20 * Math.min(40, Math.ceil(tokens / 20))

function placeOf(trajectory: TrajectoryView, token: number | undefined) {
  if (token === undefined) return undefined
  const starts = segmentStarts(trajectory)
  const segmentIndex = segmentIndexAt(starts, token)
  return segmentIndex < 0 ? undefined : messageAt(trajectory, segmentIndex, token - elementAt(starts, segmentIndex))
}

/** Returns the number of hits with a token in the span. */
function hitsIn({ ranges }: TokenMarks, { start, end }: Span): number {
  const last = firstRangeAfter(ranges, end - 1)
  const reachesIn = last * 2 < ranges.length && int32At(ranges, 2 * last) < end
  return last + (reachesIn ? 1 : 0) - firstRangeAfter(ranges, start)
}
