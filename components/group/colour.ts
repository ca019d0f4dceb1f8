/** Colours of branches and samples by their advantage or reward. */
import { cool, HEAT_LEVELS, heat } from '#components/token-view/colour/palette.ts'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'

/** Name of the colour mode of the mean advantage, which only the group page has. */
export const ADVANTAGE = 'advantage'

/** Largest distance of an advantage from 0 in a group; 0 if there is none. */
export const farthestAdvantage = ({ samples, nodes }: Pick<GroupForest, 'samples' | 'nodes'>): number =>
  [...samples.map(({ tokenAdvantage }) => tokenAdvantage), ...nodes.map(({ advantage }) => advantage)].reduce<number>(
    (farthest, value) => Math.max(farthest, Math.abs(value ?? 0)),
    0,
  )

/** Returns the colour of an advantage: cool above 0, heat below it; undefined for 0 or an unknown one. */
export function advantageColour(advantage: number | null, farthest: number): string | undefined {
  if (advantage === null || farthest === 0) return undefined
  const level = Math.min(HEAT_LEVELS, Math.ceil((Math.abs(advantage) / farthest) * HEAT_LEVELS - 1e-9))
  return level === 0 ? undefined : advantage > 0 ? cool(level) : heat(level)
}

/** Returns the colour of a value on the way from the lowest (heat) to the highest (cool), as the advantage of a reward is coloured. */
export function rewardColour(value: number, low: number, high: number): string | undefined {
  const middle = (low + high) / 2
  return advantageColour(value - middle, (high - low) / 2)
}
