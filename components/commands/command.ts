/** Commands of a page, run by keys or from the palette. Each page has one table of commands. */

/** A command; `Screen` is the state that it reads and changes. */
export interface Command<Screen, Group extends string = string> {
  readonly name: string
  readonly title: string
  readonly group: Group
  /** Keys, written as in key-name.ts. Omitted: none. */
  readonly keys?: readonly string[]
  /** Whether its keys are handled elsewhere: by the browser, or by the page. */
  readonly hasOwnKeys?: boolean
  /** Returns why the command cannot run now; undefined if it can. Omitted: it always can. */
  readonly obstacle?: (screen: Screen) => string | undefined
  readonly run: (screen: Screen) => void
}

/** Runs the command, or says why it cannot run. */
export function executeCommand<Screen>(command: Command<Screen>, screen: Screen, say: (message: string) => void): void {
  const obstacle = command.obstacle?.(screen)
  if (obstacle === undefined) command.run(screen)
  else say(obstacle)
}

/** Returns the command of a key; undefined if the table has none. */
export const commandOfKey = <Screen>(commands: readonly Command<Screen>[], key: string): Command<Screen> | undefined =>
  commands.find(({ keys, hasOwnKeys }) => !hasOwnKeys && keys?.includes(key))

/** Functions that show the lists of commands, on every page with commands. */
export interface CommandLists {
  readonly showKeys: () => void
  readonly showPalette: () => void
  readonly showHelp: () => void
}

/** Commands of every page: the palette, the list of keys and the help. */
export const LIST_COMMANDS: readonly Command<{ readonly page: CommandLists }, 'View'>[] = [
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
    title: 'Keyboard shortcuts',
    group: 'View',
    keys: ['?'],
    hasOwnKeys: true,
    run: ({ page }) => page.showKeys(),
  },
  {
    name: 'help',
    title: 'Help: the documentation of this page',
    group: 'View',
    run: ({ page }) => page.showHelp(),
  },
]

/** A group in the list of keys. */
export interface KeyGroup {
  readonly heading: string
  readonly keys: readonly { readonly names: readonly string[]; readonly what: string }[]
}

/** Returns the keys of a table by group, for the list of keys. */
export const keyGroups = <Group extends string>(
  groups: readonly Group[],
  commands: readonly Pick<Command<never, Group>, 'title' | 'group' | 'keys'>[],
): readonly KeyGroup[] =>
  groups
    .map((heading) => ({
      heading,
      keys: commands.flatMap(({ group, title, keys }) =>
        group === heading && keys ? [{ names: keys, what: title }] : [],
      ),
    }))
    .filter(({ keys }) => keys.length > 0)
