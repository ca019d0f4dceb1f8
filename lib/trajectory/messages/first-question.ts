/** The beginning of a run in words, which lists show as its title. */
import { beginningOf } from '#lib/util/text/excerpt.ts'
import { textOf } from '../tokens/pieces.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { firstUserText } from './first-user-text.ts'

type QuestionSource = Pick<TrajectoryView, 'segments' | 'outcome' | 'vocab'>

/**
 * Returns the first question of a run. For a run that began with text or ids, it is the beginning of these: the text of at most
 * `mostTokens` tokens.
 */
export function firstQuestion({ segments, outcome, vocab }: QuestionSource, mostTokens: number): string {
  const { unsentGiven } = outcome
  const [first] = segments
  const rawPrompt = first?.kind === 'prompt' && first.derivation?.kind === 'given' ? first : unsentGiven
  const begun = textOf(rawPrompt ? Array.from(rawPrompt.ids).slice(0, mostTokens) : [], vocab)
  return begun === '' ? firstUserText({ segments, outcome }) : begun
}

/** Longest title that is made of a question, in UTF-16 units. */
const LONGEST_TITLE = 60

/** Returns the title of a trajectory, or the beginning of its first question if it has none; undefined if it has neither. */
export function titleOrQuestion(trajectory: QuestionSource & Pick<TrajectoryView, 'title'>): string | undefined {
  if (trajectory.title !== undefined) return trajectory.title
  const question = firstQuestion(trajectory, LONGEST_TITLE)
  if (question === '') return undefined
  return question.length > LONGEST_TITLE ? `${beginningOf(question, LONGEST_TITLE)} …` : question
}
