/** Thrown for a file that only the server can read. */
export class ServerFileError extends Error {
  override readonly name = 'ServerFileError'
}

/** Thrown for a file with several records, which can be listed. */
export class SeveralRecordsError extends Error {
  override readonly name = 'SeveralRecordsError'
}

/** Thrown for a file that is no trajectory: the message says what is wrong, the hint what to do. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly hint: string
  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}
