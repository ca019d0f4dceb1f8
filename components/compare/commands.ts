/** All commands of the compare page. Its keys, the palette and the list of keys read this table. */

import { maskToggled } from '#components/token-view/colour/modes.ts'
import type { GridOptions } from '#components/token-view/grid-options.ts'
import type { Side } from '#lib/analysis/compare/side.ts'
import type { DriftReport } from '#lib/trajectory/drift/report.ts'
import { type Command, type CommandLists, LIST_COMMANDS } from '../commands/command.ts'
import { copyAndDescribe } from '../ui/copy-text.ts'
import { type DriftFilter, driftAfter, NO_FILTER } from './drift/drift-steps.ts'
import type { DriftVocabulary } from './drift/drift-words.ts'
import { AS_TEXTS } from './sides/side-words.ts'
import type { CompareView } from './view.ts'

/** State that the commands read, and the functions by which they change it. */
export interface CompareScreenState {
  /** Undefined while nothing is compared. */
  readonly report: DriftReport | undefined
  readonly vocabulary: DriftVocabulary
  readonly right: Side | undefined
  readonly view: CompareView
  readonly onView: (change: Partial<CompareView>) => void
  /** Filter of the drift list. */
  readonly filter: DriftFilter
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
  readonly say: (message: string) => void
  readonly page: ComparePageActions
}

/** Functions of the page around the comparison that commands call. */
export interface ComparePageActions extends CommandLists {
  readonly openFile: () => void
  /** Undefined if there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly swap: () => void
  readonly chooseSide: (name: 'left' | 'right') => void
  readonly setRight: (side: Side) => void
  readonly runBaseline: () => void
  readonly link: () => string
  /** Moves the focus to the panel that scores both sides on a server. */
  readonly rescore: () => void
  /** Opens the legend of the marks in the lanes. */
  readonly showLegend: () => void
}

/** Groups of the commands, in the order of the list of keys. */
export const COMPARE_GROUPS = ['Drift', 'Sides', 'View', 'Copy'] as const
/** A command of the compare page. */
export type CompareCommand = Command<CompareScreenState, (typeof COMPARE_GROUPS)[number]>

const withoutDrift = ({ report }: CompareScreenState): string | undefined =>
  report === undefined ? 'Nothing is compared yet.' : report.spans.length === 0 ? 'There is no drift.' : undefined

/** All commands of the compare page, in the order in which they are listed. */
export const COMPARE_COMMANDS: readonly CompareCommand[] = [
  {
    name: 'next-drift',
    title: 'Next drift',
    group: 'Drift',
    keys: [']'],
    obstacle: withoutDrift,
    run: (screen) => step(screen, 1, NO_FILTER),
  },
  {
    name: 'previous-drift',
    title: 'Previous drift',
    group: 'Drift',
    keys: ['['],
    obstacle: withoutDrift,
    run: (screen) => step(screen, -1, NO_FILTER),
  },
  {
    name: 'next-of-kind',
    title: 'Next drift of the same kind, or of the kind that is listed',
    group: 'Drift',
    keys: ['n'],
    obstacle: withoutDrift,
    run: (screen) => step(screen, 1, chosenFilter(screen)),
  },
  {
    name: 'previous-of-kind',
    title: 'Previous drift of the same kind',
    group: 'Drift',
    keys: ['p'],
    obstacle: withoutDrift,
    run: (screen) => step(screen, -1, chosenFilter(screen)),
  },
  {
    name: 'let-go',
    title: 'Clear the selected drift',
    group: 'Drift',
    keys: ['Escape'],
    obstacle: ({ view }) => (view.drift === undefined ? 'No drift is selected.' : undefined),
    run: ({ onView }) => onView({ drift: undefined }),
  },

  { name: 'swap', title: 'Swap the sides', group: 'Sides', keys: ['s'], run: ({ page }) => page.swap() },
  ...(['left', 'right'] as const).map(
    (name): CompareCommand => ({
      name: `choose-${name}`,
      title: `Choose the ${name} side…`,
      group: 'Sides',
      run: ({ page }) => page.chooseSide(name),
    }),
  ),
  ...(['text', 'structured', 'raw', 'recorded'] as const).map(
    (kind): CompareCommand => ({
      name: `right-${kind}`,
      title: `Right side: ${AS_TEXTS[kind].title}`,
      group: 'Sides',
      obstacle: ({ right }) => (right === undefined ? 'No right side is chosen.' : undefined),
      run: ({ right, page }) => right && page.setRight({ key: right.key, as: { kind } }),
    }),
  ),
  {
    name: 'rescore',
    title: 'Rescore both sides on a server',
    group: 'Sides',
    keys: ['w'],
    obstacle: ({ report }) => (report ? undefined : 'Nothing is compared yet.'),
    run: ({ page }) => page.rescore(),
  },
  {
    name: 'baseline',
    title: 'Run the chat baseline…',
    group: 'Sides',
    run: ({ page }) => page.runBaseline(),
  },
  {
    name: 'export',
    title: 'Export a side…',
    group: 'Sides',
    keys: ['e'],
    obstacle: ({ page }) => (page.exportFile ? undefined : 'There is nothing to export yet.'),
    run: ({ page }) => page.exportFile?.(),
  },
  { name: 'open', title: 'Open a file…', group: 'Sides', run: ({ page }) => page.openFile() },

  {
    name: 'only-differences',
    title: 'Toggle only differences',
    group: 'View',
    keys: ['c'],
    run: ({ view, onView }) => onView({ onlyDifferences: !view.onlyDifferences }),
  },
  {
    name: 'unified',
    title: 'Toggle unified view',
    group: 'View',
    keys: ['u'],
    run: ({ view, onView }) => onView({ isUnified: !view.isUnified }),
  },
  {
    name: 'toggle-mask',
    title: 'Toggle colour by loss mask',
    group: 'View',
    keys: ['m'],
    run: ({ view, onView }) => onView({ colour: maskToggled(view.colour) }),
  },
  {
    name: 'boundaries',
    title: 'Toggle token boundaries',
    group: 'View',
    keys: ['b'],
    run: ({ options, onOptions }) => onOptions({ ...options, showsBoundaries: !options.showsBoundaries }),
  },
  {
    name: 'legend',
    title: 'Show legend',
    group: 'View',
    keys: ['L'],
    run: ({ page }) => page.showLegend(),
  },
  ...LIST_COMMANDS,

  {
    name: 'copy-link',
    title: 'Copy a link to this comparison',
    group: 'Copy',
    keys: ['l'],
    run: async ({ page, say }) => say(await copyAndDescribe(page.link(), 'Link copied.')),
  },
  {
    name: 'copy-drift',
    title: 'Copy the selected drift as JSON',
    group: 'Copy',
    obstacle: ({ report, view }) =>
      view.drift === undefined || !report?.spans[view.drift] ? 'No drift is selected.' : undefined,
    run: async ({ report, view, say }) =>
      say(await copyAndDescribe(JSON.stringify(report?.spans[view.drift ?? 0], null, 2), 'Copied as JSON.')),
  },
  {
    name: 'copy-report',
    title: 'Copy the whole drift report as JSON',
    group: 'Copy',
    obstacle: ({ report }) => (report ? undefined : 'Nothing is compared yet.'),
    run: async ({ report, say }) => say(await copyAndDescribe(JSON.stringify(report, null, 2), 'Copied as JSON.')),
  },
]

function step(
  { report, vocabulary, view, onView, say }: CompareScreenState,
  direction: 1 | -1,
  filter: DriftFilter,
): void {
  if (!report) return
  const drift = driftAfter(report, view.drift, direction, filter)
  const kind = filter.kind === undefined ? '' : ` of the kind ${vocabulary.kindText({ kind: filter.kind })}`
  if (drift !== undefined) onView({ drift })
  else say(direction === 1 ? `No further ${vocabulary.noun}${kind}.` : `No ${vocabulary.noun}${kind} before this.`)
}

/** Returns the filter of the list. If it has no kind, the kind of the chosen span is used. */
function chosenFilter({ report, view, filter }: CompareScreenState): DriftFilter {
  const chosen = view.drift === undefined ? undefined : report?.spans[view.drift]
  return { ...filter, kind: filter.kind ?? chosen?.kind }
}
