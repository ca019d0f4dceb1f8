/** What a drift costs beyond itself: the prefix cache of a server, and training rows. The schema says what is counted. */
import { countWhile } from '../bisect.ts'
import type { Span } from '../trajectory.ts'
import type { Stretch } from './align.ts'
import { firstTouched } from './classify/drift-side.ts'
import type { DriftReport } from './report.ts'

/** Which parts of the sides responses are. */
export interface Histories {
  readonly stretches: readonly Stretch[]
  /** Tokens that both begin with: the first drift may be shown some tokens before the first that differs (align/edges.ts). */
  readonly shared: number
  /** Responses of the left side, in order. */
  readonly responses: readonly Span[]
  /** Responses of the right side. */
  readonly others: readonly Span[]
}

export function prefixCache({ shared, responses }: Histories): DriftReport['prefix'] {
  let [kept, lost] = [0, 0]
  for (const { end } of responses.slice(0, -1)) {
    const served = Math.min(end, shared)
    kept += served
    lost += end - served
  }
  return { kept, lost }
}

export function trainingRows(histories: Histories): DriftReport['rows'] {
  let [count, extra] = [1, 0]
  for (const response of histories.responses.slice(0, -1)) {
    const history = historyIfRetold(response, histories)
    if (history === undefined) continue
    count++
    extra += history + response.end - response.start
  }
  return { count, extra }
}

/** Tokens of the right side before a response that it tells with other tokens; undefined: it tells the same. */
function historyIfRetold({ start, end }: Span, { stretches, others }: Histories): number | undefined {
  const first = countWhile(stretches.length, (index) => (stretches[index] as Stretch).left.end <= start)
  // What the right has before the first token is the response's own where it stands in a response there.
  const before = stretches[first - 1]
  if (before && before.left.start === start && firstTouched(others, before.right)) return before.right.start
  let index = first
  let stretch = stretches[index]
  while (stretch?.kind === 'equal' && stretch.left.end < end) stretch = stretches[++index]
  if (!stretch || stretch.kind === 'equal' || stretch.left.start >= end) return undefined
  const holding = stretches[first] as Stretch
  return holding.right.start + (holding.kind === 'equal' ? start - holding.left.start : 0)
}
