/** The commands of a page: their keys, and the command palette. */
import { type KeyboardEvent, useEffect, useEffectEvent, useState } from 'react'
import { flushSync } from 'react-dom'
import { type Command, commandOfKey, executeCommand } from '#components/commands/command.ts'
import { keyName } from '#components/token-view/key-name.ts'

interface Commands<Screen> {
  readonly commands: readonly Command<Screen>[]
  readonly screenOf: (showPalette: () => void) => Screen
  readonly say: (message: string) => void
}

/** Returns the state of the command palette, which Mod+k opens, and functions that run commands. */
export function useCommands<Screen>({ commands, screenOf, say }: Commands<Screen>) {
  const [isPaletteOpen, setIsPaletteOpen] = useState(false)
  const screen = screenOf(() => setIsPaletteOpen(true))
  const press = useEffectEvent((event: globalThis.KeyboardEvent) => {
    if (keyName(event) !== 'Mod+k' || document.querySelector('dialog[open]')) return
    event.preventDefault()
    setIsPaletteOpen(true)
  })
  useEffect(() => {
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
  return {
    screen,
    isPaletteOpen,
    closePalette: () => setIsPaletteOpen(false),
    run: (command: Command<Screen>) => executeCommand(command, screen, say),
    /** Closes the palette before running the command, so that the focus is restored before the command may move it. */
    runFromPalette: (command: Command<Screen>) => {
      flushSync(() => setIsPaletteOpen(false))
      queueMicrotask(() => executeCommand(command, screen, say))
    },
    /** Runs the command of a key, unless another handler prevented the default action. */
    runKey: (event: KeyboardEvent | globalThis.KeyboardEvent) => {
      if (event.defaultPrevented) return
      const command = commandOfKey(commands, keyName(event))
      if (!command) return
      event.preventDefault()
      executeCommand(command, screen, say)
    },
  }
}
