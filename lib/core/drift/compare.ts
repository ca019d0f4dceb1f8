/** Two trajectories held against each other: which tokens are which, and what every difference is. */
import { commonIds } from '../common-prefix.ts'
import { ids } from '../tokens.ts'
import type { TrajectoryView } from '../trajectory-view.ts'
import { alignTokens, type Stretch } from './align.ts'
import { type Classified, classify } from './classify/classify.ts'
import { type DriftSide, driftSide, trainedIn } from './classify/drift-side.ts'
import { prefixCache, trainingRows } from './history.ts'
import { DRIFT_REPORT_VERSION, DRIFT_SEVERITIES, type DriftKind, type DriftReport } from './report.ts'
import { inCommonIds } from './vocabularies.ts'

export interface Comparison {
  /**
   * In order; together they are both sides. Two drifts may stand side by side, of different causes; two equal ones never do.
   * The nth drift is the nth span of the report.
   */
  readonly stretches: readonly Stretch[]
  readonly report: DriftReport
}

/** Neither side needs a tokenizer: a trajectory brings the bytes of its ids. */
export function compareTrajectories(left: TrajectoryView, right: TrajectoryView): Comparison {
  const common = inCommonIds(left, right)
  const sideOf = (trajectory: TrajectoryView, numbers: ArrayLike<number>) =>
    driftSide(trajectory, {
      ids: common.sameVocabulary ? numbers : ids(trajectory),
      numbers,
      bytes: common.bytes,
    })
  const [ours, theirs] = [sideOf(left, common.left), sideOf(right, common.right)]
  const { stretches, spans } = classify(alignTokens(common.left, common.right, common.bytes), ours, theirs)
  return { stretches, report: reportOf({ stretches, spans }, common.sameVocabulary, ours, theirs) }
}

function reportOf(
  { stretches, spans }: Classified,
  sameVocabulary: boolean,
  left: DriftSide,
  right: DriftSide,
): DriftReport {
  const histories = {
    stretches,
    shared: commonIds(left.numbers, right.numbers),
    responses: left.responses,
    others: right.responses,
  }
  const severity = DRIFT_SEVERITIES.find((each) => spans.some((span) => span.severity === each))
  const byKind: Partial<Record<DriftKind, number>> = {}
  for (const { kind } of spans) byKind[kind] = (byKind[kind] ?? 0) + 1
  return {
    version: DRIFT_REPORT_VERSION,
    tokens: { left: left.ids.length, right: right.ids.length },
    spans,
    byKind,
    ...(severity && { severity }),
    trained: {
      touched: spans.reduce((sum, { trained }) => sum + trained.left, 0),
      of: trainedIn(left, { start: 0, end: left.ids.length }),
    },
    prefix: prefixCache(histories),
    rows: trainingRows(histories),
    sameVocabulary,
  }
}
