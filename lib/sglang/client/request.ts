/** Builds the bodies of /generate. */

import { checkRequest, type GenerateRequest } from '#lib/engine/request.ts'
import { callBody } from '#lib/trajectory/messages/generate-call.ts'

/**
 * Returns a function that builds the body for a request id. Ids that are JSON already are not serialized again: in a
 * long run they are nearly all of it. Throws EngineError REQUEST_REFUSED.
 */
export function generateBodies({ bodyWith, ...request }: GenerateRequest): (rid: string) => string | Uint8Array {
  checkRequest(request)
  const { input_ids: ids, ...others } = callBody(request)
  return (rid) => (bodyWith ? bodyWith({ ...others, rid }) : JSON.stringify({ input_ids: ids, ...others, rid }))
}
