/** The incremental recipe (lib/rollout/prompt/prompt.ts) for a template, with its proof at every boundary of the matrix. */
import { commonText } from '#lib/util/common-prefix.ts'
import { lastOffsetOf } from '../cause.ts'
import type { ScriptComparison } from '../compare.ts'
import type { CheckedCell } from '../matrix.ts'
import { BOUNDARY_NAMES, type Recipe, type RecipeProof, type TemplateFacts } from '../report.ts'
import { renderedText, type Subject } from '../subject.ts'

/** Returns whether the appended text equals the text that the whole conversation has after the reply. */
export function proofOf({ appended, expected, rendered }: ScriptComparison, replyIndex: number): RecipeProof['result'] {
  if (!appended.ok) return { kind: 'failed', failure: appended.error }
  const regions = expected.regions()
  const at = regions.findIndex(({ kind }) => kind === 'end')
  const [start, end] = [at - 1, at].map((index) => regions[index]?.end ?? 0) as [number, number]
  const tail = expected.text.slice(start)
  if (rendered.text.endsWith(tail)) return { kind: 'held' }
  const last = lastOffsetOf(rendered.rendering, replyIndex)
  const endOfTurn = expected.text.slice(start, end)
  const close = endOfTurn === '' ? last : rendered.text.lastIndexOf(endOfTurn, last)
  const whole = rendered.text.slice(close < 0 ? last : close)
  return { kind: 'broken', at: commonText(tail, whole), appended: tail, whole }
}

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
