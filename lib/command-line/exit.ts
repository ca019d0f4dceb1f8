/** Exit statuses, as docs/command-line.md lists them. */
export const EXIT = {
  /** Checked, and nothing was found. */
  well: 0,
  /** Checked, and something was found. */
  findings: 1,
  /** The command was not understood. */
  usage: 2,
  /** It could not be checked: no such file or tokenizer, or a template that does not compile. */
  unchecked: 3,
} as const

export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}
