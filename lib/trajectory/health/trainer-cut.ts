/** The effect of a trainer's context limit on a trajectory: it is cut off, masked or dropped. */

import * as z from 'zod/mini'
import { elementAt } from '#lib/util/element-at.ts'
import type { Plain } from '#lib/util/plain.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import { withDescription } from '#lib/util/with-description.ts'
import type { HealthFinding } from './health.ts'

/** Treatments of samples that are longer than the context. */
export const OVERLONG = ['cut', 'mask', 'drop'] as const

/** Schema of a trainer's limit. */
export const trainerCutSchema = z.object({
  tokens: withDescription(
    z.int().check(z.minimum(1), z.maximum(100_000_000)),
    'Longest sequence of the trainer, in tokens.',
  ),
  overlong: withDescription(
    z.enum(OVERLONG),
    'Treatment of longer samples. cut: the trainer uses their first tokens. mask: none of their tokens is trained. drop: the trainer leaves them out.',
  ),
})
/** A trainer's limit and its treatment of longer samples. */
export type TrainerCut = Plain<z.infer<typeof trainerCutSchema>>

/** Returns the number of trained tokens from a position on; `spans` come from trainedSpans. */
export function trainedFrom(spans: readonly number[], from: number): number {
  let count = 0
  for (let at = 0; at < spans.length; at += 2)
    count += Math.max(0, elementAt(spans, at + 1) - Math.max(from, elementAt(spans, at)))
  return count
}

/** Returns the number of trained tokens that the trainer does not train; `tokens` is the length of the trajectory. */
export function countUntrainedTokens(spans: readonly number[], tokens: number, cut: TrainerCut): number {
  return tokens <= cut.tokens ? 0 : trainedFrom(spans, cut.overlong === 'cut' ? cut.tokens : 0)
}

/**
 * Returns a finding, or undefined if the trainer trains all tokens; `spans` come from trainedSpans, `tokens` is the
 * length.
 */
export function cutFinding(spans: readonly number[], tokens: number, cut: TrainerCut): HealthFinding | undefined {
  const untrained = countUntrainedTokens(spans, tokens, cut)
  if (untrained === 0) return undefined
  const [all, longest, count] = [trainedFrom(spans, 0), cut.tokens, untrained].map(countText)
  const length = `It has ${countText(tokens)} tokens; the trainer’s limit is ${longest}`
  if (cut.overlong === 'cut')
    return {
      kind: 'lost-after-cut',
      severity: 'warning',
      label: `${count} trained ${untrained === 1 ? 'token' : 'tokens'} lost after position ${longest}`,
      message: `${length}: ${count} of its ${all} trained tokens come after the limit and are lost.`,
      count: untrained,
      places: spansAfter(spans, cut.tokens),
      remedy:
        'Raise the context of the trainer, limit the tokens of a rollout, or leave out such samples: their reward is for an end that is not trained.',
    }
  const isMasked = cut.overlong === 'mask'
  return {
    kind: isMasked ? 'masked-by-cut' : 'dropped-by-cut',
    severity: 'warning',
    label: `${isMasked ? 'masked' : 'dropped'} by the trainer’s cut at ${longest}`,
    message: `${length}, and it ${isMasked ? 'masks' : 'drops'} longer samples: none of the ${all} trained tokens is trained.`,
    count: untrained,
    places: [],
    remedy: `Raise the context of the trainer, or limit the tokens of a rollout: the more samples are ${isMasked ? 'masked' : 'dropped'}, the more training favours short ones.`,
  }
}

function spansAfter(spans: readonly number[], from: number): HealthFinding['places'] {
  const places: { start: number; end: number }[] = []
  for (let at = 0; at < spans.length; at += 2) {
    const [start, end] = [Math.max(from, elementAt(spans, at)), elementAt(spans, at + 1)]
    if (start < end) places.push({ start, end })
  }
  return places
}
