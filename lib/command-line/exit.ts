/** Exit statuses, as docs/command-line.md lists them. */
export const EXIT = {
  /** Checked, and nothing was found. */
  well: 0,
  /** Checked, and something was found: of drift, what is as grave as --fail-on. */
  findings: 1,
  /** The command was not understood. */
  usage: 2,
  /** It could not be checked: no such file or tokenizer, a template that does not compile, no sample of which anything is known. */
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
