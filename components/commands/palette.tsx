'use client'
/** The command palette: type a part of a name, choose with the arrow keys, and run the command with Enter. */
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { keyLabel } from '#components/token-view/key-name.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { Dialog } from '../ui/dialog.tsx'
import type { Command } from './command.ts'
import { isMac } from './is-mac.ts'
import { searchCommands } from './palette-search.ts'

/** Commands of a page and the state of the palette. */
export interface PaletteProps<Screen> {
  /** Returns the commands for the typed text. */
  readonly commandsFor: (typed: string) => readonly Command<Screen>[]
  readonly placeholder: string
  /** State on which the commands run, and the callbacks of `useCommands`. */
  readonly commands: {
    readonly screen: Screen
    readonly runFromPalette: (command: Command<Screen>) => void
    readonly closePalette: () => void
  }
}

/** Dialog that finds and runs commands; commands that cannot run show the reason. */
export function Palette<Screen>({ commandsFor, placeholder, commands }: PaletteProps<Screen>) {
  const { screen, runFromPalette: onRun, closePalette: onClose } = commands
  const id = useId()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const found = searchCommands(commandsFor(typed), typed)
  const move = (to: number) => {
    setAt(to)
    list.current?.children[to]?.scrollIntoView({ block: 'nearest' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = STEPS[event.key]?.(at, found.length)
    if (to !== undefined && found.length > 0) {
      event.preventDefault()
      move(to)
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault()
      const command = found[at]
      if (command) onRun(command)
    }
  }
  return (
    <Dialog title="Commands" onClose={onClose}>
      <input
        data-first-focus
        role="combobox"
        aria-label="Command"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value)
          move(0)
        }}
        onKeyDown={onKeyDown}
        className="w-full rounded-md border border-line bg-raised px-2.5 py-2 placeholder:text-faint"
      />
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label="Commands"
        className="mt-2 h-[min(400px,50dvh)] overflow-y-auto"
      >
        {found.map((command, index) => (
          <Option
            key={command.name}
            id={`${id}-${index}`}
            command={command}
            obstacle={command.obstacle?.(screen)}
            isSelected={index === at}
            onPoint={() => setAt(index)}
            onRun={() => onRun(command)}
          />
        ))}
      </div>
      <p role="status" className="mt-2 text-faint text-xs">
        {found.length === 0 ? 'No matching commands.' : countWithNoun(found.length, 'command')}
      </p>
    </Dialog>
  )
}

const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at + count - 1) % count,
  PageDown: (at, count) => Math.min(count - 1, at + 10),
  PageUp: (at) => Math.max(0, at - 10),
}

interface OptionProps {
  readonly id: string
  readonly command: Pick<Command<never>, 'title' | 'group' | 'keys'>
  readonly obstacle: string | undefined
  readonly isSelected: boolean
  readonly onPoint: () => void
  readonly onRun: () => void
}

function Option({ id, command, obstacle, isSelected, onPoint, onRun }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
    <div
      id={id}
      role="option"
      aria-selected={isSelected}
      aria-disabled={obstacle !== undefined || undefined}
      onPointerMove={onPoint}
      onClick={onRun}
      className="flex cursor-pointer items-baseline justify-between gap-4 rounded-md px-2.5 py-1.5 aria-disabled:text-faint aria-selected:bg-accent-soft"
    >
      <span className="min-w-0">
        {command.title}
        {obstacle !== undefined && <span className="block text-xs">{obstacle}</span>}
      </span>
      <span className="flex shrink-0 items-baseline gap-2 text-dim text-xs">
        {command.group}
        {command.keys?.[0] !== undefined && (
          <kbd className="rounded border border-line px-1 font-mono">{keyLabel(command.keys[0], isMac())}</kbd>
        )}
      </span>
    </div>
  )
}
