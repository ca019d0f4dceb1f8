/** The beginning of a run in words, which lists show as its title. */
import type { Message, Trajectory } from '../format/trajectory.ts'
import { textOf } from '../tokens/pieces.ts'

/**
 * Returns the first question of a run. For a run that began with text or ids, it is the beginning of these: the text of at most
 * `mostTokens` tokens.
 */
export function firstQuestion({ segments, outcome, vocab }: Trajectory, mostTokens: number): string {
  const read = segments.flatMap((segment): readonly Message[] => (segment.kind === 'prompt' ? segment.messages : []))
  const { unsent = [], unsentGiven = undefined } = outcome.kind === 'running' ? {} : outcome
  const [first] = segments
  const given = first?.kind === 'prompt' && first.derivation?.kind === 'given' ? first : unsentGiven
  const begun = textOf(given?.ids.slice(0, mostTokens) ?? [], vocab)
  if (begun !== '') return begun
  const content = [...read, ...unsent].find(({ role }) => role === 'user')?.content ?? ''
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n')
}
