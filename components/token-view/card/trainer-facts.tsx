import { Fact } from '#components/ui/facts.tsx'
import { comparedLogprobs, ratioComparison } from '#lib/trajectory/scoring/log-ratios.ts'
import { columnRoles, roleColumn } from '#lib/trajectory/tokens/column-roles.ts'
import { quantityNamed } from '#lib/trajectory/tokens/quantities.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { decimalText } from '../numbers.ts'

interface TrainerFactsProps {
  readonly trajectory: TrajectoryView
  readonly token: Token
}

/** Shows the importance ratio of a token and the logprobs that it is computed from; nothing if there is no trainer. */
export function TrainerFacts({ trajectory, token: { segment, indexInSegment } }: TrainerFactsProps) {
  const compared = ratioComparison(trajectory)
  const { trainer, trainerVersion } = columnRoles(trajectory)
  if (!compared) return null
  const ratio = quantityNamed('ratio', trajectory).reader(segment, trajectory)(indexInSegment)
  const logprob = trainer === undefined ? null : numberAt(segment.columns?.[trainer], indexInSegment)
  const logprobs = comparedLogprobs(trajectory, segment, indexInSegment)
  const version =
    trainerVersion === undefined ? null : numberAt(roleColumn(segment, trajectory, 'trainerVersion'), indexInSegment)
  const { comparison } = compared
  return (
    <>
      <Fact name="importance ratio" title="Probability under the trainer, divided by the probability when sampled">
        {Number.isNaN(ratio) ? 'unknown' : decimalText(ratio, 3)}
        {comparison?.kind === 'assumed' && <span className="text-warn"> kinds unknown</span>}
      </Fact>
      {logprob !== null && <Fact name="trainer logprob">{decimalText(logprob, 4)}</Fact>}
      {logprobs && comparison?.kind === 'converted' && !Number.isNaN(logprobs.numerator) && (
        <Fact name={`trainer at ${comparison.as}`}>{decimalText(logprobs.numerator, 4)}</Fact>
      )}
      {version !== null && <Fact name="trainer’s weights">{version}</Fact>}
    </>
  )
}
