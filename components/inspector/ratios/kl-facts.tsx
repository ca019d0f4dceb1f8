import { decimalText } from '#components/token-view/numbers.ts'
import type { KlEstimates } from '#lib/analysis/ratios/totals.ts'
import { Fact } from '../../ui/facts.tsx'

interface KlFactsProps {
  readonly estimates: KlEstimates
  /** What the ratio r divides, as in `p_trainer / p_rollout`. */
  readonly ratio: string
}

const ESTIMATORS = [
  ['k1', 'Mean of −ln r: unbiased, may be negative.'],
  ['k2', 'Mean of (ln r)² / 2: biased, less spread.'],
  ['k3', 'Mean of r − 1 − ln r: unbiased, never negative.'],
] as const

/** The three estimators of the KL divergence, with their definitions as tooltips. */
export function KlFacts({ estimates, ratio }: KlFactsProps) {
  return ESTIMATORS.map(([name, meaning]) => (
    <Fact key={name} name={`KL ${name}`} title={`${meaning} r = ${ratio}`}>
      {decimalText(estimates[name], 4)}
    </Fact>
  ))
}
