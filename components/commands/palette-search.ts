import type { Command } from './command.ts'

/**
 * Commands that have every typed word, in this order: those that begin with what is typed, those with a word that begins
 * with it, the others. Within each as they came.
 */
export function searched<Screen>(commands: readonly Command<Screen>[], typed: string): readonly Command<Screen>[] {
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
