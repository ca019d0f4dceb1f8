/**
 * All commands of the inspector in one table for the keys, the command palette and the list of keys. Keys are written as in
 * key-name.ts, and act while the token view has the focus or nothing has it.
 */

import { commandOfKey, LIST_COMMANDS } from '#components/commands/command.ts'
import { selectedHex, selectedIds, selectedJson, selectedText } from '#components/token-view/card/selected-tokens.ts'
import { copiedNote } from '#components/token-view/card/use-copy.ts'
import { colourModeNamed, heatToggled, maskToggled } from '#components/token-view/colour/modes.ts'
import { GRID_MOVES, SELECT_ALL, widenSelection } from '#components/token-view/grid/grid-keys.ts'
import { resizeText } from '#components/token-view/grid-options.ts'
import { allToggled, foldToggledAt, thinksToggled } from '#components/token-view/pieces/folding.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { INSPECTOR_TABS, TAB_TITLES } from '../inspection.ts'
import type { PanelCommandName } from '../selection/panel-commands.ts'
import type { CommandScreen, InspectorCommand } from './command.ts'
import {
  colour,
  copy,
  gridPlaceOf,
  showTab,
  step,
  toDrift,
  toNextLargest,
  toPreviousLargest,
  withSelection,
} from './command-steps.ts'

const obstacleAtToken = ({ inspection }: CommandScreen) =>
  inspection.view.selection === undefined ? 'No token is selected.' : undefined
const obstacleWithout =
  (offer: PanelCommandName, reason: string) =>
  ({ offers }: CommandScreen) =>
    offers[offer] ? undefined : reason
const obstacleOfSteps =
  (offer: PanelCommandName) =>
  ({ offers, inspection }: CommandScreen) =>
    offers[offer] || inspection.colouring.mode.kind === 'number' ? undefined : 'There are no hits.'

/** Key of the browser that copies the selected tokens. */
const COPY = 'Mod+c'

const NO_TOKEN = 'Select a single token of a stored trajectory first.'
const NO_SAMPLED_TOKEN = 'Select a single sampled token of a stored trajectory first.'

/** Commands of the inspector that every trajectory has; further-commands.ts adds those that depend on it. */
export const COMMANDS: readonly InspectorCommand[] = [
  ...GRID_MOVES.map(
    (move): InspectorCommand => ({
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
    title: 'Extend the selection by one token; likewise with every other arrow, Page, Home and End',
    group: 'Select',
    keys: ['Shift+ArrowRight'],
    run: (screen) => step(screen, elementAt(GRID_MOVES, 0), true),
  },
  {
    name: 'choose-all',
    title: 'Select all tokens of the segment; again: of the trajectory',
    group: 'Select',
    keys: [SELECT_ALL],
    run: (screen) => {
      const place = gridPlaceOf(screen)
      if (place) screen.inspection.onSelect(widenSelection(place), 'tokens')
    },
  },
  {
    name: 'let-go',
    title: 'Clear the selection, first to a single token',
    group: 'Select',
    keys: ['Escape'],
    obstacle: obstacleAtToken,
    run: ({ inspection }) => inspection.onSelect(undefined),
  },
  {
    name: 'note',
    title: 'Write a note on the selected tokens, or edit theirs',
    group: 'Select',
    keys: ['a'],
    obstacle: obstacleWithout('note', 'Select tokens of a stored trajectory first.'),
    run: ({ offers }) => offers.note?.(),
  },

  {
    name: 'find',
    title: 'Find…',
    group: 'Find',
    keys: ['/'],
    run: ({ page, offers }) => {
      page.showTools()
      offers.find?.()
    },
  },
  {
    name: 'next-hit',
    title: 'Next hit; without a search, the next largest value of the colour shown',
    group: 'Find',
    keys: ['n'],
    obstacle: obstacleOfSteps('next-hit'),
    run: (screen) => {
      const toNextHit = screen.offers['next-hit']
      if (toNextHit) toNextHit()
      else toNextLargest(screen.inspection)
    },
  },
  {
    name: 'main-finding',
    title: 'Main finding: the largest drop of the value, or where the importance ratios first jump',
    group: 'Find',
    keys: ['d'],
    obstacle: obstacleWithout(
      'main-finding',
      'Show a value estimate with a drop, or colour the tokens by importance ratio.',
    ),
    run: ({ offers }) => offers['main-finding']?.(),
  },
  {
    name: 'previous-hit',
    title: 'Previous hit; without a search, back to the next larger value',
    group: 'Find',
    keys: ['p'],
    obstacle: obstacleOfSteps('previous-hit'),
    run: (screen) => {
      const toPreviousHit = screen.offers['previous-hit']
      if (toPreviousHit) toPreviousHit()
      else toPreviousLargest(screen.inspection)
    },
  },

  {
    name: 'toggle-mask',
    title: 'Toggle colour by loss mask',
    group: 'Colour',
    keys: ['m'],
    run: ({ inspection }) => colour(inspection, maskToggled(inspection.view.colour)),
  },
  {
    name: 'toggle-heat',
    title: 'Toggle colour by surprisal',
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
    title: 'Toggle marks for spaces and line ends',
    group: 'View',
    keys: ['w'],
    run: ({ options, onOptions }) => onOptions({ ...options, showsWhitespace: !options.showsWhitespace }),
  },
  {
    name: 'boundaries',
    title: 'Toggle token boundaries',
    group: 'View',
    keys: ['b'],
    run: ({ options, onOptions }) => onOptions({ ...options, showsBoundaries: !options.showsBoundaries }),
  },
  {
    name: 'larger',
    title: 'Larger text',
    group: 'View',
    keys: ['+', '='],
    run: ({ options, onOptions }) => onOptions(resizeText(options, 1)),
  },
  {
    name: 'smaller',
    title: 'Smaller text',
    group: 'View',
    keys: ['-'],
    run: ({ options, onOptions }) => onOptions(resizeText(options, -1)),
  },
  {
    name: 'legend',
    title: 'Show legend',
    group: 'View',
    keys: ['L'],
    run: ({ page }) => page.showLegend(),
  },
  ...LIST_COMMANDS,

  ...INSPECTOR_TABS.map(
    (tab): InspectorCommand => ({
      name: `tab-${tab}`,
      title: `Show ${TAB_TITLES[tab]}`,
      group: 'Tabs',
      run: (screen) => showTab(screen, tab),
    }),
  ),

  {
    name: 'copy-text',
    title: 'Copy the text of the selected tokens',
    group: 'Copy',
    keys: [COPY],
    hasOwnKeys: true,
    obstacle: obstacleAtToken,
    run: (screen) => {
      const copied = withSelection(screen, selectedText)
      if (copied) void copy(screen, copied.text, copiedNote(copied))
    },
  },
  {
    name: 'copy-ids',
    title: 'Copy the ids of the selected tokens',
    group: 'Copy',
    obstacle: obstacleAtToken,
    run: (screen) => copy(screen, withSelection(screen, selectedIds)?.join(', '), 'Ids copied.'),
  },
  {
    name: 'copy-hex',
    title: 'Copy the bytes of the selected tokens as hex',
    group: 'Copy',
    obstacle: obstacleAtToken,
    run: (screen) => copy(screen, withSelection(screen, selectedHex), 'Bytes copied.'),
  },
  {
    name: 'copy-json',
    title: 'Copy the selected tokens as JSON',
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
    name: 'copy-python',
    title: 'Copy the run as a Python script for strands-sglang',
    group: 'Copy',
    obstacle: nothingRead,
    run: async (screen) => copy(screen, (await codeOf(screen))?.python, 'Python script copied.'),
  },
  {
    name: 'copy-curl',
    title: 'Copy the run as cURL',
    group: 'Copy',
    obstacle: nothingRead,
    run: async (screen) => copy(screen, (await codeOf(screen))?.curl, 'cURL copied.'),
  },
  {
    name: 'copy-image',
    title: 'Copy as image: the selected or visible tokens',
    group: 'Copy',
    run: ({ page }) => page.copyImage(),
  },

  ...[1, 2, 3, 4, 5].map(
    (position): InspectorCommand => ({
      name: `alternative-${position}`,
      title: `Choose alternative ${position} of the token for a branch`,
      group: 'Branch',
      keys: [String(position)],
      obstacle: obstacleWithout('alternative', NO_SAMPLED_TOKEN),
      run: ({ offers }) => offers.alternative?.(position),
    }),
  ),
  {
    name: 'resample',
    title: 'Resample from the token, as often as its card says',
    group: 'Branch',
    keys: ['r', 'R'],
    obstacle: obstacleWithout('resample', NO_TOKEN),
    run: ({ offers }) => offers.resample?.(),
  },
  {
    name: 'branch',
    title: 'Continue from the token once, as a branch',
    group: 'Branch',
    keys: ['B'],
    obstacle: obstacleWithout('branch', NO_TOKEN),
    run: ({ offers }) => offers.branch?.(),
  },
  {
    name: 'force',
    title: 'Force text or ids at the token; in a prompt, edit its message',
    group: 'Branch',
    keys: ['f', 'F'],
    obstacle: obstacleWithout('force', NO_TOKEN),
    run: ({ offers }) => offers.force?.(),
  },
  {
    name: 'cut',
    title: 'Cut at the token: a branch without further tokens',
    group: 'Branch',
    keys: ['x', 'X'],
    obstacle: obstacleWithout('cut', NO_SAMPLED_TOKEN),
    run: ({ offers }) => offers.cut?.(),
  },

  {
    name: 'value',
    title: 'Value of tokens: estimate where the reward was lost',
    group: 'Trajectory',
    keys: ['v'],
    obstacle: obstacleWithout('value', 'Store the trajectory first.'),
    run: ({ offers }) => offers.value?.(),
  },
  {
    name: 'labels',
    title: 'Edit title, reward, tags and note of the trajectory',
    group: 'Trajectory',
    keys: ['t'],
    obstacle: obstacleWithout('labels', 'Store the trajectory first.'),
    run: ({ offers }) => offers.labels?.(),
  },
  {
    name: 'export',
    title: 'Export…',
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
    obstacle: obstacleWithout('verify', 'This trajectory cannot be rescored here.'),
    run: ({ offers }) => offers.verify?.(),
  },
  {
    name: 'compare',
    title: 'Compare with retokenized',
    group: 'Trajectory',
    obstacle: ({ inspection }) =>
      inspection.onCompare ? undefined : 'A trajectory that is not stored yet cannot be compared.',
    run: ({ inspection }) => inspection.onCompare?.('messages'),
  },
  {
    name: 'next-trajectory',
    title: 'Next trajectory of the list',
    group: 'Trajectory',
    keys: ['N'],
    hasOwnKeys: true,
    obstacle: ({ page }) => (page.openBeside?.next ? undefined : 'This is the last trajectory of the list.'),
    run: ({ page }) => page.openBeside?.next?.(),
  },
  {
    name: 'previous-trajectory',
    title: 'Previous trajectory of the list',
    group: 'Trajectory',
    keys: ['P'],
    hasOwnKeys: true,
    obstacle: ({ page }) => (page.openBeside?.previous ? undefined : 'This is the first trajectory of the list.'),
    run: ({ page }) => page.openBeside?.previous?.(),
  },
  { name: 'open', title: 'Open a file…', group: 'Trajectory', run: ({ page }) => page.openFile() },
]

/** Returns whether the token view acts on a key, also with Shift, which extends the selection, or on a copy of the selected tokens. */
export const isKeyOfTokens = (key: string): boolean =>
  commandOfKey(COMMANDS, key.replace(/^Shift\+/, '')) !== undefined ||
  (key === COPY && document.getSelection()?.isCollapsed !== false)

function nothingRead({ inspection: { trajectory } }: CommandScreen): string | undefined {
  return segmentsOf(trajectory)[0]?.kind === 'prompt' ? undefined : 'The trajectory does not begin with a prompt.'
}

/** Returns the run as programs; the module is loaded only when one is copied. */
async function codeOf({ inspection }: CommandScreen) {
  return (await import('./run-code.ts')).runCode(inspection.trajectory, undefined)
}
