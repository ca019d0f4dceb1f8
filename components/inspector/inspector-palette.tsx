'use client'
import { useEffect } from 'react'
import type { PaletteProps } from '#components/commands/palette.tsx'
import type { CommandScreen } from '#components/inspector/commands/command.ts'
import { offeredCommands } from '#components/inspector/commands/further-commands.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import type { InspectorCommands } from './use-inspector-commands.ts'

const loadPalette = () => import('#components/commands/palette.tsx')
const Palette = lazyPart<PaletteProps<CommandScreen>>(async () => (await loadPalette()).Palette)
/** Delay after which the palette is loaded, so that it opens immediately and does not delay the first view. */
const LOAD_PALETTE_AFTER_MS = 2_000

/** Shows the command palette while it is open. */
export function InspectorPalette({ commands }: { readonly commands: InspectorCommands }) {
  useEffect(() => {
    const loading = setTimeout(() => loadPalette().catch(() => {}), LOAD_PALETTE_AFTER_MS)
    return () => clearTimeout(loading)
  }, [])
  if (!commands.isPaletteOpen) return null
  return (
    <Palette
      commandsFor={(typed) => offeredCommands(commands.screen, typed)}
      placeholder="Type a command or a token number"
      commands={commands}
    />
  )
}
