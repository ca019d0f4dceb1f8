/** Names the sampling parameters that a router drops silently from a request (lib/sampling/parameters.ts). */

import type { ServerDescription } from '#lib/api/server-status.ts'
import { type SamplingName, samplingNames, samplingParameter } from '#lib/sampling/parameters.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import type { Finish, Problem } from '#lib/trajectory/format/trajectory.ts'

const droppedNames = samplingNames.filter((name) => samplingParameter(name).isDroppedByRouter)

/** Returns a note for each requested parameter that probably had no effect. */
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
      message: `The server is behind a router, and routers drop ${name}: the response was probably sampled without it.`,
      column: name,
      raw: JSON.stringify(sampling[name]),
    }))
}

/**
 * Returns whether a reply ended at one of the stop patterns, which shows that they arrived; a bias leaves no such
 * trace.
 */
const wasHeeded = (name: SamplingName, { stop_regex: patterns = [] }: Sampling, finish: Finish): boolean =>
  name === 'stop_regex' && finish.kind === 'stop' && patterns.some((pattern) => pattern === finish.matched)
