'use client'
/** The branches of a trajectory, and the trajectory that they come from. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { compareBothHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { LinkButton } from '#components/shell/link-button.tsx'
import { Link } from '#components/shell/navigation.tsx'
import { titleText } from '#components/shell/trajectory-rows/row-texts.ts'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { treeOptions } from '#lib/browser/library/branches.ts'
import { requestCancel } from '#lib/browser/rollout/cancel.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { errorText } from '#lib/util/text/error-text.ts'
import { FORK_TEXTS } from './fork-relation.tsx'
import {
  differentPieces,
  foundPiece,
  leavesIn,
  matchingRows,
  separateValueSamples,
  sharedWithMain,
  type TreeLeaf,
  type TreeRow,
  treeRows,
} from './tree-rows.ts'

const LeavesExport = lazyPart(async () => (await import('./leaves-export.tsx')).LeavesExport)

/** Lists all trajectories of the tree with links; nothing if there are no branches. */
export function BranchList({ storedKey }: { readonly storedKey: string }) {
  const { data: tree } = useQuery(treeOptions(storedKey))
  const [search, setSearch] = useState('')
  const [isExporting, setIsExporting] = useState(false)
  const [problem, setProblem] = useState<string>()
  const fail = (error: unknown) => setProblem(errorText(error))
  if (!tree || tree.leaves.length < 2) return null
  const { tokens, distinctTokens } = tree.counts
  const shared = sharedWithMain(tree.leaves, storedKey)
  const main = tree.leaves[0]?.row.key
  const rows = matchingRows(treeRows(tree.leaves), search, searchedText)
  const { branches, samples } = separateValueSamples(rows)
  const isSearched = search.trim() !== ''
  return (
    <section aria-label="Branches" className="mt-5">
      <div className="flex items-baseline justify-between gap-2">
        <Heading>Branches</Heading>
        <span className="text-faint text-xs">reward</span>
      </div>
      {tree.leaves.length >= FEWEST_SEARCHED && (
        <input
          type="search"
          aria-label="Find in the branches"
          placeholder="Find: text, outcome, at 211"
          title="Finds inserted and edited texts, what the model sampled first after the fork, kinds, outcomes and positions"
          autoComplete="off"
          spellCheck={false}
          className="mb-1.5 min-h-7 w-full rounded-md border border-line bg-raised px-2 text-xs placeholder:text-faint hover:border-line-strong"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5 text-xs" data-branches={tree.leaves.length}>
        {branches.map((row) => (
          <BranchRow key={keyOf(row)} row={row} current={storedKey} search={search} onError={fail} />
        ))}
        {samples.length > 0 && (
          <li>
            <details open={(isSearched && branches.length === 0) || hasKey(samples, storedKey) || undefined}>
              <summary className="cursor-pointer rounded-md py-1 pr-1.5 pl-1.5 font-medium hover:bg-panel">
                {isSearched && `${countText(leavesIn(samples).length)} of `}
                {countWithNoun(tree.leaves.filter(({ isValueSample }) => isValueSample).length, 'sample')} of value
                estimates
              </summary>
              <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5">
                {samples.map((row) => (
                  <BranchRow key={keyOf(row)} row={row} current={storedKey} search={search} onError={fail} />
                ))}
              </ul>
            </details>
          </li>
        )}
      </ul>
      {rows.length === 0 && <p className="text-faint text-xs">No branch has these words.</p>}
      <p className="mt-1.5 text-faint text-xs">
        {shared !== undefined && shared > 0 && `Same tokens as main up to ${countText(shared - 1)}. `}
        {countText(tokens)} tokens, {countText(distinctTokens)} distinct
        {tree.leftOut > 0 && `. ${countText(tree.leftOut)} more branches are not listed`}
      </p>
      <div className="mt-2 flex flex-wrap items-center gap-2 text-xs">
        {shared !== undefined && main !== undefined && (
          <LinkButton href={compareBothHref(main, storedKey)}>Compare with main</LinkButton>
        )}
        <Button
          onClick={() => {
            setProblem(undefined)
            setIsExporting(true)
          }}
        >
          Export leaves…
        </Button>
      </div>
      {problem !== undefined && (
        <p role="alert" className="mt-1.5 text-bad text-xs">
          {problem}
        </p>
      )}
      {isExporting && (
        <LeavesExport
          leaves={tree.leaves}
          leftOut={tree.leftOut}
          onClose={() => setIsExporting(false)}
          onSaveError={fail}
        />
      )}
    </section>
  )
}

/** Fewest trajectories for which the list has a search. */
const FEWEST_SEARCHED = 8

/** Returns the texts by which a trajectory of the tree is found. */
const searchedText = ({ row, fork }: TreeLeaf): string =>
  [
    fork ? `at ${fork.token}` : 'main',
    fork && FORK_TEXTS[fork.kind],
    fork?.inserted?.text,
    fork?.inserted?.instead,
    fork?.edited,
    fork?.sampled,
    titleText(row),
    row.outcome,
  ]
    .filter(Boolean)
    .join('\n')

const keyOf = (row: TreeRow): string => (row.kind === 'leaf' ? row.leaf.row.key : `${row.leaves[0]?.row.key} and more`)

interface BranchRowProps {
  readonly row: TreeRow
  /** Key of the trajectory that the page shows. */
  readonly current: string
  /** What distinguishes what the model sampled from the other samples of the request; undefined if the branch is no sample of several. */
  readonly piece?: string | undefined
  /** The search that found the row, '' if there is none: the samples of one request are unfolded, and found texts are shown. */
  readonly search: string
  /** Called if running samples could not be cancelled. */
  readonly onError: (error: unknown) => void
}

/** Deeper branches are not indented further: the pane is narrow. */
const DEEPEST_INDENT = 5
const INDENTS = ['pl-1.5', 'pl-4', 'pl-6.5', 'pl-9', 'pl-11.5', 'pl-14'] as const

const indentOf = (depth: number): string => INDENTS[Math.min(depth, DEEPEST_INDENT)] ?? ''

function BranchRow({ row, current, piece, search, onError }: BranchRowProps) {
  return row.kind === 'leaf' ? (
    <LeafRow leaf={row.leaf} depth={row.depth} isCurrent={row.leaf.row.key === current} piece={piece} search={search} />
  ) : (
    <SamplesRow row={row} current={current} search={search} onError={onError} />
  )
}

interface LeafRowProps {
  readonly leaf: TreeLeaf
  readonly depth: number
  readonly isCurrent: boolean
  readonly piece: string | undefined
  readonly search: string
}

function LeafRow({ leaf: { row, fork }, depth, isCurrent, piece, search }: LeafRowProps) {
  const found = foundPiece(fork?.sampled ?? '', search)
  const state = row.outcomeKind === 'running' ? 'running…' : row.reward === null ? row.outcome : rewardText(row.reward)
  return (
    <li
      className="rounded-md data-current:bg-accent-soft"
      data-current={isCurrent || undefined}
      data-depth={Math.min(depth, DEEPEST_INDENT)}
    >
      <Link
        href={`/t/${encodeURIComponent(row.key)}${fork ? `?at=${fork.token}` : ''}`}
        aria-current={isCurrent ? 'page' : undefined}
        className={`block rounded-md py-1 pr-1.5 hover:bg-panel ${indentOf(depth)}`}
      >
        <span className="flex justify-between gap-2">
          <span className="truncate font-medium tabular-nums">{fork ? <Place fork={fork} /> : 'main'}</span>
          <span className="max-w-1/2 shrink-0 truncate font-medium">{state}</span>
        </span>
        <span className="flex justify-between gap-2 text-dim">
          {/* The line of the request has the kind of its samples. */}
          {piece === undefined ? (
            <span className="truncate">{fork ? FORK_TEXTS[fork.kind] : titleText(row)}</span>
          ) : (
            <SampledText text={found ?? piece} />
          )}
          <span className="whitespace-nowrap tabular-nums">{countText(row.tokens)} tok</span>
        </span>
        {piece === undefined && found !== undefined && <SampledText text={found} />}
      </Link>
    </li>
  )
}

const SampledText = ({ text }: { readonly text: string }) => (
  <span className="block truncate" title="What the model sampled after the fork">
    <PieceText text={text} />
  </span>
)

interface PlaceProps {
  readonly fork: NonNullable<TreeLeaf['fork']>
  /** Number of branches of one request; undefined for a single branch. */
  readonly count?: number
}

/** Shows where a branch begins and what it inserted or edited there, such as “at 211, find for ls”. */
function Place({ fork: { token, inserted, edited }, count }: PlaceProps) {
  return (
    <>
      at {countText(token)}
      {count !== undefined && `, × ${count}`}
      {inserted && (
        <>
          , <PieceText text={inserted.text} />
          {inserted.instead !== null && (
            <>
              {' '}
              for <PieceText text={inserted.instead} />
            </>
          )}
        </>
      )}
      {edited !== null && <>, {edited === '' ? 'emptied' : <PieceText text={edited} />}</>}
    </>
  )
}

const PieceText = ({ text }: { readonly text: string }) => (
  <code className="whitespace-pre rounded-sm bg-panel px-0.5">{visibleText(text).replaceAll('\n', '↵')}</code>
)

/** Shows the samples of one request as one line, which unfolds. */
function SamplesRow({
  row: { leaves, depth, rows },
  current,
  search,
  onError,
}: BranchRowProps & { readonly row: TreeRow & { kind: 'samples' } }) {
  const { fork, row: { group } = {} } = leaves[0] ?? {}
  const rewards = leaves.flatMap(({ row }) => (row.reward === null ? [] : [row.reward]))
  const running = leaves.filter(({ row }) => row.outcomeKind === 'running').length
  const sampled = leaves.filter(({ fork }) => fork?.sampled)
  const texts = differentPieces(sampled.map(({ fork }) => fork?.sampled ?? ''))
  const pieces = new Map(sampled.map(({ row }, index) => [row.key, texts[index]]))
  const [least, most] = rewards.length > 0 ? [Math.min(...rewards), Math.max(...rewards)] : [0, 0]
  return (
    <li data-depth={Math.min(depth, DEEPEST_INDENT)}>
      <details open={search.trim() !== '' || hasKey(rows, current) || undefined}>
        <summary className={`cursor-pointer rounded-md py-1 pr-1.5 hover:bg-panel ${indentOf(depth)}`}>
          <span className="inline-flex w-[calc(100%-1rem)] justify-between gap-2 align-top">
            <span className="truncate font-medium tabular-nums">
              {fork && <Place fork={fork} count={leaves.length} />}
            </span>
            <span className="shrink-0 font-medium tabular-nums">
              {running > 0
                ? `${leaves.length - running} of ${leaves.length} ended`
                : rewards.length > 0
                  ? rewardText(rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length)
                  : 'no reward'}
            </span>
          </span>
          <span className="flex justify-between gap-2 pl-4 text-dim">
            <span className="truncate">{fork && FORK_TEXTS[fork.kind]}</span>
            {least !== most && (
              <span className="whitespace-nowrap tabular-nums" title="Smallest and largest reward">
                {rewardText(least)} to {rewardText(most)}
              </span>
            )}
          </span>
        </summary>
        <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5 pl-2.5">
          {rows.map((row) => (
            <BranchRow
              key={keyOf(row)}
              row={row}
              current={current}
              piece={row.kind === 'leaf' ? pieces.get(row.leaf.row.key) : undefined}
              search={search}
              onError={onError}
            />
          ))}
        </ul>
      </details>
      {running > 0 && group && (
        <div className={indentOf(depth)}>
          <Button className="my-1 ml-4 text-xs" onClick={() => requestCancel('groups', group.id).catch(onError)}>
            Cancel, {leaves.length - running} of {leaves.length}
          </Button>
        </div>
      )}
    </li>
  )
}

const hasKey = (rows: readonly TreeRow[], key: string): boolean =>
  rows.some((row) => (row.kind === 'leaf' ? row.leaf.row.key === key : hasKey(row.rows, key)))
