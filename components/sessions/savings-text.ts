/** What a session saved, in words. */
import { countText } from '#components/token-view/numbers.ts'
import type { SavedCounts } from '#lib/api/sessions/savings.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Returns the numbers that differ from those of a chat pipeline. `leaves` is the number of leaves, of which each is one training row. */
export function savingsParts(
  { drifts, trainedTokens, cachedTokens, rows }: SavedCounts,
  leaves: number,
): readonly string[] {
  return [
    ...(drifts > 0 ? [`${countWithNoun(drifts, 'drift')} avoided`] : []),
    ...(trainedTokens > 0 ? [`${countWithNoun(trainedTokens, 'trained token')} kept`] : []),
    ...(cachedTokens > 0 ? [`${countWithNoun(cachedTokens, 'cached token')} kept`] : []),
    ...(rows > leaves ? [`${countWithNoun(leaves, 'row')} instead of ${countText(rows)}`] : []),
  ]
}

/** Follows the parts. Without any, it says that a chat pipeline would have recorded the same. */
export const savingsEnd = (parts: readonly string[]): string =>
  parts.length > 0
    ? 'compared with a chat pipeline'
    : 'No drift to avoid: a chat pipeline would have sent the same tokens.'
