/** All commands of the group page. Its keys, the palette and the list of keys read this table. */
import { type Command, type CommandLists, LIST_COMMANDS } from '#components/commands/command.ts'
import { colourModeNamed, maskToggled } from '#components/token-view/colour/modes.ts'
import { colourScale } from '#components/token-view/colour/scale.ts'
import type { GridOptions } from '#components/token-view/grid-options.ts'
import { copyAndDescribe } from '#components/ui/copy-text.ts'
import type { GroupPageView } from './address.ts'
import { ADVANTAGE } from './colour.ts'
import { decisiveSpot, splitAfter, splitsByDifference, spotAfter, tokensByValue } from './steps.ts'
import { type BranchModes, foldedToSplits, NO_MODES, withToggled } from './tree/folds.ts'
import type { Trajectories } from './tree/use-trajectories.ts'
import { type SampleTree, spotOfSample, type TreeSpot } from './tree.ts'

/** State that the commands read, and the functions by which they change it. */
export interface GroupScreenState {
  /** Undefined until the tree is known. */
  readonly tree: SampleTree | undefined
  readonly trajectories: Trajectories
  readonly view: GroupPageView
  readonly onView: (change: Partial<GroupPageView>) => void
  readonly modes: BranchModes
  readonly onModes: (modes: BranchModes) => void
  readonly pinned: TreeSpot | undefined
  /** Pins a token and shows it. */
  readonly onPin: (spot: TreeSpot | undefined) => void
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
  readonly say: (message: string) => void
  readonly page: GroupPageActions
}

/** Functions of the page around the tree that commands call. */
interface GroupPageActions extends CommandLists {
  readonly openFile: () => void
  /** Undefined if there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly link: () => string
  /** Opens the pinned token in the inspector. Undefined if no token is pinned. */
  readonly branchHere: (() => void) | undefined
  /** Compares the two branches of the decisive token. Undefined if there is none. */
  readonly compareBranches: (() => void) | undefined
  readonly showLegend: () => void
}

/** Groups of the commands, in the order of the list of keys. */
export const GROUP_GROUPS = ['Tree', 'Folds', 'View', 'Group'] as const
/** A command of the group page. */
export type GroupCommand = Command<GroupScreenState, (typeof GROUP_GROUPS)[number]>

const withoutTree = ({ tree }: GroupScreenState): string | undefined =>
  tree ? undefined : 'The tree is not loaded yet.'
const withoutSplit = (screen: GroupScreenState): string | undefined =>
  withoutTree(screen) ??
  (screen.tree?.forest.splits.length === 0 ? 'The samples do not differ: there is no split.' : undefined)
const withoutPin = (screen: GroupScreenState): string | undefined =>
  withoutTree(screen) ?? (screen.pinned ? undefined : 'No token is pinned.')

/** All commands of the group page, in the order in which they are listed. */
export const GROUP_COMMANDS: readonly GroupCommand[] = [
  {
    name: 'decisive',
    title: 'Decisive token, or the largest difference',
    group: 'Tree',
    keys: ['d'],
    obstacle: (screen) =>
      withoutTree(screen) ??
      (screen.tree?.forest.decisive
        ? undefined
        : 'No branches can be compared: that needs two rewards in each of two branches, with different means.'),
    run: ({ tree, onPin }) => tree && onPin(decisiveSpot(tree)),
  },
  {
    name: 'next-largest',
    title: 'Next largest value of the colour; with advantage, next largest difference in mean reward',
    group: 'Tree',
    keys: ['n'],
    obstacle: withoutTree,
    run: toNextLargest,
  },
  {
    name: 'next-split',
    title: 'Next split',
    group: 'Tree',
    keys: [']'],
    obstacle: withoutSplit,
    run: (screen) => toSplit(screen, 1),
  },
  {
    name: 'previous-split',
    title: 'Previous split',
    group: 'Tree',
    keys: ['['],
    obstacle: withoutSplit,
    run: (screen) => toSplit(screen, -1),
  },
  {
    name: 'unpin',
    title: 'Unpin the token',
    group: 'Tree',
    keys: ['Escape'],
    obstacle: withoutPin,
    run: ({ onPin }) => onPin(undefined),
  },
  {
    name: 'branch-here',
    title: 'Open the pinned token in the inspector, to branch there',
    group: 'Tree',
    keys: ['b'],
    obstacle: withoutPin,
    run: ({ page }) => page.branchHere?.(),
  },
  {
    name: 'fold',
    title: 'Fold or unfold the branch of the pinned token',
    group: 'Folds',
    keys: ['z'],
    obstacle: withoutPin,
    run: (screen) => toggle(screen, 'folded'),
  },
  {
    name: 'whole',
    title: 'Show or hide the tokens in the middle of the branch',
    group: 'Folds',
    keys: ['x'],
    obstacle: withoutPin,
    run: (screen) => toggle(screen, 'whole'),
  },
  {
    name: 'fold-to-splits',
    title: 'Fold to splits; again: restore the default folds',
    group: 'Folds',
    keys: ['Z'],
    obstacle: withoutTree,
    run: ({ tree, modes, onModes }) => {
      if (!tree) return
      const splits = foldedToSplits(tree)
      onModes(isSame(splits, modes) ? NO_MODES : splits)
    },
  },
  {
    name: 'colour-advantage',
    title: 'Colour by advantage',
    group: 'View',
    keys: ['a'],
    run: ({ onView }) => onView({ colour: ADVANTAGE, limit: undefined }),
  },
  {
    name: 'toggle-mask',
    title: 'Toggle colour by loss mask',
    group: 'View',
    keys: ['m'],
    run: ({ view, onView }) => onView({ colour: maskToggled(view.colour), limit: undefined }),
  },
  {
    name: 'boundaries',
    title: 'Toggle token boundaries',
    group: 'View',
    run: ({ options, onOptions }) => onOptions({ ...options, showsBoundaries: !options.showsBoundaries }),
  },
  { name: 'legend', title: 'Show legend', group: 'View', keys: ['L'], run: ({ page }) => page.showLegend() },
  ...LIST_COMMANDS,
  {
    name: 'compare-branches',
    title: 'Compare the branches with the largest difference',
    group: 'Group',
    obstacle: ({ page }) => (page.compareBranches ? undefined : 'No branches differ in mean reward.'),
    run: ({ page }) => page.compareBranches?.(),
  },
  {
    name: 'select-all',
    title: 'Select all samples',
    group: 'Group',
    obstacle: ({ view }) => (view.brush ? undefined : 'All samples are selected.'),
    run: ({ onView }) => onView({ brush: undefined }),
  },
  {
    name: 'export',
    title: 'Export the samples…',
    group: 'Group',
    keys: ['e'],
    obstacle: ({ page }) => (page.exportFile ? undefined : 'There is nothing to export yet.'),
    run: ({ page }) => page.exportFile?.(),
  },
  { name: 'open', title: 'Open a file…', group: 'Group', run: ({ page }) => page.openFile() },
  {
    name: 'copy-link',
    title: 'Copy a link to this view',
    group: 'Group',
    keys: ['l'],
    run: async ({ page, say }) => say(await copyAndDescribe(page.link(), 'Link copied.')),
  },
]

function toSplit({ tree, pinned, onPin, say }: GroupScreenState, step: 1 | -1): void {
  const spot = tree && splitAfter(tree, pinned, step)
  if (spot) onPin(spot)
  else say(step === 1 ? 'No further split.' : 'No split before this one.')
}

function toggle({ tree, pinned, modes, onModes }: GroupScreenState, mode: 'folded' | 'whole'): void {
  const branch = pinned && tree?.branches[pinned.branch]
  if (tree && branch) onModes(withToggled(tree, modes, branch, mode))
}

const isSame = (a: BranchModes, b: BranchModes): boolean =>
  a.size === b.size && [...a].every(([name, mode]) => b.get(name) === mode)

/** Tokens among which the key for the next largest value walks. */
const MOST_LARGEST = 100

/** Pins the next largest difference between branches, or the next largest value of the sample whose token is pinned. */
function toNextLargest({ tree, trajectories, view, pinned, onPin, say }: GroupScreenState): void {
  if (!tree) return
  if (view.colour === ADVANTAGE) {
    const spot = spotAfter(splitsByDifference(tree), pinned)
    if (spot) onPin(spot)
    else say('No split has branches with different mean rewards of at least two samples each.')
    return
  }
  const sample = view.pinned?.sample ?? tree.branches[tree.roots[0] ?? 0]?.sample ?? 0
  const trajectory = trajectories.get(sample)
  const mode = trajectory && colourModeNamed(trajectory, view.colour)
  if (!trajectory || mode?.kind !== 'number') {
    say('This colour has no order. Choose a number, such as logprob.')
    return
  }
  const scale = colourScale(trajectory, mode)
  const origin = scale.kind === 'number' ? scale.axis.origin : 0
  const spots = tokensByValue(trajectory, mode, origin, MOST_LARGEST).flatMap(
    (token) => spotOfSample(tree, sample, token) ?? [],
  )
  const spot = spotAfter(spots, pinned)
  if (spot) onPin(spot)
  else say(`Sample ${sample + 1} has no value of this colour.`)
}
