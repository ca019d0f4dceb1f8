'use client'
import { useState } from 'react'
import { inspectorHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import type { GroupForest, GroupSample } from '#lib/api/forest/group-forest.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { advantageColour } from '../colour.ts'
import { type Chip, signedText } from '../words.ts'

/** A sample as the list shows it. Until the tree is known, only its row is. */
export type SampleListItem = Pick<GroupSample, 'row'> & Partial<Omit<GroupSample, 'row'>>

const SORTS = [
  { value: 'order', text: 'In order' },
  { value: 'reward', text: 'By reward' },
  { value: 'tokens', text: 'By length' },
] as const
type Sort = (typeof SORTS)[number]['value']

interface SampleListProps {
  readonly samples: readonly SampleListItem[]
  /** Ends of the scale of the bars; undefined until they are known. */
  readonly range: NonNullable<GroupForest['rewards']>['range'] | undefined
  readonly farthest: number
  /** Indices of the samples that are not dimmed; undefined: all. */
  readonly chosen: ReadonlySet<number> | undefined
  /** Index of the sample whose token is pinned. */
  readonly current: number | undefined
  /** Shows the path of a sample in the tree. */
  readonly onSample: (sample: number) => void
}

/** Lists the samples with reward, advantage, length and outcome. */
export function SampleList({ samples, range, farthest, chosen, current, onSample }: SampleListProps) {
  const [sort, setSort] = useState<Sort>('order')
  return (
    <section aria-label="Samples">
      <div className="mb-1 flex items-center justify-between [&>h2]:m-0">
        <Heading>Samples</Heading>
        <select
          aria-label="Sort samples"
          className="min-h-6 rounded-md border border-line bg-raised px-1 text-xs hover:border-line-strong"
          value={sort}
          onChange={({ target }) => setSort(target.value as Sort)}
        >
          {SORTS.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <table className="w-full border-separate border-spacing-0 text-xs tabular-nums">
        <thead className="text-dim">
          <tr>
            <th className="text-left font-normal">
              <span className="sr-only">sample</span>
            </th>
            <th className="w-full">
              <span className="sr-only">bar</span>
            </th>
            <th className="pl-2 text-right font-normal">reward</th>
            <th className="pl-2 text-right font-normal">advantage</th>
            <th className="pl-2 text-right font-normal">tokens</th>
          </tr>
        </thead>
        {sorted(samples, sort).map((index) => (
          <SampleRow
            key={elementAt(samples, index).row.key}
            sample={elementAt(samples, index)}
            index={index}
            range={range}
            farthest={farthest}
            isDim={chosen !== undefined && !chosen.has(index)}
            isCurrent={current === index}
            onSample={onSample}
          />
        ))}
      </table>
    </section>
  )
}

function sorted(samples: readonly SampleListItem[], sort: Sort): readonly number[] {
  const order = [...samples.keys()]
  if (sort === 'order') return order
  const value = (index: number) => {
    const { row } = elementAt(samples, index)
    return sort === 'reward' ? (row.reward ?? Number.NEGATIVE_INFINITY) : row.tokens
  }
  return order.sort((a, b) => value(b) - value(a) || a - b)
}

interface SampleRowProps {
  readonly sample: SampleListItem
  readonly index: number
  readonly range: SampleListProps['range']
  readonly farthest: number
  readonly isDim: boolean
  readonly isCurrent: boolean
  readonly onSample: (sample: number) => void
}

function SampleRow({ sample, index, range, farthest, isDim, isCurrent, onSample }: SampleRowProps) {
  const { row, advantage = null, tokenAdvantage = null, finding } = sample
  const share =
    row.reward === null || !range || range.high <= range.low ? 0 : (row.reward - range.low) / (range.high - range.low)
  return (
    <tbody
      data-list-sample={index}
      data-dim={isDim}
      data-current={isCurrent}
      className="group data-[dim=true]:opacity-45"
    >
      <tr className="group-data-[current=true]:bg-accent-soft">
        <td className="pt-1 pr-2">
          <button
            type="button"
            disabled={finding !== undefined && finding !== null}
            aria-current={isCurrent || undefined}
            aria-label={`Sample ${index + 1}: show it in the tree`}
            title="Show it in the tree"
            onClick={() => onSample(index)}
            className="min-h-6 min-w-6 rounded font-semibold text-ink hover:bg-ground hover:text-accent disabled:text-faint"
          >
            {index + 1}
          </button>
        </td>
        <td className="pt-1">
          <span className="block h-1.5 forced-color-adjust-none overflow-hidden rounded-full bg-line" aria-hidden>
            <span
              className="block h-full rounded-full bg-line-strong"
              style={{ width: `${100 * share}%`, background: advantageColour(tokenAdvantage, farthest) }}
            />
          </span>
        </td>
        <td className="pt-1 pl-2 text-right">{rewardText(row.reward)}</td>
        <td className="pt-1 pl-2 text-right">{signedText(advantage)}</td>
        <td className="pt-1 pl-2 text-right">{countText(row.tokens)}</td>
      </tr>
      <tr className="group-data-[current=true]:bg-accent-soft">
        <td className="border-line border-b" />
        <td colSpan={4} className="border-line border-b pb-1">
          <span className="flex flex-wrap items-center gap-x-1.5 gap-y-0.5 text-dim">
            <SampleOutcome sample={sample} index={index} />
          </span>
          {finding && <span className="block text-bad [overflow-wrap:anywhere]">{finding.message}</span>}
        </td>
      </tr>
    </tbody>
  )
}

interface SampleOutcomeProps {
  readonly sample: SampleListItem
  readonly index: number
}

/** Shows the outcome of a sample, its labels, and the link to it. */
export const SampleOutcome = ({ sample, index }: SampleOutcomeProps) => (
  <>
    <span className={sample.row.outcomeKind === 'failed' ? 'text-bad' : ''}>{sample.row.outcome}</span>
    {sampleChips(sample).map(({ text, look }) => (
      <span key={text} data-look={look} className="branch-chip">
        {text}
      </span>
    ))}
    <Link
      href={inspectorHref(sample.row.key)}
      aria-label={`Open sample ${index + 1} in the inspector`}
      className="ml-auto inline-flex min-h-6 items-center text-accent hover:underline"
    >
      open
    </Link>
  </>
)

/** Most samples that a label names; the others are counted. */
const MOST_NAMED = 3

/** Returns the labels of a sample: identical, truncated, or not in the tree. */
function sampleChips({ identicalTo = [], isTruncated = false, finding }: SampleListItem): readonly Chip[] {
  const chips: Chip[] = []
  if (identicalTo.length > 0) {
    const named = identicalTo.slice(0, MOST_NAMED).map((index) => String(index + 1))
    const more = identicalTo.length - named.length
    chips.push({ text: `identical to ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`, look: 'plain' })
  }
  if (isTruncated) chips.push({ text: 'truncated', look: 'warn' })
  if (finding) chips.push({ text: FINDING_TEXTS[finding.code], look: 'bad' })
  return chips
}

const FINDING_TEXTS: Readonly<Record<NonNullable<GroupSample['finding']>['code'], string>> = {
  damaged: 'cannot be read',
  deleted: 'deleted',
  'no-tokens': 'no tokens',
}
