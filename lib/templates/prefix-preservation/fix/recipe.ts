/** The incremental recipe (lib/rollout/prompt/prompt.ts) for a template, with its proof at every boundary of the matrix. */
import type { CheckedCell } from '../matrix.ts'
import { BOUNDARY_NAMES, type Recipe, type TemplateFacts } from '../report.ts'
import { renderedText, type Subject } from '../subject.ts'

/** Returns the recipe of a template with the proofs of all checked cells. */
export function recipeOf(checked: readonly CheckedCell[], facts: TemplateFacts, subject: Subject): Recipe {
  const proofs = checked.flatMap(({ proof }) => (proof ? [proof] : []))
  const appended = BOUNDARY_NAMES.flatMap((boundary) => {
    const found = checked.find(
      ({ cell, appended: text }) =>
        cell.place.boundary === boundary &&
        boundary !== 'end' &&
        Object.keys(cell.place.options).length === 0 &&
        text !== undefined,
    )
    return found?.appended === undefined ? [] : [{ boundary, text: found.appended }]
  })
  const mark = 'MARK-OF-REPLY'
  const text =
    renderedText(
      subject,
      [
        { role: 'user', content: 'U' },
        { role: 'assistant', content: mark },
      ],
      false,
    ) ?? ''
  const end = subject.tokenizer.addedTokens.find(({ content }) => content === facts.endOfTurn)
  const behind = text.slice(text.lastIndexOf(mark) + mark.length)
  return {
    kind:
      appended.length === 0 ? 'impossible' : proofs.every(({ result }) => result.kind === 'held') ? 'held' : 'broken',
    endOfTurn: end && { id: end.id, text: end.content },
    separator: text.includes(mark) ? behind.slice(behind.startsWith(facts.endOfTurn) ? facts.endOfTurn.length : 0) : '',
    appended,
    proofs,
  }
}
