/** Runs all checks of a trajectory except drift, which drift.ts reports. */

import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type Health, sortBySeverity } from '#lib/trajectory/health/health.ts'
import { trainedSpans } from '#lib/trajectory/health/trained-spans.ts'
import { cutFinding, type TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { checkAlignment } from './alignment.ts'
import { checkCalls } from './calls.ts'
import type { HealthCheck } from './check.ts'
import { checkEndings } from './endings.ts'
import { checkImages } from './images.ts'
import { checkLogprobs } from './logprobs.ts'
import { checkMasks } from './masks.ts'
import { checkProblems } from './problems.ts'
import { checkRecordedTexts } from './recorded-texts.ts'
import { checkVocabulary } from './vocabulary.ts'
import { checkWeights } from './weights.ts'

const CHECKS: Readonly<Record<string, HealthCheck>> = {
  'loss mask': checkMasks,
  'token-in/token-out': checkAlignment,
  'recorded problems': checkProblems,
  endings: checkEndings,
  'tool calls': checkCalls,
  'weight versions': checkWeights,
  logprobs: checkLogprobs,
  'token ids': checkVocabulary,
  'texts of the file': checkRecordedTexts,
  images: checkImages,
}

const checkCut =
  (cut: TrainerCut): HealthCheck =>
  ({ segments }, starts) => {
    const finding = cutFinding(trainedSpans(segments), starts.at(-1) as number, cut)
    return { findings: finding ? [finding] : [] }
  }

/**
 * Returns the findings of all checks, and which checks were not possible. Yields its progress before each check. `cut` is what the
 * trainer takes of a sample; null means all of it, or unknown.
 */
export function* health(
  trajectory: Trajectory,
  cut: TrainerCut | null = null,
): Generator<{ readonly done: number; readonly of: number }, Health> {
  const starts = segmentStarts(trajectory)
  const checks = Object.entries({ ...CHECKS, ...(cut && { 'trainer’s cut': checkCut(cut) }) })
  const results: { readonly name: string; readonly checked: ReturnType<HealthCheck> }[] = []
  for (const [name, check] of checks) {
    yield { done: results.length, of: checks.length }
    results.push({ name, checked: check(trajectory, starts) })
  }
  return {
    findings: sortBySeverity(results.flatMap(({ checked }) => checked.findings)),
    checks: results.map(({ name, checked: { unknown } }) => ({ name, ...(unknown !== undefined && { unknown }) })),
  }
}
