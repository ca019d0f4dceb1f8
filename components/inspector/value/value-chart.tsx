'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { tokenHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText, intervalText, shortRewardText } from '#components/token-view/numbers.ts'
import { selectedToken, single } from '#components/token-view/selection.ts'
import { Button } from '#components/ui/button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { ValueEstimate } from '#lib/api/forest/value.ts'
import { treeOptions } from '#lib/browser/library/branches.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { responseBands } from '../charts/along-chart.tsx'
import { Plot } from '../charts/plot.tsx'
import { TokenList } from '../charts/token-list.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { type BranchReward, branchRewards } from './branch-rewards.ts'
import { answersText, pointText } from './value-text.ts'

interface ValueChartProps extends InspectorPartProps {
  readonly estimate: ValueEstimate
  readonly storedKey: string
  /** Token up to which the estimate is also one of this trajectory; undefined for its own. */
  readonly forkedAt?: number | undefined
}

/** Branches with inserted tokens that are listed below the curve; the list of branches has all. */
const LISTED_BRANCHES = 6

/** Draws the mean reward at each position along the tokens, and lists the same numbers. */
export function ValueChart({ inspection, estimate, storedKey, forkedAt }: ValueChartProps) {
  const { trajectory, view, onSelect } = inspection
  const { key, points, cliff, n } = estimate
  const [pointed, setPointed] = useState<number>()
  const [reset, setReset] = useState<() => void>()
  const known = useMemo(
    () => points.flatMap((point) => (point.value ? [{ ...point, value: point.value }] : [])),
    [points],
  )
  const data = useMemo(
    () => ({
      x: Float64Array.from(known, ({ at }) => at),
      y: Float64Array.from(known, ({ value }) => value.mean),
    }),
    [known],
  )
  const drop = cliff ? known.findIndex(({ at }) => at === cliff.from) : undefined
  const curve = useMemo(
    () => ({
      low: Float64Array.from(known, ({ value }) => value.low),
      high: Float64Array.from(known, ({ value }) => value.high),
      drop,
    }),
    [known, drop],
  )
  const highlights = useMemo(
    () => [
      { indices: known.map((_, index) => index), colour: '--accent' },
      { indices: drop === undefined ? [] : [drop, drop + 1], colour: '--bad' },
    ],
    [known, drop],
  )
  const bands = useMemo(() => responseBands(trajectory.segments), [trajectory.segments])
  const { data: tree } = useQuery(treeOptions(storedKey))
  const branches = useMemo(
    () => (tree ? branchRewards(tree, key).filter(({ token }) => forkedAt === undefined || token <= forkedAt) : []),
    [tree, key, forkedAt],
  )
  const rings = useMemo(
    () => ({
      x: Float64Array.from(branches, ({ token }) => token),
      y: Float64Array.from(branches, ({ mean }) => mean),
    }),
    [branches],
  )
  const selected = selectedToken(view.selection)
  const chosen = known.findIndex(({ at }) => at === selected)
  const described = known[pointed ?? chosen]
  const last = Math.max(1, tokenCount(trajectory) - 1)
  return (
    <>
      {known.length > 0 && (
        <Plot
          label={`Mean reward of ${n} samples at ${countWithNoun(known.length, 'token')}. The table below has the numbers.`}
          x={{ label: '', min: 0, max: last }}
          y={{ label: '', min: -0.06, max: 1.06, ticks: REWARDS }}
          points={data}
          curve={curve}
          highlights={highlights}
          rings={rings}
          bands={bands}
          marker={forkedAt}
          zooms="x"
          chosen={chosen < 0 ? undefined : chosen}
          height={132}
          onPoint={setPointed}
          onChoose={(index) => onSelect(single(elementAt(known, index).at))}
          onOpen={(index) => onSelect(single(elementAt(known, index).at), 'tokens')}
          onZoom={(way) => setReset(() => way)}
        />
      )}
      <div className="flex min-h-6 flex-wrap items-center gap-x-2 text-dim text-xs tabular-nums">
        <span className="min-w-0 flex-1" data-value-point={described?.at}>
          {described
            ? pointText(trajectory, described)
            : known.length > 0 && 'Click a point to pin its token; drag to zoom.'}
        </span>
        {reset && (
          <Button className="min-h-6 text-xs" onClick={reset}>
            Reset zoom
          </Button>
        )}
      </div>
      {branches.length > 0 && (
        <ul
          className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs tabular-nums"
          aria-label="Rewards of branches with inserted tokens"
        >
          {branches.slice(0, LISTED_BRANCHES).map((branch) => (
            <li key={`${branch.token} ${branch.text}`}>
              <RingLink branch={branch} />
            </li>
          ))}
          {branches.length > LISTED_BRANCHES && (
            <li className="text-dim">{countText(branches.length - LISTED_BRANCHES)} more in the list of branches</li>
          )}
        </ul>
      )}
      <TokenList
        title={points.length === 1 ? 'The numbers as a table' : `All ${countText(points.length)} positions as a table`}
        trajectory={trajectory}
        columns={['mean reward', 'interval', 'samples', 'answers', 'tokens', 'tool calls']}
        tokens={points.map((point) => ({
          token: point.at,
          numbers: [
            point.value ? point.value.mean.toFixed(2) : '—',
            point.value ? intervalText(point.value) : '—',
            `${point.rewarded} of ${n}`,
            answersText(point),
            point.spread ? countText(Math.round(point.spread.sampledTokens.mean)) : '—',
            point.spread ? point.spread.toolCalls.mean.toFixed(1) : '—',
          ],
        }))}
        onSelect={onSelect}
      />
    </>
  )
}

/** Shows a ring of the curve as text, such as “find for ls at 211: reward 1, 1 sample”, and links to the branch. */
const RingLink = ({ branch: { token, text, instead, mean, samples, key } }: { readonly branch: BranchReward }) => (
  <Link href={tokenHref(key, token)} className="inline-flex min-h-6 items-center gap-1 hover:underline">
    <span aria-hidden className="size-2.5 rounded-full border-2 border-warn" />
    <span>
      <code className="whitespace-pre font-semibold">{visibleText(text)}</code>
      {instead !== null && (
        <>
          {' '}
          for <code className="whitespace-pre">{visibleText(instead)}</code>
        </>
      )}{' '}
      at {countText(token)}: reward {shortRewardText(mean)}, {countWithNoun(samples, 'sample')}
    </span>
  </Link>
)

const REWARDS = [
  { value: 0, text: '0' },
  { value: 0.5, text: '0.5' },
  { value: 1, text: '1' },
]
