/** Reports the problems that were recorded with the trajectory: numbers, texts and counts that did not agree. */

import type { Problem, Span } from '#lib/trajectory/format/trajectory.ts'
import type { HealthFinding, Severity } from '#lib/trajectory/health/health.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { HealthCheck } from './check.ts'

const WORDS: Readonly<Record<string, readonly [severity: Severity, one: string, several: string]>> = {
  number: ['note', 'number that JSON cannot represent', 'numbers that JSON cannot represent'],
  text: ['warning', 'text other than its tokens', 'texts other than their tokens'],
  count: ['warning', 'count that differs', 'counts that differ'],
  template: ['warning', 'assumption that the template breaks', 'assumptions that the template breaks'],
  mask: ['warning', 'mask that differs from its segment', 'masks that differ from their segments'],
  file: ['note', 'value read differently than written', 'values read differently than written'],
  router: ['warning', 'parameter lost in a router', 'parameters lost in a router'],
  model: ['warning', 'change of the model', 'changes of the model'],
  prompt: ['note', 'prompt other than the template’s', 'prompts other than the template’s'],
  given: ['note', 'note on the given prompt', 'notes on the given prompt'],
  alternative: ['warning', 'alternative beyond the vocabulary', 'alternatives beyond the vocabulary'],
  missing: ['warning', 'value that the server left out', 'values that the server left out'],
}

/** Reports recorded problems, one finding for each kind. An unknown kind is a warning under its own name. */
export const checkProblems: HealthCheck = ({ problems = [], segments }, starts) => {
  const all = [
    ...problems.map((problem) => ({ problem, place: undefined })),
    ...segments.flatMap((segment, index) =>
      (segment.problems ?? []).map((problem) => ({
        problem,
        place: placeOf(problem, elementAt(starts, index), segment.ids.length),
      })),
    ),
  ]
  const kinds = Map.groupBy(all, ({ problem }) => problem.kind)
  return {
    findings: Array.from(kinds, ([kind, found]): HealthFinding => {
      const [severity, one, several] = (Object.hasOwn(WORDS, kind) && WORDS[kind]) || [
        'warning',
        `problem: ${kind}`,
        `problems: ${kind}`,
      ]
      const messages = [...new Set(found.map(({ problem }) => problem.message))]
      return {
        kind: 'problem',
        severity,
        label: countWithNoun(found.length, one, several),
        message: messages.length > 1 ? `${messages[0]} And ${messages.length - 1} more.` : elementAt(messages, 0),
        count: found.length,
        places: found.flatMap(({ place }) => (place ? [place] : [])),
      }
    }),
  }
}

/** Returns the token of a problem, or its whole segment; undefined if the segment has no tokens. */
function placeOf({ index }: Problem, start: number, length: number): Span | undefined {
  if (index !== undefined && index < length) return { start: start + index, end: start + index + 1 }
  return length === 0 ? undefined : { start, end: start + length }
}
