import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Exit statuses, as docs/command-line.md lists them. */
export const EXIT = {
  /** The check is complete and has no findings. */
  well: 0,
  /** The check is complete and has findings; for drift, findings at or above --fail-on. */
  findings: 1,
  /** The command line is invalid. */
  usage: 2,
  /**
   * The check was not possible: no such file or tokenizer, a template that does not compile, or no sample that could be
   * checked.
   */
  unchecked: 3,
} as const

/** An error that ends a command with its message and an exit status of EXIT. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Parses the arguments of a command. Throws CommandError with the help of the command if one is invalid. */
export function parseArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  argumentList: readonly string[],
  options: Options,
  help: string,
) {
  try {
    return parseArgs({ args: [...argumentList], allowPositionals: true, options })
  } catch (error) {
    throw new CommandError(EXIT.usage, `${error instanceof Error ? error.message : error}\n\n${help}`, { cause: error })
  }
}
