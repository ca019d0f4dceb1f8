/** What a router in front of the servers takes out of a request without a word (lib/sampling/parameters.ts). */

import type { ServerDescription } from '#lib/api/server-status.ts'
import { type SamplingName, samplingNames, samplingParameter } from '#lib/sampling/parameters.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import type { Finish, Problem } from '#lib/trajectory/format/trajectory.ts'

const droppedNames = samplingNames.filter((name) => samplingParameter(name).isDroppedByRouter)

/** A note for each parameter that was asked for and probably had no effect. */
export function droppedByRouter(
  { kind }: Pick<Partial<ServerDescription>, 'kind'>,
  sampling: Sampling,
  finish: Finish,
): readonly Problem[] {
  if (kind !== 'router') return []
  return droppedNames
    .filter((name) => sampling[name] !== undefined && !wasHeeded(name, sampling, finish))
    .map((name) => ({
      kind: 'router',
      message: `A router stands before the server, and routers drop ${name}: the reply was probably written without it.`,
      column: name,
      raw: JSON.stringify(sampling[name]),
    }))
}

/** A reply that ended at one of the patterns has seen them; a bias leaves no such trace. */
const wasHeeded = (name: SamplingName, { stop_regex: patterns = [] }: Sampling, finish: Finish): boolean =>
  name === 'stop_regex' && finish.kind === 'stop' && patterns.some((pattern) => pattern === finish.matched)
