import type { InspectorCommand } from './command.ts'
import { COMMANDS } from './commands.ts'

/** They need the parts of the inspector that a run in the playground is shown without. */
const INSPECTOR_ALONE: ReadonlySet<string> = new Set(['verify', 'next-trajectory', 'previous-trajectory'])

/** The commands of a token view beside a run: those of the inspector, and the way there. */
export const RUN_COMMANDS: readonly InspectorCommand[] = [
  ...COMMANDS.filter(({ name, group }) => group !== 'Tabs' && !INSPECTOR_ALONE.has(name)),
  {
    name: 'open-inspector',
    title: 'Open in inspector',
    group: 'Trajectory',
    keys: ['i'],
    obstacle: ({ page }) => (page.openInspector ? undefined : 'The run has not ended yet.'),
    run: ({ page }) => page.openInspector?.(),
  },
]
