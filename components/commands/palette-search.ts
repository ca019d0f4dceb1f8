import type { Command } from './command.ts'

/**
 * Returns the commands that contain every typed word. First are those that begin with the typed text, then those with words
 * that begin with the typed words, then the others, each in the given order.
 */
export function searchCommands<Screen>(
  commands: readonly Command<Screen>[],
  typed: string,
): readonly Command<Screen>[] {
  const wanted = typed.trim().toLowerCase()
  const words = wanted.split(/\s+/)
  const place = ({ title, group }: Command<Screen>): number => {
    const text = `${title} ${group}`.toLowerCase()
    if (!words.every((word) => text.includes(word))) return ABSENT
    if (text.startsWith(wanted)) return 0
    return words.every((word) => text.startsWith(word) || text.includes(` ${word}`)) ? 1 : 2
  }
  return commands
    .map((command) => ({ command, place: place(command) }))
    .filter(({ place }) => place < ABSENT)
    .sort((a, b) => a.place - b.place)
    .map(({ command }) => command)
}

const ABSENT = 3
