/** What a trainer with a limited context does to a trajectory: cut it off, mask it or drop it. */
import * as z from 'zod'
import { elementAt } from '#lib/util/element-at.ts'
import type { Plain } from '#lib/util/plain.ts'
import { isTrained } from '../tokens/tokens.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'
import type { HealthFinding } from './health.ts'

/** What happens to samples that are longer than the context. */
export const OVERLONG = ['cut', 'mask', 'drop'] as const

export const trainerCutSchema = z.object({
  tokens: z.int().min(1).max(100_000_000).describe('The longest sequence that the trainer takes, in tokens.'),
  overlong: z
    .enum(OVERLONG)
    .describe(
      'What it does to longer samples. cut: it takes their first tokens. mask: none of their tokens is trained. drop: it leaves them out.',
    ),
})
export type TrainerCut = Plain<z.infer<typeof trainerCutSchema>>

/** Where trained tokens stand, counted from the first of the trajectory: flat [start, end), sorted. */
export function trainedSpans(segments: readonly SegmentView[]): readonly number[] {
  const spans: number[] = []
  let start = 0
  for (const segment of segments) {
    for (let offset = 0; offset < segment.ids.length; offset++) {
      if (!isTrained(segment, offset)) continue
      const token = start + offset
      if (spans.at(-1) === token) spans[spans.length - 1] = token + 1
      else spans.push(token, token + 1)
    }
    start += segment.ids.length
  }
  return spans
}

/** Trained tokens from a place on. `spans` as trainedSpans gives them. */
export function trainedFrom(spans: readonly number[], from: number): number {
  let count = 0
  for (let at = 0; at < spans.length; at += 2)
    count += Math.max(0, elementAt(spans, at + 1) - Math.max(from, elementAt(spans, at)))
  return count
}

/** How many trained tokens the trainer does not train. `tokens`: of the trajectory. */
export function lostToCut(spans: readonly number[], tokens: number, cut: TrainerCut): number {
  return tokens <= cut.tokens ? 0 : trainedFrom(spans, cut.overlong === 'cut' ? cut.tokens : 0)
}

/** Undefined: the trainer trains all of it. `spans` as trainedSpans gives them, `tokens` of the trajectory. */
export function cutFinding(spans: readonly number[], tokens: number, cut: TrainerCut): HealthFinding | undefined {
  const lost = lostToCut(spans, tokens, cut)
  if (lost === 0) return undefined
  const [all, longest, count] = [trainedFrom(spans, 0), cut.tokens, lost].map((number) => number.toLocaleString('en'))
  const length = `It has ${tokens.toLocaleString('en')} tokens; the trainer takes ${longest}`
  if (cut.overlong === 'cut')
    return {
      kind: 'lost-after-cut',
      severity: 'warning',
      label: `${count} trained ${lost === 1 ? 'token' : 'tokens'} lost after position ${longest}`,
      message: `${length}: ${count} of its ${all} trained tokens come after them and are lost.`,
      count: lost,
      places: lostPlaces(spans, cut.tokens),
      remedy:
        'Raise the context of the trainer, limit the tokens of a rollout, or leave such samples out: the reward is for an end that is not trained.',
    }
  const isMasked = cut.overlong === 'mask'
  return {
    kind: isMasked ? 'masked-by-cut' : 'dropped-by-cut',
    severity: 'warning',
    label: `${isMasked ? 'masked' : 'dropped'} by the trainer’s cut at ${longest}`,
    message: `${length} and ${isMasked ? 'masks' : 'drops'} what is longer: none of its ${all} trained tokens is trained.`,
    count: lost,
    places: [],
    remedy: `Raise the context of the trainer, or limit the tokens of a rollout: the more samples are ${isMasked ? 'masked' : 'dropped'}, the more training favours short ones.`,
  }
}

function lostPlaces(spans: readonly number[], from: number): HealthFinding['places'] {
  const places: { start: number; end: number }[] = []
  for (let at = 0; at < spans.length; at += 2) {
    const [start, end] = [Math.max(from, elementAt(spans, at)), elementAt(spans, at + 1)]
    if (start < end) places.push({ start, end })
  }
  return places
}
