'use client'
/** Charts of a group: where the mean rewards of branches differ along the tokens, and the reward of samples by their length. */
import { type ReactNode, useMemo, useState } from 'react'
import { Plot } from '#components/inspector/charts/plot.tsx'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { Table } from '#components/ui/table.tsx'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import { elementAt } from '#lib/util/element-at.ts'
import {
  isBranchOfSplit,
  type SampleSplit,
  type SampleTree,
  splitBefore,
  splitsOfTree,
  type TreeSpot,
} from '../tree.ts'
import { firstTokenText, meanText } from '../words.ts'

interface GroupChartsProps {
  readonly tree: SampleTree
  readonly pinned: TreeSpot | undefined
  /** Index of the sample whose token is pinned. */
  readonly current: number | undefined
  /** Indices of the samples that the brush selects; undefined: all. */
  readonly chosen: ReadonlySet<number> | undefined
  /** Pins a token, so that its card is shown. */
  readonly onPin: (spot: TreeSpot) => void
  /** Shows a token in the tree. */
  readonly onShow: (spot: TreeSpot) => void
  /** Shows the path of a sample in the tree. */
  readonly onSample: (sample: number) => void
}

/** Shows the charts. */
export function GroupCharts(props: GroupChartsProps) {
  return (
    <div className="grid h-full content-start gap-6 overflow-y-auto px-3.5 py-3">
      <DifferenceChart {...props} />
      <LengthChart {...props} />
    </div>
  )
}

/** Shows the difference in mean reward at each split. */
function DifferenceChart({ tree, pinned, onPin, onShow }: GroupChartsProps) {
  const splits = useMemo(() => comparedSplits(tree), [tree])
  const points = useMemo(
    () => ({
      x: Float64Array.from(splits, ({ position }) => position),
      y: Float64Array.from(splits, ({ difference }) => difference),
    }),
    [splits],
  )
  const { decisive, splits: answered } = tree.forest
  const decisiveAt = useMemo(
    () =>
      decisive?.isSignificant
        ? splits.findIndex(({ branch }) => splitBefore(tree, branch) === answered[decisive.split])
        : -1,
    [splits, tree, decisive, answered],
  )
  const highlights = useMemo(
    () => [
      { indices: splits.map((_, index) => index), colour: '--ink' },
      { indices: decisiveAt < 0 ? [] : [decisiveAt], colour: '--accent' },
    ],
    [splits, decisiveAt],
  )
  const chosen = splits.findIndex(({ branches }) => branches.some(({ index }) => index === pinned?.branch))
  const spotOf = (index: number): TreeSpot => {
    const { branch } = elementAt(splits, index)
    return { branch: branch.index, token: branch.start }
  }
  if (splits.length === 0)
    return (
      <section aria-label="Difference in mean reward">
        <Heading>Difference in mean reward</Heading>
        <p className="text-dim text-xs">
          No split has two branches with at least two rewards each, so no means can be compared.
        </p>
      </section>
    )
  return (
    <ChartSection
      title="Difference in mean reward"
      hint="A point is a split. Click it to pin its token; double-click to show it in the tree."
      textOf={(index) => splitText(tree, elementAt(splits, index))}
      chosen={chosen < 0 ? undefined : chosen}
      plot={(events) => (
        <Plot
          label={`Difference in mean reward at ${countText(splits.length)} splits. The table below has the numbers.`}
          x={{ label: 'token', min: 0, max: Math.max(1, ...tree.branches.map(({ end }) => end)) }}
          y={{ label: '', min: 0, max: 1.05 * Math.max(...splits.map(({ difference }) => difference), 0.1) }}
          points={points}
          highlights={highlights}
          zooms="x"
          chosen={chosen < 0 ? undefined : chosen}
          height={170}
          onChoose={(index) => onPin(spotOf(index))}
          onOpen={(index) => onShow(spotOf(index))}
          {...events}
        />
      )}
    >
      <Table
        label="Splits by position"
        columns={[
          {
            name: 'position',
            text: 'token',
            cell: (index: number) => (
              <button
                type="button"
                className="min-h-6 text-accent hover:underline"
                onClick={() => onShow(spotOf(index))}
              >
                {countText(elementAt(splits, index).position)}
              </button>
            ),
          },
          { name: 'branches', text: 'branches', cell: (index) => branchesText(tree, elementAt(splits, index)) },
          {
            name: 'difference',
            text: 'difference',
            isNumber: true,
            cell: (index) => meanText(elementAt(splits, index).difference),
          },
        ]}
        rows={[...splits.keys()]}
        keyOf={String}
        isChosen={(index) => index === chosen}
      />
    </ChartSection>
  )
}

/** A split whose branches can be compared, with a branch that has a token there. */
interface ComparedSplit extends SampleSplit {
  readonly branch: SampleSplit['branches'][number]
}

/** Returns the splits with at least two branches of at least two rewards each, in the order of their positions. */
const comparedSplits = (tree: SampleTree): readonly ComparedSplit[] =>
  splitsOfTree(tree)
    .flatMap((split) => {
      const branch = split.branches.find(({ start, end }) => end > start)
      const compared = split.branches.filter(({ reward }) => reward && reward.known > 1)
      return branch && compared.length > 1 ? [{ ...split, branch }] : []
    })
    .toSorted((a, b) => a.position - b.position)

const splitText = (tree: SampleTree, split: ComparedSplit): string =>
  `token ${countText(split.position)}: difference ${meanText(split.difference)}, ${branchesText(tree, split)}`

/** Returns the branches of a split with their means, such as `find 0.86 (5), ls 0.10 (3)`. */
function branchesText(tree: SampleTree, { branches }: ComparedSplit): string {
  return branches
    .map((branch) => {
      const first = splitBefore(tree, branch)?.branches.find((each) => isBranchOfSplit(branch, each))
      const mean = branch.reward ? meanText(branch.reward.mean) : 'no reward'
      return `${first ? firstTokenText(first) : ''} ${mean} (${countText(branch.samples.length)})`.trim()
    })
    .join(', ')
}

/** Shows the reward of each sample by its number of tokens. */
function LengthChart({ tree: { forest }, current, chosen, onSample }: GroupChartsProps) {
  const scored = useMemo(() => scoredSamples(forest), [forest])
  const points = useMemo(
    () => ({
      x: Float64Array.from(scored, (sample) => elementAt(forest.samples, sample).row.tokens),
      y: Float64Array.from(scored, (sample) => elementAt(forest.samples, sample).row.reward ?? 0),
    }),
    [scored, forest],
  )
  const highlights = useMemo(() => {
    const at = (isTaken: (sample: number) => boolean) =>
      scored.flatMap((sample, index) => (isTaken(sample) ? [index] : []))
    const isChosen = (sample: number) => !chosen || chosen.has(sample)
    const isTruncated = (sample: number) => elementAt(forest.samples, sample).isTruncated
    return [
      { indices: at((sample) => !isChosen(sample)), colour: '--line-strong' },
      { indices: at((sample) => isChosen(sample) && !isTruncated(sample)), colour: '--accent' },
      { indices: at((sample) => isChosen(sample) && isTruncated(sample)), colour: '--warn' },
    ]
  }, [scored, forest, chosen])
  const { rewards } = forest
  if (!rewards) return <p className="text-dim text-xs">No sample has a reward.</p>
  const { low, high } = rewards.range
  const margin = 0.06 * (high - low || 1)
  const marked = current === undefined ? -1 : scored.indexOf(current)
  return (
    <ChartSection
      title="Reward by length"
      hint="A point is a sample; truncated ones are amber. Click it to show its path in the tree. The table of samples has the numbers."
      textOf={(index) => {
        const sample = elementAt(scored, index)
        const { row } = elementAt(forest.samples, sample)
        return `sample ${sample + 1}: reward ${rewardText(row.reward)}, ${countText(row.tokens)} tokens, ${row.outcome}`
      }}
      chosen={undefined}
      plot={(events) => (
        <Plot
          label={`Rewards of ${countText(scored.length)} samples by their number of tokens. The table of samples has the numbers.`}
          x={{ label: 'tokens', min: 0, max: 1.03 * Math.max(1, ...points.x) }}
          y={{ label: '', min: low - margin, max: high + margin }}
          points={points}
          highlights={highlights}
          zooms="xy"
          chosen={marked < 0 ? undefined : marked}
          height={190}
          onChoose={(index) => onSample(elementAt(scored, index))}
          onOpen={(index) => onSample(elementAt(scored, index))}
          {...events}
        />
      )}
    />
  )
}

const scoredSamples = ({ samples }: GroupForest): readonly number[] =>
  samples.flatMap(({ row }, index) => (row.reward === null ? [] : [index]))

/** Functions of a plot that its section handles. */
interface PlotEvents {
  readonly onPoint: (index: number | undefined) => void
  readonly onZoom: (reset: (() => void) | undefined) => void
}

interface ChartSectionProps {
  readonly title: string
  readonly hint: string
  /** Returns what is at a point. */
  readonly textOf: (index: number) => string
  /** Index of the point that is described while the pointer is elsewhere. */
  readonly chosen: number | undefined
  readonly plot: (events: PlotEvents) => ReactNode
  /** The numbers of the plot as a table. */
  readonly children?: ReactNode
}

/** Shows a plot with its title, the point under the pointer in words, and its numbers. */
function ChartSection({ title, hint, textOf, chosen, plot, children }: ChartSectionProps) {
  const [pointed, setPointed] = useState<number>()
  const [reset, setReset] = useState<() => void>()
  const described = pointed ?? chosen
  return (
    <section aria-label={title} className="min-w-0">
      <Heading>{title}</Heading>
      {plot({ onPoint: setPointed, onZoom: (way) => setReset(() => way) })}
      <div className="flex min-h-6 flex-wrap items-center gap-x-2 text-dim text-xs tabular-nums">
        <span className="min-w-0 flex-1">{described === undefined ? hint : textOf(described)}</span>
        {reset && (
          <Button className="min-h-6 text-xs" onClick={reset}>
            Reset zoom
          </Button>
        )}
      </div>
      {children && (
        <details className="mt-1 text-xs">
          <summary className="text-dim hover:text-ink">As a table</summary>
          <div className="mt-1.5">{children}</div>
        </details>
      )}
    </section>
  )
}
