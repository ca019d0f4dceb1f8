/** How much of each branch the tree shows, and how an address stores it. */
import { branchName, type SampleBranch, type SampleTree } from '../tree.ts'

/**
 * `folded`: one line that says what the branch did. `short`: its beginning and its end, and the branches after it. `whole`: every
 * token, and the branches after it.
 */
export type BranchMode = 'folded' | 'short' | 'whole'

/** The branches whose mode is not the default, by their names. */
export type BranchModes = ReadonlyMap<string, BranchMode>

/** All branches have their default modes. */
export const NO_MODES: BranchModes = new Map()

const LETTERS: Readonly<Record<BranchMode, string>> = { folded: 'f', short: 's', whole: 'w' }
const MODES: Readonly<Record<string, BranchMode>> = { f: 'folded', s: 'short', w: 'whole' }

/** Most branches in an address: a longer list would make links too long to share. */
const MOST_FOLDS = 40

/** Returns the modes as in an address, such as `3-211f.1-173w`; undefined if there are none, or too many. */
export function modesText(modes: BranchModes): string | undefined {
  if (modes.size === 0 || modes.size > MOST_FOLDS) return undefined
  return [...modes].map(([name, mode]) => `${name}${LETTERS[mode]}`).join('.')
}

/** Reads modes from an address. Parts that are no mode of a branch are ignored. */
export function readModes(text: string): BranchModes {
  const modes = new Map<string, BranchMode>()
  for (const part of text.split('.').slice(0, MOST_FOLDS)) {
    const [, name, letter = ''] = /^(\d{1,4}-\d{1,9})([fsw])$/.exec(part) ?? []
    const mode = MODES[letter]
    if (name !== undefined && mode) modes.set(name, mode)
  }
  return modes
}

/** Returns the default mode: a branch is folded if its mean reward is below that of the group and another branch of its split has a higher one. */
function defaultMode(tree: SampleTree, { reward, parent }: SampleBranch): BranchMode {
  const mean = tree.forest.rewards?.mean
  if (!reward || mean === undefined || reward.mean >= mean) return 'short'
  const siblings = parent === undefined ? tree.roots : (tree.branches[parent]?.children ?? [])
  const isLower = siblings.some((index) => (tree.branches[index]?.reward?.mean ?? reward.mean) > reward.mean)
  return isLower ? 'folded' : 'short'
}

/** Returns the mode of a branch. */
export const modeOf = (tree: SampleTree, branch: SampleBranch, modes: BranchModes): BranchMode =>
  modes.get(branchName(branch)) ?? defaultMode(tree, branch)

/** Returns the modes with another mode for a branch; its default is not stored. */
export function withMode(tree: SampleTree, modes: BranchModes, branch: SampleBranch, mode: BranchMode): BranchModes {
  const changed = new Map(modes)
  if (mode === defaultMode(tree, branch)) changed.delete(branchName(branch))
  else changed.set(branchName(branch), mode)
  return changed
}

/** Returns the modes in which a branch has this mode, or `short` if it has this mode already. */
export const withToggled = (
  tree: SampleTree,
  modes: BranchModes,
  branch: SampleBranch,
  mode: 'folded' | 'whole',
): BranchModes => withMode(tree, modes, branch, modeOf(tree, branch, modes) === mode ? 'short' : mode)

/** Returns the modes in which a branch is visible: none of those before it is folded. */
export function withVisible(tree: SampleTree, modes: BranchModes, index: number): BranchModes {
  let changed = modes
  for (let at = tree.branches[index]?.parent; at !== undefined; at = tree.branches[at]?.parent) {
    const branch = tree.branches[at]
    if (branch && modeOf(tree, branch, changed) === 'folded') changed = withMode(tree, changed, branch, 'short')
  }
  return changed
}

/** Returns the modes in which only splits are visible: each branch without a further split is folded. */
export function foldedToSplits(tree: SampleTree): BranchModes {
  let modes = NO_MODES
  for (const branch of tree.branches) {
    const isEnd = branch.children.length === 0 && branch.parent !== undefined
    modes = withMode(tree, modes, branch, isEnd ? 'folded' : 'short')
  }
  return modes
}
