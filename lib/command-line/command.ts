/** Which command is meant, and what becomes of it: a number for the shell. */
import type { TokenizerPlaces } from '#lib/tokenizer/load.ts'
import { doctorCommand } from './doctor-command.ts'
import { driftCommand } from './drift-command.ts'
import { CommandError, EXIT } from './exit.ts'

export interface Surroundings {
  /** Where relative paths begin. */
  readonly folder: string
  readonly places: TokenizerPlaces
  /** Name of the built-in model's tokenizer. */
  readonly builtIn: string
  /** Standard input as text, in pieces. */
  readonly input: AsyncIterable<string>
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

const HELP = `rollscope COMMAND

  doctor TEMPLATE|MODEL   Does the chat template keep what the model wrote, turn after turn?
  drift FILE…             Would trajectories become other tokens where text or messages are kept instead of ids?

rollscope COMMAND --help says more.
`

/** Returns the exit status. */
export async function command(argumentList: readonly string[], around: Surroundings): Promise<number> {
  const [name, ...rest] = argumentList
  try {
    if (name === undefined) throw new CommandError(EXIT.usage, HELP)
    if (name === '--help' || name === '-h' || name === 'help') {
      around.print(HELP)
      return EXIT.well
    }
    if (name === 'doctor') return await doctorCommand(rest, around)
    if (name === 'drift') return await driftCommand(rest, around)
    throw new CommandError(EXIT.usage, `there is no command ${JSON.stringify(name)}\n\n${HELP}`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    around.complain(`${error.message.trimEnd()}\n`)
    return error.status
  }
}
