import { countText, decimalText, percentText } from '#components/token-view/numbers.ts'
import { Fact, Facts } from '#components/ui/facts.tsx'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import { passAt } from '#lib/trajectory/reward/group-rewards.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { countRangeText } from '../words.ts'

/** Numbers of draws for which the probability of a pass is shown. */
const DRAWS = [1, 4, 16, 64] as const

/** Shows what is known about a group: rewards, pass@k, the shared tokens and the distinct samples. */
export function GroupNumbers({ forest }: { readonly forest: GroupForest }) {
  const { rewards, samples, sharedTokens } = forest
  const lengths = samples.map(({ row }) => row.tokens)
  const models = [...new Set(samples.flatMap(({ row }) => row.model ?? []))]
  const draws = rewards ? DRAWS.filter((k) => k === 1 || k < rewards.scored).slice(0, 3) : []
  return (
    <Facts>
      <Fact name="reward" title="Mean ± sample standard deviation">
        {rewards ? `${decimalText(rewards.mean, 3)} ± ${decimalText(rewards.deviation, 3)}` : 'none'}
      </Fact>
      {rewards &&
        draws.map((k) => (
          <Fact
            key={k}
            name={`pass@${k}`}
            title={`Probability that at least one of ${countWithNoun(k, 'sample')} has a reward of 1 (Chen et al. 2021)`}
          >
            {percentText(passAt(k, rewards) ?? 0)}
          </Fact>
        ))}
      <Fact name="shared prefix" title="Tokens with which all samples begin, of all their tokens">
        {countText(sharedTokens)} of {countRangeText(lengths, '–')} tokens
      </Fact>
      <Fact name="distinct samples">
        {countText(countDistinct(forest))} of {countText(samples.length)}
      </Fact>
      {models.length > 0 && <Fact name="model">{models.join(', ')}</Fact>}
    </Facts>
  )
}

/** Returns the number of samples that differ from all samples before them. */
const countDistinct = ({ samples }: Pick<GroupForest, 'samples'>): number =>
  samples.filter(({ identicalTo, leaf }, index) => leaf !== null && identicalTo.every((other) => other > index)).length
