/**
 * Builds the side that the server read last in a run over a chat endpoint: the last prompt that it reported, and the reply after it.
 * Compared with the recorded side, this shows the drift of a text-based pipeline within one run.
 */
import { type AlignedRun, alignTokens } from '#lib/trajectory/drift/align.ts'
import type { PromptSegment, Span, ToolCall, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { promptOf, readOf } from '#lib/trajectory/messages/read-prompt.ts'
import { bytesOf, textOf, textWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import { segmentStarts, segmentsOf, shiftedSpan } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { BuildResult, ShownSide } from './shown-side.ts'

/** What the server read before one response of a run over a chat endpoint. */
export interface TurnRead {
  readonly segmentIndex: number
  /** Number of recorded tokens before the response. */
  readonly before: number
  /** How many of these its prompt began with. If it is equal to `before`, the server read the recorded tokens. */
  readonly kept: number
  /** Number of tokens of the prompt that the server read. */
  readonly prompt: number
}

/** Returns one entry for each response that a chat endpoint gave, in order. */
export function turnsRead(trajectory: TrajectoryView): readonly TurnRead[] {
  const starts = segmentStarts(trajectory)
  return segmentsOf(trajectory).flatMap((segment, segmentIndex) => {
    if (segment.kind !== 'response' || segment.request?.endpoint !== 'chat') return []
    const before = elementAt(starts, segmentIndex)
    const read = readOf(segment)
    return [{ segmentIndex, before, kept: read?.kept ?? before, prompt: read ? read.kept + read.ids.length : before }]
  })
}

/** Returns a trajectory whose earlier replies are the tokens that the server rendered for them. The last reply is as sampled. */
export function sideRead(trajectory: TrajectoryView): BuildResult<ShownSide> {
  const segments = segmentsOf(trajectory)
  const last = turnsRead(trajectory).at(-1)
  if (!last)
    return {
      ok: false,
      why: 'This trajectory was not run over a chat endpoint.',
      hint: 'Run its chat baseline, which records what the server read.',
    }
  const response = segments[last.segmentIndex] as ResponseView
  const before = segments.slice(0, last.segmentIndex)
  const own = before.flatMap(({ ids }) => Array.from(ids))
  const prompt = Array.from(promptOf(own, response, own.length))
  const edges = moveDerivation(segmentStarts({ segments: before }), own, prompt, trajectory.vocab)
  const { live: _, problems: __, routedExperts: ___, imageData: ____, foreign: _____, outcome, ...frame } = trajectory
  return {
    ok: true,
    value: {
      trajectory: {
        ...frame,
        id: `${trajectory.id}-read`,
        segments: [
          ...before.map((segment, index) => rebuildPrompt(segment, prompt, edges(index), trajectory.vocab)),
          withoutRead(response),
        ],
        outcome: outcome.kind === 'running' ? { kind: 'ended', reason: 'unknown' } : outcome,
        provenance: { kind: 'retokenized', mode: 'read', parent: trajectory.id },
      },
      caveats: [],
    },
  }
}

/** Tokens of a segment in the prompt. `move` maps a token of the recorded segment to one of these; both are counted from the segment. */
interface Place extends Span {
  readonly move: (index: number) => number
}

/** Finds the recorded segments, which begin at `starts`, in the prompt. Tokens inserted between two segments belong to the second. */
function moveDerivation(
  starts: readonly number[],
  own: readonly number[],
  prompt: readonly number[],
  vocab: Vocab,
): (segment: number) => Place {
  const known = new Map<number, Uint8Array | undefined>()
  const bytes = (id: number): Uint8Array | undefined => {
    if (!known.has(id)) known.set(id, vocab[id] === undefined ? undefined : bytesOf(vocab[id]))
    return known.get(id)
  }
  const alignedRuns = alignTokens(own, prompt, bytes)
  return (segment) => {
    const [from, to] = [elementAt(starts, segment), elementAt(starts, segment + 1)]
    const start = placeIn(alignedRuns, from)
    const end = segment === starts.length - 2 ? prompt.length : placeIn(alignedRuns, to)
    const move = (index: number) => Math.min(Math.max(placeIn(alignedRuns, from + index), start), end) - start
    return { start, end, move }
  }
}

/** Maps a recorded token to the prompt. Inside a drift span, tokens are counted from its start. Of several places the first is used. */
function placeIn(alignedRuns: readonly AlignedRun[], index: number): number {
  const found = alignedRuns.find(({ left }) => index <= left.end)
  return found ? Math.min(found.right.start + index - found.left.start, found.right.end) : 0
}

function rebuildPrompt(segment: SegmentView, prompt: readonly number[], place: Place, vocab: Vocab): SegmentView {
  const ids = prompt.slice(place.start, place.end)
  if (segment.kind === 'prompt') {
    const { messages, derivation } = segment
    const promptSegment: PromptSegment = { kind: 'prompt', ids, messages, ...(derivation && { derivation }) }
    return promptSegment
  }
  const { starts } = textWithStarts(ids, vocab)
  const span = ({ start, end }: Span): Span => ({ start: place.move(start), end: place.move(end) })
  return {
    kind: 'response',
    ids,
    thinks: segment.thinks.map((think) => ({ ...think, ...span(think) })).filter(({ start, end }) => end > start),
    toolCalls: segment.toolCalls.flatMap((call): readonly ToolCall[] => {
      const now = span(call.span)
      if (now.end === now.start) return []
      const text = { start: elementAt(starts, now.start), end: elementAt(starts, now.end) }
      const isSame = spells(segment, call.span, ids, now)
      const place = { span: now, text, raw: isSame ? call.raw : textOf(ids.slice(now.start, now.end), vocab) }
      if (call.kind === 'malformed') return [{ ...call, ...place, at: Math.min(call.at, text.end) }]
      // The values of a call whose tokens changed are not located again.
      const values = isSame ? call.arguments : []
      return [
        {
          ...call,
          ...place,
          arguments: values.map((value) => ({
            ...value,
            span: shiftedSpan(value.span, now.start - call.span.start),
            text: shiftedSpan(value.text, text.start - call.text.start),
          })),
        },
      ]
    }),
    ...(segment.finish && { finish: segment.finish }),
  }
}

const spells = ({ ids: own }: SegmentView, was: Span, ids: readonly number[], now: Span): boolean =>
  was.end - was.start === now.end - now.start &&
  ids.slice(now.start, now.end).every((id, index) => id === own[was.start + index])

/** Removes the record of what the server read: on this side, the response follows exactly those tokens. */
function withoutRead(segment: ResponseView): ResponseView {
  const { request, ...rest } = segment
  if (!request) return segment
  const { read: _, ...known } = request
  return { ...rest, request: known }
}
