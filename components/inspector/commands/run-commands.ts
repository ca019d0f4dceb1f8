import type { InspectorCommand } from './command.ts'
import { COMMANDS } from './commands.ts'

/** Commands that need parts of the inspector that a run in the playground lacks. */
const INSPECTOR_ALONE: ReadonlySet<string> = new Set([
  'verify',
  'note',
  'labels',
  'next-trajectory',
  'previous-trajectory',
])

/** Commands of the token view beside a run: those of the inspector, and one that opens the inspector. */
export const RUN_COMMANDS: readonly InspectorCommand[] = [
  ...COMMANDS.filter(({ name, group }) => group !== 'Tabs' && group !== 'Branch' && !INSPECTOR_ALONE.has(name)),
  {
    name: 'open-inspector',
    title: 'Open in inspector',
    group: 'Trajectory',
    keys: ['i'],
    obstacle: ({ page }) => (page.openInspector ? undefined : 'The run has not ended yet.'),
    run: ({ page }) => page.openInspector?.(),
  },
]
