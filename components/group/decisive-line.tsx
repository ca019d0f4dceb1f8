import type { ReactNode } from 'react'
import { countText, intervalText, percentText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { GroupBranch, GroupForest } from '#lib/api/forest/group-forest.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { advantageColour } from './colour.ts'
import { estimateInterval, firstTokenText, meanText } from './words.ts'

interface DecisiveLineProps {
  readonly forest: GroupForest
  /** Largest distance of an advantage from 0. */
  readonly farthest: number
  /** Pins the decisive token. */
  readonly onDecisive: () => void
  /** Compares its two branches; undefined if that is not possible. */
  readonly onCompare: (() => void) | undefined
}

/** Shows the answer of the page in one line: the decisive token, or why there is none. A difference that may be chance names no token. */
export function DecisiveLine({ forest, farthest, onDecisive, onCompare }: DecisiveLineProps) {
  const { decisive, splits, notes, isRunning } = forest
  const split = decisive && splits[decisive.split]
  if (!decisive || !split)
    return (
      <div className="border-line border-b bg-panel px-3.5 py-2" data-decisive="none">
        {notes.length > 0 ? (
          notes.map(({ code, message }) => (
            <p key={code} data-note={code}>
              {visibleText(message)}
            </p>
          ))
        ) : (
          <p>No token is decisive: it needs two branches with different mean rewards and at least two samples each.</p>
        )}
      </div>
    )
  const [high, low] = [elementAt(split.branches, decisive.high), elementAt(split.branches, decisive.low)]
  return (
    <div
      className={`border-line border-b px-3.5 py-2 ${decisive.isSignificant ? 'bg-accent-soft' : 'bg-panel'}`}
      data-decisive={decisive.isSignificant ? decisive.position : 'chance'}
    >
      <div className="flex items-center gap-x-3">
        <div className="min-w-0 flex-1">
          {decisive.isSignificant ? (
            <p className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5">
              <ShowButton onShow={onDecisive}>
                Decisive token {countText(decisive.position)}
                {isRunning && ' so far'}
              </ShowButton>
              <DecisiveBranch branch={high} farthest={farthest} before="mean reward" />
              <span className="max-sm:hidden">against</span>
              <DecisiveBranch branch={low} farthest={farthest} before="" />
              <span className="text-dim max-sm:hidden" title="Samples with a reward in both branches">
                {countText(high.reward?.known ?? 0)} and {countText(low.reward?.known ?? 0)} samples
              </span>
            </p>
          ) : (
            <p className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5">
              <b>No token is decisive{isRunning && ' so far'}</b>
              <span>{isRunning ? 'Differences may be chance.' : 'Differences may be chance: sample more.'}</span>
              <ShowButton onShow={onDecisive} look="link">
                Show the largest
              </ShowButton>
            </p>
          )}
          <p className="text-dim text-xs" title={CHANCE}>
            {decisive.isSignificant ? 'Difference' : 'Largest difference in mean reward'}{' '}
            {meanText(decisive.difference)} {intervalText(decisive.interval)}, chance {percentText(decisive.chance)}{' '}
            over {countWithNoun(decisive.tested, 'compared split')}
          </p>
        </div>
        {onCompare && (
          <span className="max-sm:hidden">
            <Button className="min-h-7!" onClick={onCompare}>
              Compare the branches
            </Button>
          </span>
        )}
      </div>
      {notes.map(({ code, message }) => (
        <p key={code} data-note={code} className="text-dim text-xs">
          {visibleText(message)}
        </p>
      ))}
    </div>
  )
}

const CHANCE =
  'The chance is the share of random assignments of the same rewards to the samples in which one of the compared splits differs at least as much. A token is decisive if it is at most 5 %.'

interface ShowButtonProps {
  readonly onShow: () => void
  readonly look?: 'heading' | 'link'
  readonly children: ReactNode
}

function ShowButton({ onShow, look = 'heading', children }: ShowButtonProps) {
  return (
    <button
      type="button"
      onClick={onShow}
      title="Show it (d)"
      className={`min-h-6 hover:underline ${look === 'link' ? 'font-medium text-accent' : 'font-semibold'}`}
    >
      {children}
    </button>
  )
}

interface DecisiveBranchProps {
  readonly branch: GroupBranch
  readonly farthest: number
  /** Words between the token and its mean reward; '' if there are none. */
  readonly before: string
}

/** Shows the first token of a branch with its mean reward and interval. */
function DecisiveBranch({ branch, farthest, before }: DecisiveBranchProps) {
  const { advantage, reward } = branch
  return (
    <span className="inline-flex items-center gap-1.5">
      <code
        className="max-w-40 overflow-hidden text-ellipsis whitespace-pre rounded px-1 py-0.5 font-mono text-ink"
        style={{ background: advantageColour(advantage, farthest) ?? 'var(--ground)' }}
      >
        {firstTokenText(branch)}
      </code>
      {before !== '' && <span className="max-sm:hidden">{before}</span>}
      <b>{meanText(reward?.mean ?? 0)}</b>
      <span className="text-dim">{reward && estimateInterval(reward)}</span>
    </span>
  )
}
