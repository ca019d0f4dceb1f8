/** This file computes the row of a compared sample. It imports every tool parser, so pages that only show rows do not import it. */

import { missedCalls } from '#lib/parsers/missed-calls.ts'
import { DRIFT_SEVERITIES, type DriftReport, type DriftSpan } from '#lib/trajectory/drift/report.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ComparedSides } from '../compare/compare-sides.ts'
import { type CheckedSample, nameOf, type Sample, type SampleOrigin } from './sample.ts'

/** Returns the row of a compared sample. `recorded` gives its id and title; turns, calls and missed calls are those of the left side. */
export function checkedSample(
  place: SampleOrigin,
  recorded: TrajectoryView,
  { left, right, comparison }: ComparedSides,
): Sample {
  const { report } = comparison
  const [first] = report.spans
  const worst = gravestOf(report.spans)
  return {
    kind: 'checked',
    ...nameOf(recorded),
    place,
    tokens: report.tokens,
    trained: report.trained,
    turns: left.trajectory.segments.filter(({ kind }) => kind === 'response').length,
    ...(report.severity && { severity: report.severity }),
    kinds: kindsOf(report),
    byTurn: byTurnOf(report.spans),
    byTool: byToolOf(left.trajectory, report.spans),
    prefixLost: report.prefix.lost,
    prefixKept: report.prefix.kept,
    rows: report.rows,
    ...(report.sentence !== undefined && { sentence: report.sentence }),
    ...(first && { first: { token: first.left.start, kind: first.kind } }),
    ...(worst !== undefined && { worst }),
    caveats: [...left.caveats, ...right.caveats],
    ...missedIn(left.trajectory),
  }
}

/** Returns the trained tokens of the left side in a span, or those of the right side if the left has none. */
const trainedIn = ({ trained }: DriftSpan): number => trained.left || trained.right

/** Returns the number of the most severe span. Of equally severe spans, the one with the most trained tokens counts, then the first. */
function gravestOf(spans: readonly DriftSpan[]): number | undefined {
  const [first] = spans
    .map((span, index) => ({ index, rank: DRIFT_SEVERITIES.indexOf(span.severity), trained: trainedIn(span) }))
    .sort((a, b) => a.rank - b.rank || b.trained - a.trained || a.index - b.index)
  return first?.index
}

function kindsOf({ spans }: DriftReport): CheckedSample['kinds'] {
  const numbered = spans.map((span, drift) => ({ span, drift }))
  return [...Map.groupBy(numbered, ({ span }) => span.kind)].map(([kind, ofKind]) => {
    const gravest = elementAt(ofKind, gravestOf(ofKind.map(({ span }) => span)) as number)
    const { severity, cause, remedy } = gravest.span
    const content = ofKind.filter(({ span }) => span.layer === 'content').length
    const counted = (wanted: DriftSpan['severity']) => ofKind.filter(({ span }) => span.severity === wanted).length
    return {
      kind,
      spans: { trained: counted('trained'), context: counted('context'), tail: counted('tail') },
      layers: { structural: ofKind.length - content, content },
      trained: ofKind.reduce((sum, { span }) => sum + trainedIn(span), 0),
      gravest: { drift: gravest.drift, severity, trained: trainedIn(gravest.span), cause, remedy },
    }
  })
}

const byTurnOf = (spans: readonly DriftSpan[]): CheckedSample['byTurn'] =>
  [...Map.groupBy(spans, ({ turn }) => turn)].map(([turn, ofTurn]) => ({
    ...(turn !== undefined && { turn }),
    spans: ofTurn.length,
  }))

/** Counts responses whose text has the markup of a tool call, and of which no call was parsed. */
function missedIn(recorded: TrajectoryView): Pick<CheckedSample, 'missedCalls'> {
  const missed = missedCalls(recorded).filter(({ segment }) => {
    const response = recorded.segments[segment]
    return response?.kind === 'response' && response.toolCalls.every(({ kind }) => kind === 'malformed')
  })
  if (missed.length === 0) return {}
  const byReader = Map.groupBy(missed, ({ reader: { kind, name } }) => `${kind} ${name}`)
  return {
    missedCalls: {
      responses: new Set(missed.map(({ segment }) => segment)).size,
      readers: Array.from(byReader.values(), (found) => ({
        ...elementAt(found, 0).reader,
        responses: found.length,
      })),
    },
  }
}

/** Counts calls of the recorded side and drift spans for each tool. A tool that only the right side calls has 0 calls. */
function byToolOf(recorded: TrajectoryView, spans: readonly DriftSpan[]): CheckedSample['byTool'] {
  const calls = Map.groupBy(
    toolCallsOf(recorded).flatMap(({ name }) => (name === undefined ? [] : [name])),
    (name) => name,
  )
  const touched = Map.groupBy(
    spans.flatMap(({ tool }) => (tool === undefined ? [] : [tool])),
    (tool) => tool,
  )
  return [...new Set([...calls.keys(), ...touched.keys()])].map((tool) => ({
    tool,
    calls: calls.get(tool)?.length ?? 0,
    spans: touched.get(tool)?.length ?? 0,
  }))
}
