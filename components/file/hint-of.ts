import { ApiError } from '#lib/browser/api.ts'
import { FileError } from '#lib/browser/files/file-error.ts'

/** Returns the advice of an error; undefined if it has none. */
export const hintOf = (error: Error): string | undefined =>
  error instanceof FileError || error instanceof ApiError ? error.hint : undefined
