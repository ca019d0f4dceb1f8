/** Runs the command that the arguments name, and returns a status for the shell. */
import { doctorCommand } from './doctor-command.ts'
import { driftCommand } from './drift-command.ts'
import type { CommandEnvironment } from './environment.ts'
import { CommandError, EXIT } from './exit.ts'
import { openCommand } from './open-command.ts'
import { runCommand } from './run-command.ts'

const HELP = `rollscope COMMAND

  start                   Start the application, and print the address to open.
  run -- COMMAND…         Run a program, and record its calls of a model in a session.
  open FILE…              Store rollouts of any format in the library, and print the address of each.
  doctor TEMPLATE|MODEL   Check whether a chat template preserves earlier turns.
  drift FILE…             Find tokens that change if text or messages are kept instead of ids.

Run rollscope COMMAND --help for details. rollscope --version prints the version.
`

const START_HELP = `rollscope start

Builds Rollscope if its sources are not built yet, starts it, and prints the address to open. Ctrl-C stops it.

Environment variables are its settings. Relative paths in them start at the current folder:
  PORT                    port on 127.0.0.1; default: 3000
  SGLANG_BASE_URL         the default server; default: the built-in model
  ROLLSCOPE_DATA          folder of the trajectories; default: the data folder of the platform
The README lists all of them.
`

/** Runs a command and returns the exit status. */
export async function command(argumentList: readonly string[], around: CommandEnvironment): Promise<number> {
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
    if (name === 'open') return await openCommand(rest, around)
    if (name === 'run') return await runCommand(rest, around)
    if (name === 'doctor') return await doctorCommand(rest, around)
    if (name === 'drift') return await driftCommand(rest, around)
    throw new CommandError(EXIT.usage, `there is no command ${JSON.stringify(name)}\n\n${HELP}`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    around.complain(`${error.message.trimEnd()}\n`)
    return error.status
  }
}

async function startCommand(rest: readonly string[], around: CommandEnvironment): Promise<number> {
  const [argument] = rest
  if (argument === undefined) await around.start()
  else if (argument === '--help' || argument === '-h') around.print(START_HELP)
  else
    throw new CommandError(
      EXIT.usage,
      `rollscope start does not accept ${JSON.stringify(argument)}: run rollscope start --help`,
    )
  return EXIT.well
}
