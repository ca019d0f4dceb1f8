/** Describes the errors that requests can end with, whichever part threw them. */
import { EngineError, OUT_OF_FILES } from '#lib/engine/http/errors.ts'
import { StoreError, type StoreErrorCode } from '#lib/store/store-error.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { HttpProblem, type ProblemDetails } from './problem.ts'

/** Statuses of failures of the store. Any other code is 500: the client can neither fix it nor wait for it. */
const STORE_STATUSES: Readonly<Partial<Record<StoreErrorCode, number>>> = { DATABASE_LOCKED: 503, DISK_FULL: 507 }

/** Returns the fields of the error response; undefined for an error that no part announces, which is a bug. */
export function foreseenProblem(error: unknown): ProblemDetails | undefined {
  if (error instanceof HttpProblem) return error.details
  if (isOutOfFiles(error)) {
    console.error('too many open files:', error)
    return TOO_MANY_FILES
  }
  if (error instanceof EngineError)
    return {
      status: error.code === 'ADDRESS_REFUSED' ? 400 : 502,
      code: error.code,
      detail: error.sentence,
      hint: error.hint,
    }
  if (error instanceof TokenizerError) return { status: 422, code: error.code, detail: error.message, hint: error.hint }
  if (error instanceof TemplateError) return { status: 422, code: 'TEMPLATE_ERROR', detail: error.message }
  if (error instanceof StoreError) {
    if (error.code !== 'DAMAGED') console.error('the store failed:', error)
    const { code, message, hint } = error
    return { status: STORE_STATUSES[code] ?? 500, code, detail: message, hint }
  }
  return undefined
}

const TOO_MANY_FILES: ProblemDetails = {
  status: 503,
  code: 'TOO_MANY_FILES',
  detail: OUT_OF_FILES.message,
  hint: OUT_OF_FILES.hint,
}

/** Returns whether an error or its cause is the limit of open files of the process or the system. A thread that cannot start names it in its message. */
const isOutOfFiles = (error: unknown): boolean =>
  error instanceof Error &&
  (/^E[MN]FILE$/.test(String('code' in error && error.code)) ||
    /^Worker initialization failure: E[MN]FILE/.test(error.message) ||
    isOutOfFiles(error.cause))
