/** Something that a page can be told to do: by a key, by the palette. A page holds its commands in one table. */

export interface Command<Screen, Group extends string = string> {
  readonly name: string
  readonly title: string
  readonly group: Group
  /** Written as in key-name.ts. Omitted: it has none. */
  readonly keys?: readonly string[]
  /** Its keys are answered elsewhere: by the browser, or by the page. */
  readonly hasOwnKeys?: boolean
  /** Why it cannot be done now; undefined: it can. Omitted: it always can. */
  readonly obstacle?: (screen: Screen) => string | undefined
  readonly run: (screen: Screen) => void
}

/** Does what can be done, and says what cannot. */
export function runCommand<Screen>(command: Command<Screen>, screen: Screen, say: (message: string) => void): void {
  const obstacle = command.obstacle?.(screen)
  if (obstacle === undefined) command.run(screen)
  else say(obstacle)
}

/** The command of a key; undefined: it has none here. */
export const commandOfKey = <Screen>(commands: readonly Command<Screen>[], key: string): Command<Screen> | undefined =>
  commands.find(({ keys, hasOwnKeys }) => !hasOwnKeys && keys?.includes(key))

/** What every page with commands can show of them. */
export interface CommandLists {
  readonly showKeys: () => void
  readonly showPalette: () => void
  readonly showHelp: () => void
}

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

export interface KeyGroup {
  readonly heading: string
  readonly keys: readonly { readonly names: readonly string[]; readonly what: string }[]
}

/** The keys of a table, group by group, for the list of keys. */
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
