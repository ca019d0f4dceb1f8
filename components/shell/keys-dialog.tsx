import { usePathname } from 'next/navigation'
import { type KeyGroup, keyGroups } from '#components/commands/command.ts'
import { isMac } from '#components/commands/is-mac.ts'
import { COMPARE_COMMANDS, COMPARE_GROUPS } from '#components/compare/commands.ts'
import { LANE_MOVES } from '#components/compare/lanes/lane-keys.ts'
import { GROUP_COMMANDS, GROUP_GROUPS } from '#components/group/commands.ts'
import { TREE_MOVES } from '#components/group/tree/tree-keys.ts'
import { COMMAND_GROUPS } from '#components/inspector/commands/command.ts'
import { COMMANDS } from '#components/inspector/commands/commands.ts'
import { RUN_COMMANDS } from '#components/inspector/commands/run-commands.ts'
import { SESSION_COMMANDS, SESSION_GROUPS } from '#components/sessions/commands.ts'
import { GRID_MOVES, SELECT_ALL } from '#components/token-view/grid/grid-keys.ts'
import { keyLabel } from '#components/token-view/key-name.ts'
import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { helpHref } from './pages.ts'

/** Lists the keyboard shortcuts of the current page. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const path = usePathname()
  const groups = groupsOf(path)
  const isOnMac = isMac()
  return (
    <Dialog title="Keyboard shortcuts" width={groups.length > 3 ? 'wide' : 'plain'} onClose={onClose}>
      <div className={groups.length > 3 ? 'gap-x-8 md:columns-2' : ''}>
        {groups.map(({ heading, keys }) => (
          <section key={heading} className="mb-4 break-inside-avoid">
            <Heading>{heading}</Heading>
            <dl className="grid grid-cols-[8.5rem_1fr] gap-y-1 text-sm">
              {keys.map(({ names, what }) => (
                <div key={what} className="contents">
                  <dt className="flex flex-wrap gap-x-2">
                    {names.map((name) => (
                      <kbd key={name} className="whitespace-nowrap font-mono text-dim">
                        {keyLabel(name, isOnMac)}
                      </kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="text-sm">
        <a
          href={helpHref(path)}
          target="_blank"
          rel="noopener"
          className="inline-flex min-h-6 items-center font-medium text-accent hover:underline"
        >
          Documentation of this page
        </a>
      </p>
    </Dialog>
  )
}

function groupsOf(path: string): readonly KeyGroup[] {
  if (['/t/', '/example/', '/open', '/file/'].some((start) => path.startsWith(start)))
    return [
      ...keyGroups(COMMAND_GROUPS, COMMANDS),
      {
        heading: 'Pointer',
        keys: [
          { names: ['Shift+click'], what: 'Select all tokens up to there' },
          { names: ['double click'], what: 'Select the enclosing argument, call, think block or segment' },
          { names: ['one more click'], what: 'Select the next larger part' },
        ],
      },
    ]
  if (path === '/compare') return [...keyGroups(COMPARE_GROUPS, COMPARE_COMMANDS), LANES]
  if (path.startsWith('/group')) return [...keyGroups(GROUP_GROUPS, GROUP_COMMANDS), TREE]
  if (path.startsWith('/templates')) return [LAB, TOKENS, ANYWHERE]
  if (path.startsWith('/library')) return [ROWS, LIBRARY, ANYWHERE]
  if (path.startsWith('/sessions')) return [...keyGroups(SESSION_GROUPS, SESSION_COMMANDS), TOKENS, ANYWHERE]
  if (path === '/file') return [ROWS, ANYWHERE]
  return path === '/' ? [PLAYGROUND, ...keyGroups(COMMAND_GROUPS, RUN_COMMANDS)] : [ANYWHERE]
}

const ANYWHERE: KeyGroup = { heading: 'Anywhere', keys: [{ names: ['?'], what: 'Keyboard shortcuts' }] }

const PLAYGROUND: KeyGroup = { heading: 'Playground', keys: [{ names: ['Mod+Enter'], what: 'Send the question' }] }

const TOKENS: KeyGroup = {
  heading: 'Tokens',
  keys: [
    ...GRID_MOVES.map(({ title, keys }) => ({ names: keys, what: title })),
    { names: [SELECT_ALL], what: 'All tokens of the segment, then all' },
    { names: ['Mod+c'], what: 'Copy the selected text' },
    { names: ['Escape'], what: 'Clear the selection' },
  ],
}

const LANES: KeyGroup = {
  heading: 'Tokens of both sides',
  keys: [
    ...LANE_MOVES.map(({ title, keys }) => ({ names: keys, what: title })),
    { names: ['Enter'], what: 'Unfold identical tokens, or fold them again; pin the drift here' },
    { names: ['z', 'Z'], what: 'Unfold or fold here, or everywhere' },
    { names: ['Mod+c'], what: 'Copy the selected text' },
  ],
}

const TREE: KeyGroup = {
  heading: 'Tokens of the tree',
  keys: [
    ...TREE_MOVES.map(({ title, keys }) => ({ names: keys, what: title })),
    { names: ['Enter'], what: 'Fold or unfold the branch; show the tokens in its middle' },
    { names: ['Mod+c'], what: 'Copy the text of the pinned token' },
  ],
}

const LAB: KeyGroup = {
  heading: 'Template lab',
  keys: [
    { names: ['Mod+z', 'Mod+Shift+z'], what: 'Undo and redo, over all parts and revisions' },
    { names: ['Escape', 'Tab'], what: 'One after the other: leave the editor' },
    { names: ['Ctrl M'], what: 'Toggle whether Tab leaves the editor or writes a tab' },
    { names: ['Mod+f'], what: 'Search in the editor' },
    { names: ['Alt+ArrowUp', 'Alt+ArrowDown'], what: 'Move a message or tool, or a line' },
  ],
}

const ROWS: KeyGroup = {
  heading: 'Rows',
  keys: [
    { names: ['j', 'ArrowDown'], what: 'One row down' },
    { names: ['k', 'ArrowUp'], what: 'One row up' },
    { names: ['Enter'], what: 'Open the trajectory' },
    { names: ['Space', 'x'], what: 'Select or deselect it' },
  ],
}

const LIBRARY: KeyGroup = {
  heading: 'Library',
  keys: [
    { names: ['/'], what: 'Search' },
    { names: ['ArrowRight', 'ArrowLeft'], what: 'Expand or collapse a group' },
    { names: ['e'], what: 'Edit title, tags, reward, note; Esc leaves' },
    { names: ['Delete'], what: 'Delete it, or all selected' },
    { names: ['u'], what: 'Undo the last deletion' },
  ],
}
