'use client'
/** The branches of a trajectory, and the trajectory that they come from. */
import { useQuery } from '@tanstack/react-query'
import { FORK_TEXTS } from '#components/inspector/fork-relation.tsx'
import { Link } from '#components/shell/navigation.tsx'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import type { Tree } from '#lib/api/forest/tree.ts'
import { treeOptions } from '#lib/browser/library/branches.ts'
import { treeRows } from './tree-rows.ts'

/** Lists all trajectories of the tree with links; nothing if there are no branches. */
export function BranchList({ storedKey }: { readonly storedKey: string }) {
  const { data: tree } = useQuery(treeOptions(storedKey))
  if (!tree || tree.leaves.length < 2) return null
  const { tokens, distinctTokens } = tree.counts
  return (
    <section aria-label="Branches" className="mt-5">
      <Heading>Branches</Heading>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5 text-xs" data-branches={tree.leaves.length}>
        {treeRows(tree.leaves).map(({ leaf, depth }) => (
          <BranchRow key={leaf.row.key} leaf={leaf} depth={depth} isCurrent={leaf.row.key === storedKey} />
        ))}
      </ul>
      <p className="mt-1.5 text-faint text-xs">
        {countText(tokens)} tokens, {countText(distinctTokens)} distinct
        {tree.leftOut > 0 && `. ${countText(tree.leftOut)} more branches are not listed`}
      </p>
    </section>
  )
}

interface BranchRowProps {
  readonly leaf: Tree['leaves'][number]
  readonly depth: number
  readonly isCurrent: boolean
}

/** Deeper branches are not indented further: the pane is narrow. */
const DEEPEST_INDENT = 5

function BranchRow({ leaf: { row, fork }, depth, isCurrent }: BranchRowProps) {
  const place = fork ? `at ${countText(fork.token)}` : 'main'
  const state = row.outcomeKind === 'running' ? 'running…' : row.reward === null ? row.outcome : rewardText(row.reward)
  return (
    <li
      className="rounded-md data-current:bg-accent-soft"
      data-current={isCurrent || undefined}
      data-depth={Math.min(depth, DEEPEST_INDENT)}
    >
      <Link
        href={`/t/${encodeURIComponent(row.key)}`}
        aria-current={isCurrent ? 'page' : undefined}
        className={`block rounded-md py-1 pr-1.5 hover:bg-panel ${INDENTS[Math.min(depth, DEEPEST_INDENT)]}`}
      >
        <span className="flex justify-between gap-2">
          <span className="font-medium tabular-nums">{place}</span>
          <span className="truncate font-medium">{state}</span>
        </span>
        <span className="flex justify-between gap-2 text-dim">
          <span className="truncate">{fork ? FORK_TEXTS[fork.kind] : (row.title ?? row.question)}</span>
          <span className="whitespace-nowrap tabular-nums">{countText(row.tokens)} tok</span>
        </span>
      </Link>
    </li>
  )
}

const INDENTS = ['pl-1.5', 'pl-4', 'pl-6.5', 'pl-9', 'pl-11.5', 'pl-14'] as const
