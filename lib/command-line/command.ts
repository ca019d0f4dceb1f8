/** Which command is meant, and what becomes of it: a number for the shell. */
import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
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
  /** Of Rollscope. */
  readonly version: string
  /** Starts the application, which then runs until a signal ends it. */
  readonly start: () => Promise<void>
}

const HELP = `rollscope COMMAND

  start                   Start the application, and print the address to open.
  doctor TEMPLATE|MODEL   Does the chat template keep what the model wrote, turn after turn?
  drift FILE…             Would trajectories become other tokens where text or messages are kept instead of ids?

rollscope COMMAND --help says more. rollscope --version prints the version.
`

const START_HELP = `rollscope start

Builds Rollscope if there is no build of its sources yet, starts it, and prints the address to open. Ctrl-C stops it.

Environment variables are its settings; paths in them start at the folder that the command is called in:
  PORT                    where it listens on 127.0.0.1; 3000 unless set
  SGLANG_BASE_URL         the default server; the built-in model unless set
  ROLLSCOPE_DATA          where trajectories are kept; the data folder of the platform unless set
The README lists all of them.
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
    if (name === '--version' || name === '-v') {
      around.print(`rollscope ${around.version}\n`)
      return EXIT.well
    }
    if (name === 'start') return await startCommand(rest, around)
    if (name === 'doctor') return await doctorCommand(rest, around)
    if (name === 'drift') return await driftCommand(rest, around)
    throw new CommandError(EXIT.usage, `there is no command ${JSON.stringify(name)}\n\n${HELP}`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    around.complain(`${error.message.trimEnd()}\n`)
    return error.status
  }
}

async function startCommand(rest: readonly string[], around: Surroundings): Promise<number> {
  const [argument] = rest
  if (argument === undefined) await around.start()
  else if (argument === '--help' || argument === '-h') around.print(START_HELP)
  else
    throw new CommandError(EXIT.usage, `rollscope start takes no ${JSON.stringify(argument)}: rollscope start --help`)
  return EXIT.well
}
