import { ApiError } from './api.ts'
import { FileError } from './files/file-error.ts'
import { TaskError } from './workers/task-error.ts'

/** Returns the advice of an error; undefined if it has none. */
export const hintOf = (error: Error): string | undefined =>
  error instanceof FileError || error instanceof ApiError || error instanceof TaskError ? error.hint : undefined
