/** Thrown for a task that could not be done. */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  /** TOO_LONG, WORKER_FAILED, STOPPED, TASK_FAILED, or the code of a TokenizerError. */
  readonly code: string
  readonly hint: string | undefined
  constructor(code: string, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}
