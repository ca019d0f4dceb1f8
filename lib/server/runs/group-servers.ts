/** Compares the samples that the servers of a group produced from one setup. */
import { setImmediate } from 'node:timers/promises'
import { compareReplies } from '#lib/analysis/compare/reply-comparison.ts'
import type { ServerComparison } from '#lib/api/engine/server-comparison.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { HttpProblem } from '../http/problem.ts'
import { storedTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { groupNamed } from './groups.ts'

/** A sample with the server that it names. */
interface ServerSample {
  readonly row: TrajectorySummary
  readonly server: string
}

/**
 * Compares each sample with that of the reference server, by default the first one. Counts as a look at the samples. Throws HttpProblem if
 * there is no such group, if it has one server only, or if it has no such server.
 */
export async function compareServers(
  groupId: string,
  reference: string | undefined,
  all: Services,
): Promise<ServerComparison> {
  const samples = groupNamed(groupId, all).samples.flatMap((row): readonly ServerSample[] =>
    row.group?.server === undefined ? [] : [{ row, server: row.group.server }],
  )
  const servers = [...new Set(samples.map(({ server }) => server))]
  const name = reference ?? servers[0]
  if (name === undefined)
    throw new HttpProblem({
      status: 409,
      code: 'ONE_SERVER',
      detail: 'the samples of this group are of one server: there is nothing to compare',
      hint: 'Start a group with `servers`.',
    })
  if (!servers.includes(name))
    throw new HttpProblem({
      status: 404,
      code: 'NO_SERVER',
      detail: `the group has no samples of a server named ${JSON.stringify(name.slice(0, 80))}`,
      hint: `Its servers are ${servers.join(', ')}.`,
    })
  const samplesOf = (server: string) => samples.filter((sample) => sample.server === server)
  const references = samplesOf(name)
  const pairs = servers
    .filter((server) => server !== name)
    .flatMap((server) =>
      samplesOf(server).flatMap((sample, place) => {
        const other = references[place]
        return other && hasEnded(sample) && hasEnded(other) ? [{ sample, other }] : []
      }),
    )
  const comparisons: ServerComparison['comparisons'][number][] = []
  for (const { sample, other } of pairs) {
    const { common, divergence, chance, logprobs } = compareReplies(
      storedTrajectory(other.row.key, all),
      storedTrajectory(sample.row.key, all),
    )
    comparisons.push({
      sample: memberOf(sample),
      reference: memberOf(other),
      common,
      divergence: divergence ?? null,
      chance: chance ?? null,
      logprobs: { ...logprobs, spread: logprobs.spread ?? null },
    })
    // A group may be large, so other requests run in between.
    await setImmediate()
  }
  return { servers, reference: name, running: samples.filter((sample) => !hasEnded(sample)).length, comparisons }
}

const hasEnded = ({ row }: ServerSample): boolean => row.outcomeKind !== 'running'

const memberOf = ({ row: { key, group, outcomeKind, outcome, tokens }, server }: ServerSample) => ({
  key,
  index: group?.index ?? 0,
  server,
  outcomeKind: outcomeKind === 'failed' ? ('failed' as const) : ('ended' as const),
  outcome,
  tokens,
})
