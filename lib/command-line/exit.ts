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
