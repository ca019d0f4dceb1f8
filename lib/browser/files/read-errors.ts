/** The errors of reading. They are apart from the worker's code, which no page may load. */
import { ApiError } from '../api.ts'
import { FileError, ServerFileError, SeveralRecordsError } from './file-error.ts'

/** Errors that keep their class on the way from the worker to the page. */
export const READ_ERRORS = [FileError, ServerFileError, SeveralRecordsError, ApiError] as const
