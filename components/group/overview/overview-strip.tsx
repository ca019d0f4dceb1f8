'use client'
import { type PointerEvent, useLayoutEffect, useRef, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { isDimmed } from '../tree/branch-head.ts'
import { isBranchOfSplit, type SampleBranch, type SampleTree, splitBefore, type TreeSpot } from '../tree.ts'
import { axisTicks, branchAt, type LanePlan, planLanes } from './lanes.ts'

interface OverviewStripProps {
  readonly tree: SampleTree
  readonly colour: string
  readonly farthest: number
  readonly chosen: ReadonlySet<number> | undefined
  readonly pinned: TreeSpot | undefined
  readonly onPin: (spot: TreeSpot) => void
}

/** Width for the names of the first branches, and the right margin, in pixels. */
const LEFT = 56
const RIGHT = 7
const TOP = 6
const AXIS = 18
const USUAL_LANE = 7
const LEAST_HEIGHT = 28
const MOST_HEIGHT = 96
/** Width of a number of the axis, in pixels. */
const TICK = 84

/** Shows one lane for each sample, with shared tokens once. A click pins the token there. */
export function OverviewStrip({ tree, colour, farthest, chosen, pinned, onPin }: OverviewStripProps) {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  // The width is measured before the first painting, because the tree below would move down otherwise.
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    setWidth(element.clientWidth)
    return () => observer.disconnect()
  }, [])
  const plan = planLanes(tree, colour, farthest)
  const height = Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, USUAL_LANE * plan.laneCount))
  const inner = Math.max(1, width - LEFT - RIGHT)
  const x = (token: number) => LEFT + (token / Math.max(1, plan.length)) * inner
  const y = (lane: number) => TOP + (lane / Math.max(1, plan.laneCount)) * height
  const pin = (event: PointerEvent<SVGSVGElement>) => {
    const bounds = event.currentTarget.getBoundingClientRect()
    const token = Math.floor(((event.clientX - bounds.left - LEFT) / inner) * plan.length)
    const lane = Math.floor(((event.clientY - bounds.top - TOP) / height) * plan.laneCount)
    const branch = branchAt(plan, lane, token)
    if (branch !== undefined) onPin({ branch, token })
  }
  const gap = height / Math.max(1, plan.laneCount) >= 4 ? 1 : 0
  return (
    // A stacking context keeps its painting while the tree below scrolls.
    <div className="isolate border-line border-b px-3.5 py-1" data-lanes={plan.laneCount}>
      <div ref={box}>
        {width > 0 && (
          <svg
            width={width}
            height={TOP + height + AXIS}
            role="img"
            aria-label={overviewSentence(tree)}
            className="block cursor-pointer text-[11px]"
            onPointerDown={pin}
          >
            <Boxes plan={plan} tree={tree} chosen={chosen} x={x} y={y} gap={gap} />
            {namesOfFirst(tree, plan, height).map(({ text, name, lane }) => (
              <text key={lane} x={0} y={y(lane) + 4} className="fill-dim">
                {text} <tspan className="fill-ink font-mono">{name}</tspan>
              </text>
            ))}
            {axisTicks(plan.length, Math.max(2, Math.floor(inner / TICK))).map((tick) =>
              pinned && Math.abs(x(pinned.token) - x(tick)) < 40 ? null : (
                <text key={tick} x={x(tick)} y={TOP + height + 14} textAnchor="middle" className="fill-dim">
                  {countText(tick)}
                </text>
              ),
            )}
            {pinned && (
              <g>
                <line
                  x1={x(pinned.token)}
                  x2={x(pinned.token)}
                  y1={2}
                  y2={TOP + height + 3}
                  stroke="var(--accent)"
                  strokeWidth={1.5}
                />
                <text
                  x={x(pinned.token)}
                  y={TOP + height + 14}
                  textAnchor="middle"
                  className="fill-accent font-semibold"
                >
                  {countText(pinned.token)}
                </text>
              </g>
            )}
          </svg>
        )}
      </div>
    </div>
  )
}

interface BoxesProps {
  readonly plan: LanePlan
  readonly tree: SampleTree
  readonly chosen: ReadonlySet<number> | undefined
  readonly x: (token: number) => number
  readonly y: (lane: number) => number
  /** Pixels between two lanes. */
  readonly gap: number
}

function Boxes({ plan, tree, chosen, x, y, gap }: BoxesProps) {
  return plan.boxes.map(({ branch, start, end, lanes, fill }) => (
    <rect
      key={`${branch} ${start}`}
      x={x(start)}
      y={y(lanes.start)}
      width={Math.max(1, x(end) - x(start) - 1)}
      height={Math.max(0.5, y(lanes.end) - y(lanes.start) - gap)}
      rx={gap}
      fill={fill}
      opacity={isDimmed(elementAt(tree.branches, branch), chosen) ? 0.3 : 1}
    />
  ))
}

/** Height of a name of a branch, in pixels. */
const NAME_HEIGHT = 13

/** Returns the branches of the first split. */
const firstBranches = ({ branches, roots }: SampleTree): readonly SampleBranch[] =>
  (roots.length > 1 ? roots : (branches[roots[0] ?? -1]?.children ?? [])).map((index) => elementAt(branches, index))

/** Returns the names of the branches of the first split, where their lanes have room. */
function namesOfFirst(tree: SampleTree, { firstLane, laneCount }: LanePlan, height: number) {
  return firstBranches(tree).flatMap((branch) => {
    const { index, samples } = branch
    if ((samples.length / laneCount) * height < NAME_HEIGHT) return []
    const split = splitBefore(tree, branch)
    const name = visibleText(split?.branches.find((each) => isBranchOfSplit(branch, each))?.text ?? '').trim()
    return [
      {
        text: countText(samples.length),
        name: name.slice(0, 5),
        lane: elementAt(firstLane, index) + samples.length / 2,
      },
    ]
  })
}

function overviewSentence(tree: SampleTree): string {
  const { forest } = tree
  const first = firstBranches(tree)
  return `Overview of ${countWithNoun(forest.samples.length, 'sample')}: ${countWithNoun(forest.sharedTokens, 'shared token')}, then ${countWithNoun(first.length, 'branch', 'branches')} with ${first.map(({ samples }) => samples.length).join(', ')} samples`
}
