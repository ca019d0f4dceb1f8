/** A file that is no trajectory: what is wrong with it, and what to do. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly hint: string
  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}
