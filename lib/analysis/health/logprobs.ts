/** Finds logprobs that are not logprobs: pipelines write 0 for unknown values, and some write other numbers into the column. */
import type { Segment, TopLogprobs } from '#lib/trajectory/format/trajectory.ts'
import type { HealthFinding } from '#lib/trajectory/health/health.ts'
import { isImpossible } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { arePlaceholders, countLogprobs } from '../repairs/placeholders.ts'
import { CONTEXT_ZEROS, offerRepair, TRAINED_ZEROS } from '../repairs/repairs.ts'
import type { HealthCheck } from './check.ts'

/** Reports logprobs above 0, columns of which all known values are 0, and alternatives that a position has twice. */
export const checkLogprobs: HealthCheck = (trajectory, starts) => {
  const { segments } = trajectory
  const impossible: { readonly token: number; readonly logprob: number }[] = []
  for (const [at, segment] of segments.entries())
    for (let index = 0; index < segment.ids.length; index++) {
      const logprob = numberAt(segment.logprobs, index)
      if (logprob !== null && isImpossible(logprob)) impossible.push({ token: elementAt(starts, at) + index, logprob })
    }
  const { trained, context } = countLogprobs(trajectory)
  const findings: HealthFinding[] = []
  const [first] = impossible
  if (first)
    findings.push({
      kind: 'impossible-logprob',
      severity: 'error',
      label: `${countWithNoun(impossible.length, 'logprob')} above 0`,
      message: `The logprob of token ${first.token} is ${first.logprob}, which is above 0: the column contains other numbers, or the numbers of other tokens.`,
      count: impossible.length,
      places: impossible.map(({ token }) => ({ start: token, end: token + 1 })),
      remedy:
        'Do not train on it. Check the program that wrote the column: it must contain the natural logarithm of a probability.',
    })
  if (arePlaceholders(trained))
    findings.push({
      kind: 'placeholder',
      severity: 'error',
      label: 'logprobs are all 0',
      message: `All ${countWithNoun(trained.known, 'known logprob')} of trained tokens are 0: they are placeholders, not measurements.`,
      count: trained.zero,
      places: [],
      remedy:
        'Request logprobs (return_logprob) from the server when tokens are sampled. If they were requested, the server may lose them with speculative decoding: sample without it.',
      ...offerRepair(TRAINED_ZEROS, trajectory),
    })
  if (arePlaceholders(context))
    findings.push({
      kind: 'placeholder',
      severity: 'note',
      label: 'context logprobs are placeholders',
      message: `All ${countWithNoun(context.known, 'known logprob')} of context tokens are 0: they are placeholders, and are excluded from colour scales.`,
      count: context.zero,
      places: [],
      ...offerRepair(CONTEXT_ZEROS, trajectory),
    })
  findings.push(...repeatedAlternatives(segments, starts))
  return {
    findings,
    ...(trained.known === 0 && segments.length > 0 && { unknown: 'no trained token has a logprob' }),
  }
}

function repeatedAlternatives(segments: readonly Segment[], starts: readonly number[]): readonly HealthFinding[] {
  const repeated = segments.flatMap(({ topLogprobs }, at) =>
    topLogprobs
      ? repetitionsIn(topLogprobs).map(({ index, id }) => ({ token: elementAt(starts, at) + index, id }))
      : [],
  )
  const [first] = repeated
  if (!first) return []
  return [
    {
      kind: 'problem',
      severity: 'warning',
      label: `${countWithNoun(repeated.length, 'position')} with the same alternative twice`,
      message: `The alternatives of token ${first.token} include the id ${first.id} more than once, so entropies and margins are wrong there.`,
      count: repeated.length,
      places: repeated.map(({ token }) => ({ start: token, end: token + 1 })),
    },
  ]
}

/** Returns the tokens of a segment of which two alternatives have the same id. Comparing pairs is ten times as fast as a set for five. */
function repetitionsIn({ k, ids }: TopLogprobs): readonly { readonly index: number; readonly id: number }[] {
  const found: { readonly index: number; readonly id: number }[] = []
  for (let cell = 0; cell < ids.length; cell++) {
    const id = elementAt(ids, cell)
    const index = Math.floor(cell / k)
    if (id < 0 || found.at(-1)?.index === index) continue
    for (let other = index * k; other < cell; other++) if (ids[other] === id) found.push({ index, id })
  }
  return found
}
