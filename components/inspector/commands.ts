/**
 * Everything that the inspector can be told to do, in one table: its keys run it, the palette finds it, the list of keys
 * shows it. Keys are written as in key-name.ts, and act while the token view has the focus.
 */

import { segmentStarts, tokenCount } from '#lib/core/tokens.ts'
import { colourGroups, colourModeNamed, heatToggled, maskToggled } from '../trajectory/colour/modes.ts'
import { allToggled, foldToggledAt, thinksToggled } from '../trajectory/folding.ts'
import { GRID_MOVES, type GridMove, type GridPlace, moved, SELECT_ALL, widened } from '../trajectory/grid-keys.ts'
import { type GridOptions, resized } from '../trajectory/grid-options.ts'
import { selectedIds, selectedJson, selectedText } from '../trajectory/selected-tokens.ts'
import { type Selection, single } from '../trajectory/selection.ts'
import { copiedNote } from '../trajectory/use-copy.ts'
import { copyText } from '../ui/copy-text.ts'
import { INSPECTOR_TABS, type Inspection, TAB_TITLES } from './inspection.ts'
import { markAfter } from './next-mark.ts'
import type { OfferName, Offers } from './offers.ts'

/** What commands act on. */
export interface CommandScreen {
  readonly inspection: Inspection
  readonly offers: Offers
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
  readonly page: PageActions
}

/** What the page around the inspector does. */
interface PageActions {
  readonly openFile: () => void
  /** Undefined where there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  readonly showKeys: () => void
  readonly showPalette: () => void
  /** Shows the tokens and their tools, at once. */
  readonly showTools: () => void
  /** Undefined where there is no address yet that leads back here. */
  readonly link: () => string | undefined
  readonly saveOffline: () => void
}

export interface Command {
  readonly name: string
  readonly title: string
  readonly group: CommandGroup
  /** Omitted: it has none. */
  readonly keys?: readonly string[]
  /** Its keys are answered elsewhere: by the browser, or by the page. */
  readonly hasOwnKeys?: boolean
  /** Why it cannot be done now; undefined: it can. Omitted: it always can. */
  readonly obstacle?: (screen: CommandScreen) => string | undefined
  readonly run: (screen: CommandScreen) => void
}

export const COMMAND_GROUPS = ['Move', 'Choose', 'Find', 'Colour', 'View', 'Tabs', 'Copy', 'Trajectory'] as const
type CommandGroup = (typeof COMMAND_GROUPS)[number]

const obstacleAtToken = ({ inspection }: CommandScreen) =>
  inspection.view.selection === undefined ? 'No token is chosen.' : undefined
const obstacleWithout =
  (offer: OfferName, reason: string) =>
  ({ offers }: CommandScreen) =>
    offers[offer] ? undefined : reason

export const COMMANDS: readonly Command[] = [
  ...GRID_MOVES.map(
    (move): Command => ({
      name: move.name,
      title: move.title,
      group: 'Move',
      keys: move.keys,
      run: (screen) => step(screen, move, false),
    }),
  ),
  { name: 'next-drift', title: 'Next drift', group: 'Move', keys: [']'], run: (screen) => toDrift(screen, 1) },
  { name: 'previous-drift', title: 'Previous drift', group: 'Move', keys: ['['], run: (screen) => toDrift(screen, -1) },

  {
    name: 'extend',
    title: 'One token more; likewise with every other arrow, Page, Home and End',
    group: 'Choose',
    keys: ['Shift+ArrowRight'],
    run: (screen) => step(screen, GRID_MOVES[0] as GridMove, true),
  },
  {
    name: 'choose-all',
    title: 'All tokens of the segment; once more: of the trajectory',
    group: 'Choose',
    keys: [SELECT_ALL],
    run: (screen) => {
      const place = placeOf(screen)
      if (place) screen.inspection.onSelect(widened(place), 'tokens')
    },
  },
  {
    name: 'let-go',
    title: 'Let go: of several tokens one stays, then none',
    group: 'Choose',
    keys: ['Escape'],
    obstacle: obstacleAtToken,
    run: ({ inspection }) => inspection.onSelect(undefined),
  },

  {
    name: 'find',
    title: 'Find …',
    group: 'Find',
    keys: ['/'],
    run: ({ page, offers }) => {
      page.showTools()
      offers.find?.()
    },
  },
  {
    name: 'next-hit',
    title: 'Next hit',
    group: 'Find',
    keys: ['n'],
    obstacle: obstacleWithout('next-hit', 'Nothing is found to go to.'),
    run: ({ offers }) => offers['next-hit']?.(),
  },
  {
    name: 'previous-hit',
    title: 'Previous hit',
    group: 'Find',
    keys: ['p'],
    obstacle: obstacleWithout('previous-hit', 'Nothing is found to go to.'),
    run: ({ offers }) => offers['previous-hit']?.(),
  },

  {
    name: 'toggle-mask',
    title: 'Colour by loss mask, or no longer',
    group: 'Colour',
    keys: ['m'],
    run: ({ inspection }) => colour(inspection, maskToggled(inspection.view.colour)),
  },
  {
    name: 'toggle-heat',
    title: 'Colour by surprise, or no longer',
    group: 'Colour',
    keys: ['h'],
    run: ({ inspection }) =>
      colour(inspection, heatToggled(colourModeNamed(inspection.trajectory, inspection.view.colour))),
  },

  {
    name: 'fold',
    title: 'Fold or unfold the think block or segment here',
    group: 'View',
    keys: ['z'],
    obstacle: obstacleAtToken,
    run: ({ inspection: { folds, onFolds, trajectory, view } }) => {
      if (view.selection) onFolds(foldToggledAt(folds, trajectory, view.selection.focus))
    },
  },
  {
    name: 'fold-all',
    title: 'Fold or unfold all segments',
    group: 'View',
    keys: ['Z'],
    run: ({ inspection: { folds, onFolds, trajectory } }) => onFolds(allToggled(folds, trajectory)),
  },
  {
    name: 'fold-thinks',
    title: 'Fold or unfold all think blocks',
    group: 'View',
    run: ({ inspection: { folds, onFolds, trajectory } }) => onFolds(thinksToggled(folds, trajectory)),
  },
  {
    name: 'whitespace',
    title: 'Marks for spaces and line ends, or none',
    group: 'View',
    keys: ['w'],
    run: ({ options, onOptions }) => onOptions({ ...options, showsWhitespace: !options.showsWhitespace }),
  },
  {
    name: 'larger',
    title: 'Larger text',
    group: 'View',
    keys: ['+', '='],
    run: ({ options, onOptions }) => onOptions(resized(options, 1)),
  },
  {
    name: 'smaller',
    title: 'Smaller text',
    group: 'View',
    keys: ['-'],
    run: ({ options, onOptions }) => onOptions(resized(options, -1)),
  },
  {
    name: 'palette',
    title: 'All commands',
    group: 'View',
    keys: ['Mod+k'],
    hasOwnKeys: true,
    run: ({ page }) => page.showPalette(),
  },
  {
    name: 'keys',
    title: 'These keys',
    group: 'View',
    keys: ['?'],
    hasOwnKeys: true,
    run: ({ page }) => page.showKeys(),
  },

  ...INSPECTOR_TABS.map(
    (tab): Command => ({
      name: `tab-${tab}`,
      title: `Show ${TAB_TITLES[tab]}`,
      group: 'Tabs',
      run: ({ inspection: { onView, grid } }) => {
        onView({ tab })
        if (tab === 'tokens') grid.current?.focus()
      },
    }),
  ),

  {
    name: 'copy-text',
    title: 'Copy the text of the chosen tokens',
    group: 'Copy',
    keys: ['Mod+c'],
    hasOwnKeys: true,
    obstacle: obstacleAtToken,
    run: (screen) => {
      const copied = withSelection(screen, selectedText)
      if (copied) copy(screen, copied.text, copiedNote(copied))
    },
  },
  {
    name: 'copy-ids',
    title: 'Copy the ids of the chosen tokens',
    group: 'Copy',
    obstacle: obstacleAtToken,
    run: (screen) => copy(screen, withSelection(screen, selectedIds)?.join(', '), 'Ids copied.'),
  },
  {
    name: 'copy-json',
    title: 'Copy the chosen tokens as JSON',
    group: 'Copy',
    obstacle: obstacleAtToken,
    run: (screen) => copy(screen, withSelection(screen, selectedJson), 'Copied as JSON.'),
  },
  {
    name: 'copy-link',
    title: 'Copy a link to this view',
    group: 'Copy',
    keys: ['c'],
    obstacle: ({ page }) => (page.link() === undefined ? 'A trajectory that is not stored has no link.' : undefined),
    run: (screen) => copy(screen, screen.page.link(), 'Link copied.'),
  },

  {
    name: 'export',
    title: 'Export …',
    group: 'Trajectory',
    keys: ['e'],
    obstacle: ({ page }) => (page.exportFile ? undefined : 'There is nothing to export yet.'),
    run: ({ page }) => page.exportFile?.(),
  },
  {
    name: 'save-offline',
    title: 'Save as one HTML file that opens without a server',
    group: 'Trajectory',
    run: ({ page }) => page.saveOffline(),
  },
  {
    name: 'verify',
    title: 'Verify on a server',
    group: 'Trajectory',
    obstacle: obstacleWithout('verify', 'This trajectory cannot be scored again here.'),
    run: ({ offers }) => offers.verify?.(),
  },
  {
    name: 'fork',
    title: 'Fork here',
    group: 'Trajectory',
    keys: ['f'],
    obstacle: () => 'Forking at a token is not available yet.',
    run: () => {},
  },
  { name: 'open', title: 'Open a file …', group: 'Trajectory', run: ({ page }) => page.openFile() },
]

/** The command of a key; undefined: it has none here. */
export const commandOfKey = (key: string): Command | undefined =>
  COMMANDS.find(({ keys, hasOwnKeys }) => !hasOwnKeys && keys?.includes(key))

/** Does what can be done, and says what cannot. */
export function runCommand(command: Command, screen: CommandScreen): void {
  const obstacle = command.obstacle?.(screen)
  if (obstacle === undefined) command.run(screen)
  else screen.inspection.say(obstacle)
}

/** Those that depend on the trajectory: its colours, and the places that a number names. */
export function furtherCommands(screen: CommandScreen, typed: string): readonly Command[] {
  const { trajectory } = screen.inspection
  const number = /^\d{1,9}$/.test(typed.trim()) ? Number(typed) : undefined
  const starts = segmentStarts(trajectory)
  const place = (what: string, token: number): Command => ({
    name: `go-${what}`,
    title: `Go to ${what} ${number}`,
    group: 'Move',
    run: ({ inspection }) => inspection.onSelect(single(token), 'tokens'),
  })
  return [
    ...(number !== undefined && number < tokenCount(trajectory) ? [place('token', number)] : []),
    ...(number !== undefined && number < starts.length - 1 ? [place('segment', starts[number] as number)] : []),
    ...colourGroups(trajectory).flatMap(({ choices }) =>
      choices.map(
        ({ name, title, missing }): Command => ({
          name: `colour-${name}`,
          title: name === 'none' ? 'Colour by nothing' : `Colour by ${title}`,
          group: 'Colour',
          obstacle: () => (missing === undefined ? undefined : `This trajectory: ${missing}.`),
          run: ({ inspection }) => colour(inspection, name),
        }),
      ),
    ),
  ]
}

const colour = ({ onView }: Inspection, name: string): void => onView({ colour: name, limit: undefined })

function placeOf({ inspection: { grid, trajectory, view } }: CommandScreen): GridPlace | undefined {
  const layout = grid.current?.layout()
  const sight = grid.current?.sight()
  if (!layout || !sight) return undefined
  const pageLines = Math.max(1, Math.floor(((sight.end - sight.start) * layout.height) / layout.rowHeight) - 2)
  return { layout, count: tokenCount(trajectory), selection: view.selection, pageLines }
}

function step(screen: CommandScreen, move: GridMove, isExtending: boolean): void {
  const place = placeOf(screen)
  const chosen = place && moved(move, place, isExtending)
  if (chosen) screen.inspection.onSelect(chosen.selection, 'tokens')
}

function toDrift({ inspection }: CommandScreen, direction: 1 | -1): void {
  const { marks, view, onSelect, say } = inspection
  const ranges = marks.find(({ kind }) => kind === 'drift')?.ranges
  if (!ranges || ranges.length === 0) {
    say('No drift is known here.')
    return
  }
  const range = markAfter(ranges, view.selection, direction)
  if (range) onSelect({ anchor: range.start, focus: range.end - 1 }, 'tokens')
  else say(direction === 1 ? 'No further drift.' : 'No drift before this.')
}

const withSelection = <T>(
  { inspection: { trajectory, view } }: CommandScreen,
  of: (trajectory: Inspection['trajectory'], selection: Selection) => T,
): T | undefined => view.selection && of(trajectory, view.selection)

async function copy({ inspection: { say } }: CommandScreen, text: string | undefined, done: string): Promise<void> {
  if (text === undefined) return
  say((await copyText(text)) ? done : 'The browser refused to copy.')
}
