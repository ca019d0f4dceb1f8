'use client'
/**
 * The samples of a group as one tree of tokens. use-tree-drawing.ts draws it with the rows of the token view; tree-keys.ts has the
 * keys.
 */
import { type KeyboardEvent, type MouseEvent, useRef, useState } from 'react'
import { selectedText } from '#components/token-view/card/selected-tokens.ts'
import { useCopy } from '#components/token-view/card/use-copy.ts'
import { tokenName } from '#components/token-view/grid/token-box.ts'
import { TokenViewport } from '#components/token-view/grid/token-viewport.tsx'
import { useGridPointer } from '#components/token-view/grid/use-grid-pointer.ts'
import { keyName } from '#components/token-view/key-name.ts'
import { single } from '#components/token-view/selection.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import type { SampleTree, TreeSpot } from '../tree.ts'
import { headSentence } from './branch-head.ts'
import { spotOfKey } from './tree-keys.ts'
import { lineOfSpot } from './tree-lines.ts'
import { PINNED_ID } from './tree-painter.ts'
import type { TreePicture } from './tree-picture.ts'
import { useTreeDrawing } from './use-tree-drawing.ts'
import type { TreePictureOptions } from './use-tree-picture.ts'

interface TreeGridProps extends Omit<TreePictureOptions, 'pointed'> {
  readonly onPin: (spot: TreeSpot | undefined) => void
  /** Called with the token under the pointer after a short rest there. */
  readonly onPoint: (spot: TreeSpot | undefined) => void
  /** Folds or unfolds a branch, by its index. `isWhole` shows or hides the tokens in its middle. */
  readonly onToggle: (branch: number, isWhole: boolean) => void
  /** Called with a sample whose number was clicked, by its index. */
  readonly onSample: (sample: number) => void
  readonly onVisible: (branches: ReadonlySet<number>) => void
  readonly onSay: (message: string) => void
}

/** Shows the tree of a group as a grid of tokens. */
export function TreeGrid(props: TreeGridProps) {
  const { tree, pinned, onPin, onPoint, onToggle, onSample, onSay } = props
  const [pointed, setPointed] = useState<TreeSpot>()
  const still = useRef<TreeSpot>(undefined)
  const { viewport, canvas, layer, picture, placeUnder, scrollBy } = useTreeDrawing({ ...props, pointed, still })
  const numbers = numbering(tree)
  const pointer = useGridPointer({
    viewport,
    scrollBy,
    tokenUnder: (place) => {
      const spot = placeUnder(place)?.spot
      return spot && numbers.numberOf(spot)
    },
    spansAround: () => [],
    selection: pinned && single(numbers.numberOf(pinned)),
    onSelect: (selection) => {
      const spot = selection && numbers.spotOf(selection.focus)
      still.current = spot
      // A click beside the tokens unpins nothing: it may be meant for a head or a fold.
      if (spot) onPin(spot)
    },
    onMove: (number) => {
      const spot = number === undefined ? undefined : numbers.spotOf(number)
      setPointed((known) => (known?.branch === spot?.branch && known?.token === spot?.token ? known : spot))
    },
    onPoint: (number) => onPoint(number === undefined ? undefined : numbers.spotOf(number)),
  })
  useCopy(
    viewport,
    () => {
      const branch = pinned && tree.branches[pinned.branch]
      const trajectory = branch && picture?.trajectoryOf(branch)
      return trajectory && pinned ? selectedText(trajectory, single(pinned.token)) : undefined
    },
    onSay,
  )
  const onClick = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target : undefined
    const sample = target?.closest<HTMLElement>('[data-sample]')?.dataset.sample
    const hidden = target?.closest<HTMLElement>('[data-toggle]')
    const head = target?.closest<HTMLElement>('.branch-head')
    if (sample !== undefined) onSample(Number(sample))
    else if (hidden) onToggle(Number(hidden.dataset.toggle), hidden.dataset.hides === 'tokens')
    else if (head) onToggle(Number(head.dataset.branch), false)
    else pointer.onClick(event)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!picture || event.target !== event.currentTarget) return
    const key = keyName(event)
    if (key === 'Escape' && pinned) {
      event.preventDefault()
      onPin(undefined)
      return
    }
    if (key === 'Enter' && pinned) {
      event.preventDefault()
      // In the hidden middle of a branch, its tokens are shown; elsewhere the branch is folded.
      onToggle(pinned.branch, lineOfSpot(picture, pinned) === undefined)
      return
    }
    const pageRows = Math.max(1, Math.floor(event.currentTarget.clientHeight / picture.rows.rowHeight) - 2)
    const spot = spotOfKey(key, { picture, pinned, pageRows })
    if (!spot) return
    event.preventDefault()
    onPin(spot)
  }
  return (
    <>
      <TokenViewport
        ref={viewport}
        label="Tree of the samples"
        rowCount={picture ? int32At(picture.rows.firstRows, picture.rows.items.length) : 0}
        activeId={pinned && picture && lineOfSpot(picture, pinned) ? PINNED_ID : undefined}
        isMultiselectable={false}
        isIdle={picture !== undefined && props.trajectories.size > 0}
        onKeyDown={onKeyDown}
      >
        <div ref={canvas} className="token-canvas tree-canvas" {...{ ...pointer, onClick }}>
          <div ref={layer} className="token-layer" />
        </div>
      </TokenViewport>
      <p className="sr-only" aria-live="polite">
        {pinned && picture && pinnedSentence(pinned, picture)}
      </p>
    </>
  )
}

/** Numbers the distinct tokens of a tree in sequence, for the pointer, which numbers tokens. */
function numbering({ branches }: SampleTree) {
  const starts: number[] = []
  let next = 0
  for (const { start, end } of branches) {
    starts.push(next)
    next += end - start
  }
  return {
    numberOf: ({ branch, token }: TreeSpot): number =>
      elementAt(starts, branch) + token - elementAt(branches, branch).start,
    spotOf: (number: number): TreeSpot | undefined => {
      const branch = starts.findLastIndex(
        (at, index) => at <= number && elementAt(branches, index).end > elementAt(branches, index).start,
      )
      return branch < 0
        ? undefined
        : { branch, token: elementAt(branches, branch).start + number - elementAt(starts, branch) }
    },
  }
}

/** Returns the sentence that a screen reader speaks for the pinned token. At the beginning of a branch, its head is spoken too. */
function pinnedSentence(pinned: TreeSpot, picture: TreePicture): string {
  const { tree } = picture.rows
  const branch = elementAt(tree.branches, pinned.branch)
  const head = branch.parent !== undefined && pinned.token === branch.start ? `${headSentence(tree, branch)}: ` : ''
  const drawn = picture.pictureOf(branch)
  const token = drawn && tokenAt(drawn.trajectory, pinned.token)
  if (!token || !drawn) return `${head}token ${pinned.token}`
  const isHidden = lineOfSpot(picture, pinned) === undefined
  return `${head}${tokenName(token, drawn)}${isHidden ? ', folded. Enter unfolds it' : ''}`
}
