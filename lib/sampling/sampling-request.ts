/** Converts sampling parameters from the form in which they are sent to that of a request. */
import type { JsonObject } from '#lib/json/json-object.ts'
import { isSamplingName } from './parameters.ts'
import type { Sampling, SamplingRequest } from './values.ts'

/** Returns sampling parameters as a request has them. Unknown parameters, which are sent next to the others, go into `further`. */
export function toSamplingRequest(sent: Readonly<Record<string, unknown>>): SamplingRequest {
  const entries = Object.entries(sent)
  const further = entries.filter(([name]) => !isSamplingName(name))
  return {
    ...(Object.fromEntries(entries.filter(([name]) => isSamplingName(name))) as Sampling),
    ...(further.length > 0 && { further: Object.fromEntries(further) as JsonObject }),
  }
}
