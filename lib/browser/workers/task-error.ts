/** A task that could not be done, by no fault of what it was given. */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  /** TOO_LONG, WORKER_FAILED, STOPPED, TASK_FAILED, or a TokenizerError's code. */
  readonly code: string
  readonly hint: string | undefined
  constructor(code: string, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}
