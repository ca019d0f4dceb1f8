import { colourGroups } from '#components/token-view/colour/modes.ts'
import { single } from '#components/token-view/selection.ts'
import { segmentStarts, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { CommandScreen, InspectorCommand } from './command.ts'
import { colour } from './command-steps.ts'
import { COMMANDS } from './commands.ts'

/** Returns the commands that the palette offers. If a number was typed, the tokens and segments with this number are first. */
export const offeredCommands = (
  screen: CommandScreen,
  typed: string,
  commands = COMMANDS,
): readonly InspectorCommand[] => [
  ...furtherCommands(screen, typed),
  ...commands.filter(({ name }) => name !== 'palette'),
]

/** Returns the commands that depend on the trajectory: its colours, and the token and segment with the typed number. */
export function furtherCommands(screen: CommandScreen, typed: string): readonly InspectorCommand[] {
  const { trajectory } = screen.inspection
  const number = /^\d{1,9}$/.test(typed.trim()) ? Number(typed) : undefined
  const starts = segmentStarts(trajectory)
  const place = (what: string, token: number): InspectorCommand => ({
    name: `go-${what}`,
    title: `Go to ${what} ${number}`,
    group: 'Move',
    run: ({ inspection }) => inspection.onSelect(single(token), 'tokens'),
  })
  return [
    ...(number !== undefined && number < tokenCount(trajectory) ? [place('token', number)] : []),
    ...(number !== undefined && number < starts.length - 1 ? [place('segment', elementAt(starts, number))] : []),
    ...colourGroups(trajectory).flatMap(({ choices }) =>
      choices.map(
        ({ name, title, missing }): InspectorCommand => ({
          name: `colour-${name}`,
          title: name === 'none' ? 'Remove colours' : `Colour by ${title}`,
          group: 'Colour',
          obstacle: () => (missing === undefined ? undefined : `This trajectory: ${missing}.`),
          run: ({ inspection }) => colour(inspection, name),
        }),
      ),
    ),
  ]
}
