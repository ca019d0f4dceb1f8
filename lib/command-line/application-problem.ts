import * as z from 'zod'

const problemSchema = z.object({ detail: z.string(), hint: z.string().optional() })

/** Returns the reason in an answer with which the application refuses a call. Throws ZodError for other answers. */
export function refusalReason(answer: unknown): string {
  const { detail, hint } = problemSchema.parse(answer)
  return [detail, hint].filter(Boolean).join('\n  ')
}

/** Returns why a call got no answer. `fetch` names the reason only in the cause of its error. */
export const failureText = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message
