import type { TrajectoryView } from '../tokens/trajectory-view.ts'

/** Returns the text of the first user message, which names a run; '' if there is none. A page needs it before the code that reads tokens. */
export function firstUserText({ segments, outcome }: Pick<TrajectoryView, 'segments' | 'outcome'>): string {
  const read = segments.flatMap((segment) => (segment.kind === 'prompt' ? segment.messages : []))
  const content = [...read, ...(outcome.unsent ?? [])].find(({ role }) => role === 'user')?.content ?? ''
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('\n')
}
