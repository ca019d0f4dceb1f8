/** A command of the inspector, and what it acts on. */

import type { Command, CommandLists } from '#components/commands/command.ts'
import type { GridOptions } from '#components/token-view/grid-options.ts'
import type { Inspection } from '../inspection.ts'
import type { PanelCommands } from '../selection/panel-commands.ts'

/** What commands act on. */
export interface CommandScreen {
  readonly inspection: Inspection
  readonly offers: PanelCommands
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
  readonly page: PageActions
}

/** What the page around the inspector does. */
interface PageActions extends CommandLists {
  readonly openFile: () => void
  /** Undefined where there is nothing to export. */
  readonly exportFile: (() => void) | undefined
  /** Shows the tokens and their tools, at once. */
  readonly showTools: () => void
  /** Undefined where there is no address yet that leads back here. */
  readonly link: () => string | undefined
  readonly copyImage: () => void
  readonly saveOffline: () => void
  /** Undefined in the inspector itself, and while a run is under way. */
  readonly openInspector?: (() => void) | undefined
  /** Opens the trajectory beside this one in its list; undefined where there is none. */
  readonly openBeside?: { readonly previous: (() => void) | undefined; readonly next: (() => void) | undefined }
  /** What the marks of the token view mean. */
  readonly showLegend: () => void
}

export const COMMAND_GROUPS = ['Move', 'Select', 'Find', 'Colour', 'View', 'Tabs', 'Copy', 'Trajectory'] as const

export type InspectorCommand = Command<CommandScreen, (typeof COMMAND_GROUPS)[number]>
