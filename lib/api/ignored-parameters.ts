/** Predicts which sampling parameters a server will ignore, so that the page can show it before a request. */

import { isSamplingName, type SamplingParameter, samplingParameter } from '#lib/sampling/parameters.ts'
import { isOlderThan } from './engine/version.ts'
import type { ServerDescription } from './server-status.ts'

/** What decides whether a server applies a parameter. Missing fields are unknown. */
export type ServerTraits = Partial<
  Pick<ServerDescription, 'kind' | 'version' | 'deterministicInference' | 'capabilities'>
>

/** Returns a sentence on why the server probably ignores a parameter; undefined if there is no reason to expect it. */
export function explainIgnored(name: string, server: ServerTraits): string | undefined {
  const { isDroppedByRouter, since }: Partial<Pick<SamplingParameter, 'isDroppedByRouter' | 'since'>> = isSamplingName(
    name,
  )
    ? samplingParameter(name)
    : { isDroppedByRouter: true }
  if (server.kind === 'router' && isDroppedByRouter) return 'The server is behind a router, and routers drop it.'
  if (since !== undefined && server.version !== undefined && isOlderThan(server.version, since))
    return `SGLang supports it since version ${since}; this server is version ${server.version}.`
  if (name === 'sampling_seed' && server.deterministicInference === false)
    return 'This server runs without --enable-deterministic-inference, so it has no effect.'
  return undefined
}
