/** Finds the first place where the ratios of a trajectory leave their level, and names the likely cause. */
import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import { versionSpans } from '#lib/trajectory/tokens/weight-versions.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, float64At, int32At } from '#lib/util/element-at.ts'
import { type Cause, type Evidence, likelyCause } from './causes.ts'
import { firstRise } from './rise.ts'
import { type RatioThresholds, tokenFate } from './thresholds.ts'

/** The main finding of a comparison. */
export type Jump =
  /** From a token on, the mean |log ratio| is larger. */
  | {
      readonly kind: 'level'
      readonly token: number
      readonly before: number
      readonly after: number
      readonly cause: Cause
    }
  /** The first token outside of the thresholds; the level does not change. */
  | { readonly kind: 'token'; readonly token: number; readonly logRatio: number; readonly cause: Cause }

/** Ratios of the trained tokens that have one, in the order of the tokens. */
export interface TrainedRatios {
  readonly tokens: Int32Array
  readonly logRatios: Float64Array
}

/** Distance in trained tokens within which a recorded event explains a rise: the estimate of its place varies by some tokens. */
const NEAR = 12

/** Returns where the level of |log ratio| first rises; undefined if it does not. */
export function firstLevelJump(
  ratios: TrainedRatios,
  evidence: Evidence,
): Extract<Jump, { kind: 'level' }> | undefined {
  const rise = firstRise(ratios.logRatios.map(Math.abs))
  if (!rise) return undefined
  const { before, after } = rise
  const events = [...versionChanges(evidence), ...driftSpans(evidence), ...settingChanges(evidence)]
  const near = events
    .map((event) => ({
      ...event,
      index: countWhile(ratios.tokens.length, (at) => int32At(ratios.tokens, at) < event.token),
    }))
    .filter(({ index }) => index < ratios.tokens.length && Math.abs(index - rise.index) <= NEAR)
    .sort((a, b) => Math.abs(a.index - rise.index) - Math.abs(b.index - rise.index))
  const [event] = near
  return {
    kind: 'level',
    token: int32At(ratios.tokens, event?.index ?? rise.index),
    before,
    after,
    cause: event?.cause ?? { name: 'none', detail: 'nothing is recorded there' },
  }
}

/** Returns the first token that a correction would cap or leave out; undefined if there is none. */
export function firstOutlier(
  { tokens, logRatios }: TrainedRatios,
  thresholds: RatioThresholds,
  evidence: Evidence,
): Extract<Jump, { kind: 'token' }> | undefined {
  const index = logRatios.findIndex((logRatio) => tokenFate(logRatio, thresholds) !== undefined)
  if (index < 0) return undefined
  const token = int32At(tokens, index)
  return { kind: 'token', token, logRatio: float64At(logRatios, index), cause: likelyCause(evidence, token) }
}

/** Something recorded at a token that may raise the level from there. */
interface RecordedEvent {
  readonly token: number
  readonly cause: Cause
}

function versionChanges({ trajectory }: Evidence): readonly RecordedEvent[] {
  const starts = segmentStarts(trajectory)
  const spans = segmentsOf(trajectory).flatMap((segment, index) =>
    versionSpans(segment, trajectory).map(({ version, start }) => ({
      version,
      token: elementAt(starts, index) + start,
    })),
  )
  return spans.flatMap(({ version, token }, index) => {
    const before = spans[index - 1]?.version
    if (before === undefined || before === version) return []
    return [{ token, cause: { name: 'version', detail: `${before} → ${version}` } }]
  })
}

function driftSpans({ drift }: Evidence): readonly RecordedEvent[] {
  return Array.from({ length: (drift?.length ?? 0) >> 1 }, (_, span) => ({
    token: drift?.[2 * span + 1] ?? 0,
    cause: { name: 'drift', detail: 'retokenization changes ids before it' },
  }))
}

/** Returns the calls that sampled at another temperature than the one before. */
function settingChanges({ trajectory }: Evidence): readonly RecordedEvent[] {
  const starts = segmentStarts(trajectory)
  const events: RecordedEvent[] = []
  let last: unknown
  for (const [index, segment] of segmentsOf(trajectory).entries()) {
    for (const { request, start } of segment.kind === 'response' ? responseCalls(segment) : []) {
      if (!request) continue
      const temperature = request.samplingParams.temperature ?? 1
      if (last !== undefined && temperature !== last)
        events.push({
          token: elementAt(starts, index) + start,
          cause: { name: 'temperature', detail: `T ${String(last)} → ${String(temperature)}` },
        })
      last = temperature
    }
  }
  return events
}
