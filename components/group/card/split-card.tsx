/** What the samples did at a split: the mean reward of each branch, and how likely its first token was. */
import { countText, percentText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import type { GroupBranch, GroupForest, GroupSplit } from '#lib/api/forest/group-forest.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { advantageColour } from '../colour.ts'
import { estimateInterval, firstTokenText, meanText } from '../words.ts'

interface SplitCardProps {
  readonly forest: GroupForest
  readonly split: GroupSplit
  readonly farthest: number
  /** Shows the path of a sample in the tree. */
  readonly onSample: (sample: number) => void
}

const WIDTH = 190
const ROW = 22
const INSET = 4
/** Most branches and most numbers of samples that are listed; the others are counted. */
const MOST_BRANCHES = 12
const MOST_NUMBERS = 10

/** Shows the branches of a split with their mean rewards, intervals, probabilities and samples. */
export function SplitCard({ forest, split, farthest, onSample }: SplitCardProps) {
  const branches = split.branches.slice(0, MOST_BRANCHES)
  const rest = split.branches.length - branches.length
  const scored = branches.filter(({ reward }) => reward)
  return (
    <section aria-label="Branches at this token" className="mt-5">
      {forest.rewards && scored.length > 0 && (
        <>
          <Heading>Mean reward by branch</Heading>
          <RewardRows forest={forest} branches={scored} range={forest.rewards.range} farthest={farthest} />
          <p className="mt-1 text-faint text-xs">{overlapText(scored)}</p>
        </>
      )}
      <Heading>Samples by first token</Heading>
      <table className="w-full text-xs tabular-nums">
        <caption className="sr-only">First tokens of the branches, and the samples that took them</caption>
        <tbody>
          {branches.map((branch, index) => (
            <tr key={branch.id ?? `end ${index}`}>
              <th scope="row" className="max-w-24 truncate py-0.5 pr-2 text-left font-mono font-normal">
                {firstTokenText(branch)}
              </th>
              <td className="whitespace-nowrap py-0.5 pr-2 text-right">
                {branch.probability === null ? '—' : percentText(Math.min(1, branch.probability))}
              </td>
              <td className="py-0.5 text-right">
                <span className="inline-flex flex-wrap justify-end gap-0.5">
                  {branch.samples.slice(0, MOST_NUMBERS).map((sample) => (
                    <button
                      key={sample}
                      type="button"
                      aria-label={`Sample ${sample + 1}: show it in the tree`}
                      onClick={() => onSample(sample)}
                      className="sample-number hover:underline max-sm:min-h-6! max-sm:min-w-6!"
                      style={{
                        background: advantageColour(elementAt(forest.samples, sample).tokenAdvantage, farthest),
                      }}
                    >
                      {sample + 1}
                    </button>
                  ))}
                  {branch.samples.length > MOST_NUMBERS && (
                    <span className="text-dim">+{countText(branch.samples.length - MOST_NUMBERS)}</span>
                  )}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && <p className="mt-1 text-faint text-xs">{countWithNoun(rest, 'more branch', 'more branches')}</p>}
    </section>
  )
}

interface RewardRowsProps {
  readonly forest: GroupForest
  readonly branches: readonly GroupBranch[]
  readonly range: { readonly low: number; readonly high: number }
  readonly farthest: number
}

/** Draws the interval and the mean of each branch, and a tick for the reward of each of its samples. */
function RewardRows({ forest, branches, range: { low, high }, farthest }: RewardRowsProps) {
  const x = (value: number) => INSET + (high > low ? (value - low) / (high - low) : 0.5) * (WIDTH - 2 * INSET)
  return (
    <>
      <ul className="grid gap-0">
        {branches.map((branch, index) => {
          const { reward } = branch
          if (!reward) return null
          const rewards = branch.samples.flatMap((sample) => elementAt(forest.samples, sample).row.reward ?? [])
          return (
            <li key={branch.id ?? `end ${index}`} className="grid grid-cols-[4.5rem_minmax(0,1fr)] items-center">
              <span className="truncate font-mono text-xs">{firstTokenText(branch)}</span>
              <svg
                viewBox={`0 0 ${WIDTH} ${ROW}`}
                className="block w-full"
                role="img"
                aria-label={`${firstTokenText(branch)}: mean reward ${meanText(reward.mean)} ${estimateInterval(reward)}, rewards ${rewards.map(meanText).join(', ')}`}
              >
                <line x1={INSET} x2={WIDTH - INSET} y1={ROW / 2} y2={ROW / 2} stroke="var(--line)" />
                {reward.known > 1 && (
                  <rect
                    x={x(reward.interval.low)}
                    y={ROW / 2 - 4}
                    width={Math.max(1, x(reward.interval.high) - x(reward.interval.low))}
                    height={8}
                    rx={2}
                    fill={advantageColour(branch.advantage, farthest) ?? 'var(--heat-unknown)'}
                  />
                )}
                {[...new Set(rewards)].map((value) => (
                  <line
                    key={value}
                    x1={x(value)}
                    x2={x(value)}
                    y1={ROW / 2 - 6}
                    y2={ROW / 2 + 6}
                    stroke="var(--ink)"
                    opacity={0.55}
                  />
                ))}
                <circle cx={x(reward.mean)} cy={ROW / 2} r={3.5} fill="var(--ink)" stroke="var(--ground)" />
              </svg>
            </li>
          )
        })}
      </ul>
      <p className="ml-[4.5rem] flex justify-between text-faint text-xs tabular-nums" aria-hidden>
        <span>{meanText(low)}</span>
        <span>95 % interval</span>
        <span>{meanText(high)}</span>
      </p>
    </>
  )
}

/** Returns what the intervals of two branches say; '' if fewer than two have one. */
function overlapText(branches: readonly Pick<GroupBranch, 'reward'>[]): string {
  const known = branches.flatMap(({ reward }) => (reward && reward.known > 1 ? [reward] : []))
  if (known.length < 2) return 'A branch needs two samples with a reward for an interval. Resample here to add some.'
  const sorted = known.toSorted((a, b) => b.mean - a.mean)
  const [high, low] = [sorted[0], sorted.at(-1)]
  if (!high || !low) return ''
  const fewest = Math.min(...known.map(({ known }) => known))
  const overlap = high.interval.low <= low.interval.high
  return `The intervals ${overlap ? 'overlap' : 'of the highest and the lowest mean do not overlap'}. ${
    overlap || fewest < 8 ? 'Resample here to narrow them.' : ''
  }`.trim()
}
