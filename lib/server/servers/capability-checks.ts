/** Refuses by name, before a run starts, what the engine of its server cannot do. */
import { logprobKindRefusal, type RunNeeds, runRefusals } from '#lib/api/engine/refusals.ts'
import {
  type FieldRefusal,
  type RefusingServer,
  type ScoringNeeds,
  scoringRefusals,
} from '#lib/api/engine/scoring-refusals.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { HttpProblem } from '../http/problem.ts'

/** Throws HttpProblem 422 with the field that the server cannot serve. */
export const checkCapabilities = (server: RefusingServer, needs: RunNeeds): void =>
  refuse(runRefusals(server, needs)[0])

/** Throws HttpProblem if the server cannot score given ids, has no such adapter, or reads no images. */
export const checkScoring = (server: RefusingServer, needs: ScoringNeeds = {}): void =>
  refuse(scoringRefusals(server, needs)[0])

/** Returns the meaning of the sampled logprobs, where it differs from the one that the format defines: processed. */
export const meaningsOf = ({
  capabilities,
}: Pick<ServerDescription, 'capabilities'>): Pick<Trajectory, 'columnMeanings'> =>
  capabilities?.logprobs === 'raw'
    ? {
        columnMeanings: {
          logprobs: { quantity: 'logprob', model: 'rollout', values: 'raw', engine: capabilities.engine },
        },
      }
    : {}

/** Throws HttpProblem 409 if a further turn would mix raw and processed logprobs in one column. */
export const checkLogprobKind = (
  trajectory: Pick<Trajectory, 'columnMeanings' | 'segments'>,
  server: RefusingServer,
): void => refuse(logprobKindRefusal(trajectory, server), 409)

function refuse(refusal: FieldRefusal | undefined, status = 422): void {
  if (refusal) throw new HttpProblem({ status, ...refusal })
}
