/** A command of the inspector, and what it acts on. */

import type { GridOptions } from '../trajectory/grid-options.ts'
import type { Inspection } from './inspection.ts'
import type { Offers } from './offers.ts'

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
  readonly copyImage: () => void
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

/** Does what can be done, and says what cannot. */
export function runCommand(command: Command, screen: CommandScreen): void {
  const obstacle = command.obstacle?.(screen)
  if (obstacle === undefined) command.run(screen)
  else screen.inspection.say(obstacle)
}
