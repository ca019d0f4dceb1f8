/** Errors for requests that are never sent, because the server cannot answer them. */

import type { ServerCapabilities } from '#lib/api/engine/capabilities.ts'
import { type Capability, whyUnsupported } from '#lib/api/engine/unsupported.ts'
import { type Refusal, refusalText } from '#lib/sampling/refusal.ts'
import { EngineError } from './http/errors.ts'

/** Returns the error REQUEST_REFUSED with the reason and what to do. */
export const refusedRequest = (refusal: Refusal): EngineError =>
  new EngineError('REQUEST_REFUSED', refusalText(refusal))

/** Throws REQUEST_REFUSED with the reason why an engine lacks a capability. */
export function refuseCapability(capability: Capability, capabilities: ServerCapabilities): never {
  const refusal = whyUnsupported(capability, capabilities)
  throw refusal ? refusedRequest(refusal) : new Error(`the engine has the capability ${capability}`)
}
