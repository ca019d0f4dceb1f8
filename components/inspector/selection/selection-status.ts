import { countText, indexText } from '#components/token-view/numbers.ts'
import { isSingle, type Selection, selectedRange } from '#components/token-view/selection.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Returns the text of the status line about the selection. */
export function selectionStatus(selection: Selection | undefined, count: number): string {
  if (selection === undefined) return countWithNoun(count, 'token')
  if (isSingle(selection)) return `token ${indexText(selection.focus, count)}`
  const { start, end } = selectedRange(selection)
  return `${countText(end - start)} tokens selected of ${countText(count)}`
}
