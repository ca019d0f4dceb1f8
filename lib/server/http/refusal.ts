/** The reply of a thread that cannot do what was requested. */
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { HttpProblem, type ProblemDetails } from './problem.ts'

/** A refusal with the error that the client gets. */
export interface Refusal {
  readonly kind: 'refused'
  readonly problem: ProblemDetails
}

/** Returns the refusal for an HttpProblem or a TokenizerError. Throws any other error. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof HttpProblem) return { kind: 'refused', problem: error.details }
  if (!(error instanceof TokenizerError)) throw error
  const { code, message: detail, hint } = error
  return { kind: 'refused', problem: { status: 422, code, detail, hint } }
}
