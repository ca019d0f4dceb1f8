/** The overview of a tree: one lane for each sample, shared tokens once, on the axis of the tokens. */
import { elementAt } from '#lib/util/element-at.ts'
import { ADVANTAGE, advantageColour } from '../colour.ts'
import type { SampleBranch, SampleTree } from '../tree.ts'

/** A rectangle of the overview: tokens from left to right, lanes from top to bottom. */
interface LaneBox {
  readonly branch: number
  readonly start: number
  readonly end: number
  /** Lanes that it covers, half-open. */
  readonly lanes: { readonly start: number; readonly end: number }
  /** CSS colour. */
  readonly fill: string
}

/** The boxes of a tree with its size. */
export interface LanePlan {
  readonly boxes: readonly LaneBox[]
  readonly laneCount: number
  /** Number of tokens of the longest path. */
  readonly length: number
  /** First lane of each branch. */
  readonly firstLane: readonly number[]
}

/** CSS colours of tokens that were given and of tokens that were sampled. */
const KIND_FILLS = {
  prompt: 'var(--heat-unknown)',
  response: 'color-mix(in srgb, var(--band-trained) 55%, transparent)',
} as const

/** Returns the boxes. Branches after a split are coloured by their advantage in this mode, and all tokens by their kind in others. */
export function planLanes(tree: SampleTree, colour: string, farthest: number): LanePlan {
  const { forest, branches, roots } = tree
  const firstLane = branches.map(() => 0)
  let lane = 0
  const place = (index: number): void => {
    firstLane[index] = lane
    const { children, samples } = elementAt(branches, index)
    if (children.length === 0) lane += samples.length
    for (const child of children) place(child)
  }
  for (const root of roots) place(root)
  const boxes = branches.flatMap((branch): readonly LaneBox[] => {
    const first = elementAt(firstLane, branch.index)
    const lanes = { start: first, end: first + branch.samples.length }
    const box = (start: number, end: number, fill: string): LaneBox => ({
      branch: branch.index,
      start,
      end,
      lanes,
      fill,
    })
    if (colour === ADVANTAGE && branch.parent !== undefined)
      return branch.end > branch.start ? [box(branch.start, branch.end, fillOf(branch, farthest))] : []
    return forest.nodes
      .slice(branch.nodes.start, branch.nodes.end)
      .flatMap(({ kind, start, end }) => (end > start ? [box(start, end, KIND_FILLS[kind])] : []))
  })
  return { boxes, laneCount: lane, length: branches.reduce((most, { end }) => Math.max(most, end), 0), firstLane }
}

const fillOf = ({ advantage }: SampleBranch, farthest: number): string =>
  advantageColour(advantage, farthest) ?? 'var(--heat-unknown)'

/** Returns the branch in a lane at a token; undefined if there is none. */
export function branchAt({ boxes }: LanePlan, lane: number, token: number): number | undefined {
  return boxes.find(({ start, end, lanes }) => token >= start && token < end && lane >= lanes.start && lane < lanes.end)
    ?.branch
}

/** Returns the positions of the axis: round numbers, at most `most` of them, from 0. */
export function axisTicks(length: number, most: number): readonly number[] {
  if (length <= 0) return [0]
  const power = 10 ** Math.floor(Math.log10(Math.max(1, length / most)))
  const step = [1, 2, 5, 10].map((times) => times * power).find((width) => length / width <= most) ?? 10 * power
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step)
}
