/** Type of the inspector's commands, and what they act on. */

import type { Command, CommandLists } from '#components/commands/command.ts'
import type { GridOptions } from '#components/token-view/grid-options.ts'
import type { Inspection } from '../inspection.ts'
import type { PanelCommands } from '../selection/panel-commands.ts'

/** What the commands of the inspector act on. */
export interface CommandScreen {
  readonly inspection: Inspection
  readonly offers: PanelCommands
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
  readonly page: PageActions
}

/** Actions of the page around the inspector. */
interface PageActions extends CommandLists {
  readonly openFile: () => void
  /** `undefined` means that there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  /** Shows the token tab with its search and colours, synchronously. */
  readonly showTools: () => void
  /** Returns a link to this view; undefined if the trajectory has no address yet. */
  readonly link: () => string | undefined
  readonly copyImage: () => void
  readonly saveOffline: () => void
  /** `undefined` in the inspector itself, and during a run. */
  readonly openInspector?: (() => void) | undefined
  /** Opens the neighbours of the trajectory in its list; undefined if there are none. */
  readonly openBeside?: { readonly previous: (() => void) | undefined; readonly next: (() => void) | undefined }
  /** Opens the legend of the token view. */
  readonly showLegend: () => void
}

/** Groups of commands, in the order of the list of keys. */
export const COMMAND_GROUPS = [
  'Move',
  'Select',
  'Find',
  'Colour',
  'View',
  'Tabs',
  'Copy',
  'Branch',
  'Trajectory',
] as const

/** A command of the inspector. */
export type InspectorCommand = Command<CommandScreen, (typeof COMMAND_GROUPS)[number]>
