/** The head of a branch: how many samples take it, their mean reward with its interval, their advantage and their numbers. */
import {
  createPart,
  type PooledElement,
  setData,
  setStyle,
  setText,
} from '#components/token-view/grid/token-picture.ts'
import { countText } from '#components/token-view/numbers.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { advantageColour } from '../colour.ts'
import type { SampleBranch, SampleTree } from '../tree.ts'
import { advantageText, branchChips, type Chip, estimateInterval, meanText } from '../words.ts'
import { DEEPEST_INDENT, type TreePicture } from './tree-picture.ts'

/** Elements of the head of a branch. */
export interface BranchHead extends PooledElement {
  readonly fold: HTMLElement
  readonly level: HTMLElement
  readonly count: HTMLElement
  readonly plot: HTMLElement
  readonly mean: HTMLElement
  readonly interval: HTMLElement
  readonly advantage: HTMLElement
  readonly chips: HTMLElement
  readonly samples: HTMLElement
  painted: { readonly branch: SampleBranch; readonly picture: TreePicture } | undefined
}

/** Returns new, empty elements for the head of a branch. */
export function makeHead(): BranchHead {
  const element = createPart('div', 'branch-head')
  element.role = 'row'
  const cell = createPart('div', 'branch-head-cell')
  cell.role = 'gridcell'
  const fold = createPart('button', 'branch-fold')
  fold.tabIndex = -1
  fold.ariaHidden = 'true'
  const part = (name: string) => createPart('span', name)
  const [level, count, plot] = [part('branch-level'), part('branch-count'), part('branch-plot')]
  const [mean, interval, advantage] = [part('branch-mean'), part('branch-interval'), part('branch-advantage')]
  const [chips, samples] = [part('branch-chips'), part('branch-samples')]
  plot.ariaHidden = samples.ariaHidden = 'true'
  cell.append(fold, level, count, plot, mean, interval, advantage, chips, samples)
  element.append(cell)
  return { element, fold, level, count, plot, mean, interval, advantage, chips, samples, painted: undefined }
}

/** Most numbers of samples in a head; the others are counted. */
const MOST_NUMBERS = 12
const FEWEST_NUMBERS = 3
/** Widths of the parts of a head with the space after each, in pixels. Those of texts are usual ones. */
const WIDTHS = { number: 25, fold: 20, level: 53, count: 78, plot: 88, mean: 38, interval: 68, advantage: 118 }
const LABEL_WIDTH = 20
const LETTER_WIDTH = 6.2

/** Returns how many samples the head of a branch lists in this width, and whether it lacks space for its plot. */
function headSpace({ level, samples, reward, advantage }: SampleBranch, labels: readonly Chip[], width: number) {
  const { number, fold, count, plot, mean } = WIDTHS
  const parts =
    fold +
    count +
    mean +
    (level > DEEPEST_INDENT ? WIDTHS.level : 0) +
    (reward ? plot + WIDTHS.interval : 0) +
    (advantage === null ? 0 : WIDTHS.advantage) +
    labels.reduce((sum, { text }) => sum + LABEL_WIDTH + LETTER_WIDTH * text.length, 0)
  const isNarrow = width - parts < number * Math.min(samples.length, MOST_NUMBERS)
  const fitting = Math.floor((width - parts + (isNarrow ? plot : 0)) / number)
  return { isNarrow, mostNumbers: Math.max(FEWEST_NUMBERS, Math.min(MOST_NUMBERS, fitting)) }
}

/** Writes a branch into its head. */
export function paintHead(
  head: BranchHead,
  branch: SampleBranch,
  isFolded: boolean,
  top: number,
  picture: TreePicture,
): void {
  const { element, fold, level, count, plot, mean, interval, advantage, chips, samples } = head
  setStyle(element, 'transform', `translateY(${top}px)`)
  setText(fold, isFolded ? '▸' : '▾')
  const { painted } = head
  if (
    painted?.branch === branch &&
    painted.picture.rows.tree === picture.rows.tree &&
    painted.picture.chosen === picture.chosen &&
    painted.picture.indentOf === picture.indentOf &&
    painted.picture.width === picture.width
  )
    return
  head.painted = { branch, picture }
  const { tree } = picture.rows
  const { reward } = branch
  const all = tree.forest.samples.length
  const indent = picture.indentOf(branch)
  const labels = branchChips(tree, branch)
  const { isNarrow, mostNumbers } = headSpace(branch, labels, picture.width - indent)
  element.style.left = `${indent}px`
  setData(element, 'narrow', String(isNarrow))
  setData(element, 'branch', String(branch.index))
  setData(element, 'dim', String(isDimmed(branch, picture.chosen)))
  setText(level, branch.level > DEEPEST_INDENT ? `level ${branch.level}` : '')
  setText(count, `${countText(branch.samples.length)} of ${countText(all)}`)
  plot.replaceChildren(...(reward && tree.forest.rewards ? [intervalPlot(reward, tree.forest.rewards.range)] : []))
  setText(mean, reward ? meanText(reward.mean) : 'no reward')
  setText(interval, reward ? estimateInterval(reward) : '')
  setText(advantage, advantageText(branch.advantage))
  chips.title = labels.map(({ text }) => text).join(', ')
  chips.replaceChildren(
    ...labels.map(({ text, look }) => {
      const chip = createPart('span', 'branch-chip')
      chip.dataset.look = look
      chip.textContent = text
      return chip
    }),
  )
  samples.replaceChildren(...sampleNumbers(tree, branch, picture, mostNumbers))
}

/** Returns whether a branch has none of the chosen samples. */
export const isDimmed = ({ samples }: SampleBranch, chosen: ReadonlySet<number> | undefined): boolean =>
  chosen !== undefined && !samples.some((sample) => chosen.has(sample))

/** Returns the sentence that a screen reader speaks for the head of a branch. */
export function headSentence(tree: SampleTree, branch: SampleBranch): string {
  const { samples, reward, advantage } = branch
  return [
    `branch with ${countText(samples.length)} of ${countText(tree.forest.samples.length)} samples`,
    reward ? `mean reward ${meanText(reward.mean)} ${estimateInterval(reward)}`.trim() : 'no reward',
    advantageText(advantage),
    ...branchChips(tree, branch).map(({ text }) => text),
    `samples ${samples
      .slice(0, MOST_NUMBERS)
      .map((index) => index + 1)
      .join(', ')}${samples.length > MOST_NUMBERS ? ' and more' : ''}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function sampleNumbers(
  tree: SampleTree,
  { samples }: SampleBranch,
  { chosen, farthest }: TreePicture,
  most: number,
): readonly HTMLElement[] {
  const numbered = samples.length > most ? samples.slice(0, most - 1) : samples
  const numbers = numbered.map((index) => {
    const number = createPart('span', 'sample-number')
    number.dataset.sample = String(index)
    number.textContent = String(index + 1)
    number.style.background = advantageColour(elementAt(tree.forest.samples, index).tokenAdvantage, farthest) ?? ''
    if (chosen && !chosen.has(index)) number.dataset.dim = 'true'
    return number
  })
  if (numbered.length === samples.length) return numbers
  const more = createPart('span', 'branch-interval')
  more.textContent = `+${countText(samples.length - numbered.length)}`
  return [...numbers, more]
}

const WIDTH = 80
const HEIGHT = 14
const INSET = 4
const SVG = 'http://www.w3.org/2000/svg'

/** Returns a drawing of a mean with its interval between the smallest and the largest reward. */
function intervalPlot(
  { known, mean, interval }: NonNullable<SampleBranch['reward']>,
  { low, high }: { readonly low: number; readonly high: number },
): SVGElement {
  const x = (value: number) => INSET + (high > low ? (value - low) / (high - low) : 0.5) * (WIDTH - 2 * INSET)
  const middle = HEIGHT / 2 + 0.5
  const svg = shape('svg', { width: WIDTH, height: HEIGHT })
  svg.append(
    line(INSET, middle, WIDTH - INSET, middle, 'var(--line)', 1),
    line(INSET + 0.5, 4, INSET + 0.5, 11, 'var(--line-strong)', 1),
    line(WIDTH - INSET - 0.5, 4, WIDTH - INSET - 0.5, 11, 'var(--line-strong)', 1),
    ...(known > 1 ? [line(x(interval.low), middle, x(interval.high), middle, 'var(--ink)', 2)] : []),
    shape('circle', { cx: x(mean), cy: middle, r: 3.5, fill: 'var(--ink)', stroke: 'var(--ground)' }),
  )
  return svg
}

const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, width: number): SVGElement =>
  shape('line', { x1, y1, x2, y2, stroke, 'stroke-width': width })

function shape(name: string, attributes: Readonly<Record<string, number | string>>): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  return element
}
