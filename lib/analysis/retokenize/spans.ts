/** Finds the texts, think blocks and calls of a trajectory where they are unknown. */

import type { ToolParser } from '#lib/parsers/parser.ts'
import { DEFAULT_PARSER, parserNamed } from '#lib/parsers/registry.ts'
import { annotations, numberedCallIds } from '#lib/rollout/record/record.ts'
import { withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { ResponseSegment, Segment, ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ConversationPart } from './recorded-messages.ts'
import { wholeVocab } from './remade.ts'
import type { BareSegment } from './reply-segments.ts'

/** Returns what a trajectory has so far as a finished one, with the texts of its ids and the calls of an open response. */
export function asFinished(trajectory: TrajectoryView, tokenizer: Tokenizer): TrajectoryView {
  const { live, ...closed } = trajectory
  const { foreign: _, ...own } = closed
  if (!trajectory.model.tokenizer) {
    const parser = parserNamed(trajectory.model.parser ?? DEFAULT_PARSER) as ToolParser
    const bare = { ...own, segments: segmentsOf(trajectory).map(plain) }
    return withTokenizer(bare, { tokenizer, endOfTurnId: undefined, parser })
  }
  if (!live?.open) return closed
  const before = {
    ...own,
    vocab: wholeVocab(trajectory.vocab, segmentsOf(trajectory), tokenizer),
    segments: closed.segments.map(plain),
  }
  const open = plain(live.open)
  const last = open.kind === 'prompt' ? open : { ...open, ...annotations(open, before, parserOf(before), tokenizer) }
  return { ...before, segments: [...closed.segments, last] }
}

/** Adds think blocks and calls to a reconstructed side. If a reply has as many calls as were recorded, they keep their ids and results. */
export function withSpans(
  frame: Trajectory,
  bare: readonly BareSegment[],
  parts: readonly ConversationPart[],
  tokenizer: Tokenizer,
): Trajectory {
  const parser = parserOf(frame)
  const replies = parts.flatMap((part) => (part.kind === 'reply' ? [part] : []))
  const segments: Segment[] = []
  const callIds = new Set<string>()
  let reply = 0
  for (const segment of bare) {
    if (segment.kind === 'prompt') {
      segments.push(segment)
      continue
    }
    const before = { ...frame, segments }
    const { thinks, toolCalls: found } = annotations(segment, before, parser, tokenizer, numberedCallIds(callIds))
    const toolCalls = sameCalls(found, replies[reply++]?.calls ?? [])
    for (const { id } of toolCalls) callIds.add(id)
    segments.push({ ...segment, thinks, toolCalls })
  }
  return { ...frame, segments }
}

function sameCalls(found: readonly ToolCall[], recorded: readonly ToolCall[]): readonly ToolCall[] {
  return found.map((call, index) => {
    const same = found.length === recorded.length ? recorded[index] : undefined
    if (!same) return { ...call, id: `${call.id}-again` }
    return { ...call, id: same.id, ...(same.result && { result: same.result }) }
  })
}

/** Returns the recorded parser. Without one, it returns a parser that finds no calls. */
function parserOf({ model }: Pick<TrajectoryView, 'model'>): ToolParser {
  const standard = parserNamed(DEFAULT_PARSER) as ToolParser
  return parserNamed(model.parser ?? '') ?? { ...standard, parse: () => [] }
}

/** Converts a segment to plain arrays and removes all columns except ids and mask. */
function plain(segment: SegmentView): Segment {
  const { logprobs, topLogprobs, columns: others, ids, mask, ...rest } = segment
  const columns = { ids: Array.from(ids), ...(mask && { mask: Array.from(mask, (bit) => (bit === 1 ? 1 : 0)) }) }
  return { ...rest, ...columns } as ResponseSegment
}
