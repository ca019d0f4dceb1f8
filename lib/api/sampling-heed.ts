/** What a server will probably not heed of the sampling parameters that it is to be sent: said before it is asked. */

import { isSamplingName, type SamplingParameter, samplingParameter } from '#lib/sampling/parameters.ts'
import { isOlderThan } from '#lib/util/version.ts'
import type { ServerDescription } from './server-status.ts'

export type Heeding = Partial<Pick<ServerDescription, 'kind' | 'version' | 'deterministicInference'>>

/** Why, in a sentence; undefined: nothing speaks against it. */
export function unheededNote(name: string, server: Heeding): string | undefined {
  const { isDroppedByRouter, since }: Partial<Pick<SamplingParameter, 'isDroppedByRouter' | 'since'>> = isSamplingName(
    name,
  )
    ? samplingParameter(name)
    : { isDroppedByRouter: true }
  if (server.kind === 'router' && isDroppedByRouter) return 'A router stands before the server, and routers drop it.'
  if (since !== undefined && server.version !== undefined && isOlderThan(server.version, since))
    return `SGLang knows it from ${since} on; this server is ${server.version}.`
  if (name === 'sampling_seed' && server.deterministicInference === false)
    return 'This server runs without --enable-deterministic-inference, so it has no effect.'
  return undefined
}
