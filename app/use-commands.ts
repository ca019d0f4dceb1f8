/** The commands of the inspector: their keys, and the palette that finds them. */
import { type KeyboardEvent, useEffect, useEffectEvent, useState } from 'react'
import { flushSync } from 'react-dom'
import { type Command, type CommandScreen, runCommand } from '#components/inspector/command.ts'
import { commandOfKey } from '#components/inspector/commands.ts'
import { keyName } from '#components/trajectory/key-name.ts'

export function useCommands(screenOf: (showPalette: () => void) => CommandScreen) {
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
    /** Closes the palette first: the focus goes back to where it was, and the command may take it elsewhere. */
    runFromPalette: (command: Command) => {
      flushSync(() => setIsPaletteOpen(false))
      queueMicrotask(() => runCommand(command, screen))
    },
    /** For the element around the token view: what is typed while the palette comes is not for the tokens. */
    onKeyDownCapture: (event: KeyboardEvent) => {
      if (!isPaletteOpen) return
      event.preventDefault()
      event.stopPropagation()
    },
    /** Likewise: keys act while that has the focus, and are not fields' letters. */
    onKeyDown: (event: KeyboardEvent) => {
      if (event.defaultPrevented || !(event.target as Element).matches('[role="grid"]')) return
      const command = commandOfKey(keyName(event))
      if (!command) return
      event.preventDefault()
      runCommand(command, screen)
    },
  }
}
