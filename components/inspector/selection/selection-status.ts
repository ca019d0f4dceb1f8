import { countText } from '#components/token-view/numbers.ts'
import { isSingle, type Selection, selectedRange } from '#components/token-view/selection.ts'

/** Returns the text of the status line about the selection. */
export function selectionStatus(selection: Selection | undefined, count: number): string {
  if (selection === undefined) return `${countText(count)} tokens`
  if (isSingle(selection)) return `token ${countText(selection.focus)} of ${countText(count)}`
  const { start, end } = selectedRange(selection)
  return `${countText(end - start)} tokens selected of ${countText(count)}`
}
