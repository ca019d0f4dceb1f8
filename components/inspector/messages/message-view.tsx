'use client'
import { useState } from 'react'
import { durationText } from '#components/token-view/numbers.ts'
import { roleName } from '#components/token-view/overview/message-place.ts'
import { BoundedText, ForeignText } from '#components/ui/bounded-text.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { partText, type SegmentMessage } from '#lib/trajectory/messages/message-parts.ts'
import { callsById } from '#lib/trajectory/messages/tool-calls.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { idsBetween, shiftedSpan } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { MessagePartView } from './message-part.tsx'

interface MessageViewProps {
  readonly trajectory: TrajectoryView
  readonly message: SegmentMessage
  readonly segment: SegmentView
  readonly segmentIndex: number
  /** Number of the message, from 1. */
  readonly number: number
  /** Index of the segment's first token in the trajectory. */
  readonly start: number
  /** Index of the part with the selected token or the one under the pointer; `template` if the token is around the parts. */
  readonly linkedPart: number | 'template' | undefined
  readonly hits: number
  readonly isMarkdown: boolean
  readonly onPointAt: (tokens: Span | undefined) => void
  readonly onChoose: (tokens: Span, tab?: 'tokens') => void
}

/** Shows one message: its parsed parts, or the unchanged text of its tokens. */
export function MessageView(props: MessageViewProps) {
  const { trajectory, message, segment, segmentIndex, number, start, linkedPart, hits, isMarkdown } = props
  const { onPointAt, onChoose } = props
  const [isRaw, setIsRaw] = useState(false)
  const name = roleName(message, trajectory)
  const tokens = message.tokens && shiftedSpan(message.tokens, start)
  const hasTokens = segment.ids.length > 0
  return (
    <article
      aria-label={`Message ${number}, ${visibleText(name)}`}
      data-message={number}
      data-role={message.role}
      data-linked={linkedPart !== undefined || undefined}
      className="border-line border-b border-l-3 border-l-line px-3.5 py-2 data-[role=assistant]:border-l-trained data-[role=tool]:border-l-tool data-linked:bg-panel"
    >
      <header className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-xs tabular-nums">
        <h2 className="min-w-0 font-semibold [overflow-wrap:anywhere]">
          <span className="font-normal text-faint">{number}</span> <ForeignText>{name}</ForeignText>
        </h2>
        <span className="text-faint">{notesOf(message, trajectory).join(' · ')}</span>
        {hits > 0 && <span className="font-medium text-accent">{countWithNoun(hits, 'hit')}</span>}
        <span className="ml-auto flex items-baseline gap-3 text-dim">
          {tokens ? (
            <button
              type="button"
              className="hover:text-accent hover:underline"
              title="Show its tokens, including the text that the template adds"
              onPointerEnter={() => onPointAt(tokens)}
              onPointerLeave={() => onPointAt(undefined)}
              onClick={() => onChoose(tokens, 'tokens')}
            >
              {countWithNoun(tokens.end - tokens.start, 'token')}
            </button>
          ) : hasTokens ? (
            <span title="The template may have rewritten its text">not found in segment {segmentIndex}</span>
          ) : null}
          {hasTokens && (
            <button
              type="button"
              aria-pressed={isRaw}
              className="hover:text-accent aria-pressed:font-semibold aria-pressed:text-accent"
              title="The unchanged text of its tokens, including markup"
              onClick={() => setIsRaw(!isRaw)}
            >
              Raw
            </button>
          )}
        </span>
      </header>
      {isRaw ? (
        <div className="mt-1 rounded bg-panel p-2 font-mono text-xs" data-raw>
          {!message.tokens && <p className="mb-1 text-faint">All of segment {segmentIndex}:</p>}
          <BoundedText
            text={textOf(
              idsBetween(segment.ids, message.tokens ?? { start: 0, end: segment.ids.length }),
              trajectory.vocab,
            )}
            label={`Raw text of message ${number}`}
          />
        </div>
      ) : (
        <div className="mt-1 grid gap-2">
          {message.parts.length === 0 && <p className="text-faint text-xs">No text.</p>}
          {message.parts.map((part, index) => (
            <MessagePartView
              // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message stay in their order
              key={index}
              part={part}
              text={partText(part, segment, trajectory)}
              tokens={part.tokens && shiftedSpan(part.tokens, start)}
              isLinked={linkedPart === index}
              isMarkdown={isMarkdown && message.role !== 'tool'}
              isResult={message.role === 'tool'}
              hasTokens={hasTokens}
              onPointAt={onPointAt}
              onChoose={onChoose}
            />
          ))}
        </div>
      )}
    </article>
  )
}

/** Returns facts about a tool result and the call that it answers. */
function notesOf({ message }: SegmentMessage, { segments }: TrajectoryView): readonly string[] {
  if (message?.role !== 'tool') return []
  const known = callsById(segments).get(message.callId ?? '')
  const status = known?.call.result?.status ?? (message.isError === true ? 'error' : undefined)
  const elapsedMs = known?.call.result?.elapsedMs
  return [
    ...(known ? [`call ${known.number}`] : []),
    ...(status === undefined ? [] : [status === 'success' ? '✓' : `✗ ${status}`]),
    ...(elapsedMs === undefined ? [] : [durationText(elapsedMs)]),
  ]
}
