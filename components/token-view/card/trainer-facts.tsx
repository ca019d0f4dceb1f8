import { Fact } from '#components/ui/facts.tsx'
import { comparedLogprobs, type RatioColumns, ratioComparison } from '#lib/trajectory/scoring/log-ratios.ts'
import { logprobTitle, logprobWords, OWN_LOGPROBS, roleColumn } from '#lib/trajectory/tokens/column-roles.ts'
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
  if (!compared) return null
  const { comparison, columns } = compared
  const ratio = quantityNamed('ratio', trajectory).reader(segment, trajectory)(indexInSegment)
  const logprobs = comparedLogprobs(trajectory, segment, indexInSegment)
  const version = numberAt(roleColumn(segment, trajectory, 'trainerVersion'), indexInSegment)
  const sides = columns.kind === 'given' ? [] : ([columns.numerator, columns.denominator] as const)
  return (
    <>
      <Fact name="importance ratio" title={ratioTitle(trajectory, columns)}>
        {Number.isNaN(ratio) ? 'unknown' : decimalText(ratio, 3)}
        {comparison?.kind === 'assumed' && <span className="text-warn"> kinds unknown</span>}
      </Fact>
      {sides.map((column) => {
        const logprob = numberAt(segment.columns?.[column], indexInSegment)
        // The sampled logprob is a fact of every token.
        if (column === OWN_LOGPROBS || logprob === null) return null
        return (
          <Fact key={column} name={`${logprobTitle(trajectory, column)} logprob`}>
            {decimalText(logprob, 4)}
          </Fact>
        )
      })}
      {logprobs && comparison?.kind === 'converted' && !Number.isNaN(logprobs.numerator) && (
        <Fact name={`${logprobTitle(trajectory, sides[0] ?? OWN_LOGPROBS)} at ${comparison.as}`}>
          {decimalText(logprobs.numerator, 4)}
        </Fact>
      )}
      {version !== null && <Fact name="trainer’s weights">{version}</Fact>}
    </>
  )
}

const ratioTitle = (trajectory: TrajectoryView, columns: RatioColumns): string =>
  columns.kind === 'given'
    ? 'As a column of the file has it'
    : `Probability by ${logprobWords(trajectory, columns.numerator)}, divided by the one by ${logprobWords(trajectory, columns.denominator)}`
