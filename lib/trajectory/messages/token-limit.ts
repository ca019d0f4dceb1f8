import type { ResponseView } from '../tokens/trajectory-view.ts'
import { type ResponseCall, responseCalls } from './response-calls.ts'

/** Returns the limit of new tokens. Each endpoint has its own name for it, and files of other programs may have any value there. */
export function newTokenLimit(request: ResponseCall['request']): number | undefined {
  const { max_new_tokens, max_completion_tokens } = request?.samplingParams ?? {}
  const limit = request?.endpoint === 'chat' ? max_completion_tokens : max_new_tokens
  return Number.isSafeInteger(limit) && (limit as number) >= 0 ? (limit as number) : undefined
}

/** Returns whether a server reports that a token limit ended a response, although the request allowed more tokens. */
export function isCutBelowLimit(response: ResponseView): boolean {
  const { start, end, request } = responseCalls(response).at(-1) as ResponseCall
  return response.finish?.kind === 'length' && end - start < (newTokenLimit(request) ?? 0)
}
