/** Finds logprobs that are not logprobs: pipelines write 0 for unknown values, and some write other numbers into the column. */
import type { HealthFinding } from '#lib/trajectory/health/health.ts'
import { isImpossible, isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { HealthCheck } from './check.ts'

/** Fewer zeros than this are not reported: the tokens may be certain. */
const FEWEST = 4

/** Reports logprobs above 0, and columns of which all known values are 0. */
export const checkLogprobs: HealthCheck = ({ segments }, starts) => {
  const impossible: { readonly token: number; readonly logprob: number }[] = []
  const seen = { trained: { known: 0, zero: 0 }, context: { known: 0, zero: 0 } }
  for (const [at, segment] of segments.entries())
    for (let index = 0; index < segment.ids.length; index++) {
      const logprob = numberAt(segment.logprobs, index)
      if (logprob === null) continue
      if (isImpossible(logprob)) impossible.push({ token: elementAt(starts, at) + index, logprob })
      const tally = isTrained(segment, index) ? seen.trained : seen.context
      tally.known++
      if (logprob === 0) tally.zero++
    }
  const isPlaceholder = ({ known, zero }: typeof seen.trained) => zero >= FEWEST && zero === known
  const { trained, context } = seen
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
  if (isPlaceholder(trained))
    findings.push({
      kind: 'placeholder',
      severity: 'error',
      label: 'logprobs are all 0',
      message: `All ${countWithNoun(trained.known, 'known logprob')} of trained tokens are 0: they are placeholders, not measurements.`,
      count: trained.zero,
      places: [],
      remedy:
        'Request logprobs (return_logprob) from the server when tokens are sampled. If they were requested, the server may lose them with speculative decoding: sample without it.',
    })
  if (isPlaceholder(context))
    findings.push({
      kind: 'placeholder',
      severity: 'note',
      label: 'context logprobs are placeholders',
      message: `All ${countWithNoun(context.known, 'known logprob')} of context tokens are 0: they are placeholders, and are excluded from colour scales.`,
      count: context.zero,
      places: [],
    })
  return {
    findings,
    ...(trained.known === 0 && segments.length > 0 && { unknown: 'no trained token has a logprob' }),
  }
}
