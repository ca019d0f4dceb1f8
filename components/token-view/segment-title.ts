import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Returns the title of a segment; a prompt that contains only tool results is called “tool result”. */
export function segmentTitle(segment: SegmentView): string {
  if (segment.kind === 'response') return 'response'
  return segment.messages.length > 0 && segment.messages.every(({ role }) => role === 'tool') ? 'tool result' : 'prompt'
}
