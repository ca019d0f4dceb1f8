/** Compares two trajectories: which tokens correspond, and the kind of every difference. */
import { ids } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { type AlignedRun, alignTokens } from './align.ts'
import { type ClassifiedDrifts, classify } from './classify/classify.ts'
import { type DriftSide, driftSide, trainedIn } from './classify/drift-side.ts'
import type { DriftKind } from './kinds.ts'
import { type ReplayCosts, startReplay } from './replay.ts'
import { DRIFT_REPORT_VERSION, DRIFT_SEVERITIES, type DriftLayer, type DriftReport } from './report.ts'
import { issueSentence } from './sentence.ts'
import { mapToCommonVocabulary } from './vocabularies.ts'

/** The alignment of two trajectories and its report. */
export interface TrajectoryComparison {
  /**
   * Runs in order; together they cover both sides. Two drifts with different causes may be adjacent; two equal runs
   * never are. The nth drift is the nth span of the report.
   */
  readonly alignedRuns: readonly AlignedRun[]
  readonly report: DriftReport
}

/** The calls of a replayed side, each with the prompt that its pipeline would send. */
export interface ReplayedCalls extends ReplayCosts {
  readonly side: 'left' | 'right'
  readonly by: Exclude<DriftReport['replayed'], 'ids'>
  /** Template line that wrote the first differing token of the first prompt that rewrites; undefined if unknown. */
  readonly line: number | undefined
}

/**
 * Compares two trajectories. No tokenizer is needed, because a trajectory contains the bytes of its ids. Without
 * `replayed` the prompts of the calls are the right side's ids.
 */
export function compareTrajectories(
  left: TrajectoryView,
  right: TrajectoryView,
  replayed?: ReplayedCalls,
): TrajectoryComparison {
  const common = mapToCommonVocabulary(left, right)
  const sideOf = (trajectory: TrajectoryView, numbers: ArrayLike<number>) =>
    driftSide(trajectory, {
      ids: common.sameVocabulary ? numbers : ids(trajectory),
      numbers,
      bytes: common.bytes,
    })
  const [ours, theirs] = [sideOf(left, common.left), sideOf(right, common.right)]
  const { alignedRuns, spans } = classify(alignTokens(common.left, common.right, common.bytes), ours, theirs)
  return { alignedRuns, report: reportOf({ alignedRuns, spans }, common.sameVocabulary, ours, theirs, replayed) }
}

function reportOf(
  { spans }: ClassifiedDrifts,
  sameVocabulary: boolean,
  left: DriftSide,
  right: DriftSide,
  replayed: ReplayedCalls | undefined,
): DriftReport {
  const { prefix, rows, calls } = replayed ?? costsOfIds(left, right)
  const turn = calls.findIndex(({ cached }) => cached && cached.kept < cached.of)
  const line = replayed?.line
  const costs: Pick<DriftReport, 'replayed' | 'prefix' | 'rows' | 'calls' | 'firstRewrite'> = {
    replayed: replayed?.by ?? 'ids',
    prefix,
    rows,
    calls,
    ...(turn >= 0 && { firstRewrite: { turn, ...(line !== undefined && { line }) } }),
  }
  const severity = DRIFT_SEVERITIES.find((each) => spans.some((span) => span.severity === each))
  const byKind: Partial<Record<DriftKind, number>> = {}
  const byLayer: Record<DriftLayer, number> = { structural: 0, content: 0 }
  for (const { kind, layer } of spans) {
    byKind[kind] = (byKind[kind] ?? 0) + 1
    byLayer[layer]++
  }
  const ownTrained = trainedInDrift(spans, left, 'left')
  // A trainer's tokens are those of the side that was not replayed.
  const trained = replayed?.side === 'left' ? trainedInDrift(spans, right, 'right') : ownTrained
  const sentence = issueSentence({ ...costs, trained })
  return {
    version: DRIFT_REPORT_VERSION,
    tokens: { left: left.ids.length, right: right.ids.length },
    spans,
    byKind,
    byLayer,
    ...(severity && { severity }),
    trained: ownTrained,
    ...costs,
    ...(sentence !== undefined && { sentence }),
    sameVocabulary,
  }
}

const trainedInDrift = (
  spans: ClassifiedDrifts['spans'],
  side: DriftSide,
  name: 'left' | 'right',
): DriftReport['trained'] => ({
  touched: spans.reduce((sum, { trained }) => sum + trained[name], 0),
  of: trainedIn(side, { start: 0, end: side.ids.length }),
})

/**
 * For two recorded sides, the right side's ids before each response are the prompts, and the left side's replies
 * follow.
 */
function costsOfIds(left: DriftSide, right: DriftSide): ReplayCosts {
  const replay = startReplay()
  const [ours, theirs] = [left, right].map(({ numbers }) => Int32Array.from(numbers)) as [Int32Array, Int32Array]
  for (const [index, { start }] of right.responses.entries()) {
    const reply = left.responses[index]
    if (reply) replay.add({ prompt: theirs.subarray(0, start), sampled: ours.subarray(reply.start, reply.end) })
  }
  return replay.costs()
}
