/** What a router in front of the servers takes out of a request without a word (measured with sglang-router 0.3.2). */
import type { ServerDescription } from '#lib/core/server-status.ts'
import type { Finish, Problem } from '#lib/core/trajectory.ts'
import type { Sampling } from './sampling.ts'

const DROPPED = ['logit_bias', 'stop_regex'] as const

/** A note for each parameter that was asked for and probably had no effect. */
export function droppedByRouter(
  { kind }: Pick<Partial<ServerDescription>, 'kind'>,
  sampling: Sampling,
  finish: Finish,
): readonly Problem[] {
  if (kind !== 'router') return []
  return DROPPED.filter((name) => sampling[name] !== undefined && !wasHeeded(name, sampling, finish)).map((name) => ({
    kind: 'router',
    message: `A router stands before the server, and routers drop ${name}: the reply was probably written without it.`,
    column: name,
    raw: JSON.stringify(sampling[name]),
  }))
}

/** A reply that ended at one of the patterns has seen them; a bias leaves no such trace. */
const wasHeeded = (name: (typeof DROPPED)[number], { stop_regex: patterns = [] }: Sampling, finish: Finish): boolean =>
  name === 'stop_regex' && finish.kind === 'stop' && patterns.some((pattern) => pattern === finish.matched)
