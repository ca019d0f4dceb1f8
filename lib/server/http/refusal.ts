/** What a thread answers where what it was asked for cannot be done. */
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { HttpProblem, type ProblemDetails } from './problem.ts'

export interface Refusal {
  readonly kind: 'refused'
  readonly problem: ProblemDetails
}

/** Throws the error where it is no refusal. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof HttpProblem) return { kind: 'refused', problem: error.details }
  if (!(error instanceof TokenizerError)) throw error
  const { code, message: detail, hint } = error
  return { kind: 'refused', problem: { status: 422, code, detail, hint } }
}
