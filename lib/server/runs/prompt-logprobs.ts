/** Adds prompt logprobs to a stored trajectory after its run, by prefill on the model that sampled its responses. */

import * as z from 'zod'
import { vocabularyWriter } from '#lib/rollout/record/record.ts'
import { withVocabulary } from '#lib/trajectory/events/events.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { lastServer } from '#lib/trajectory/messages/response-calls.ts'
import { withAdapters } from '#lib/trajectory/scoring/adapters.ts'
import { unscoredPrompts, withPromptLogprobs } from '#lib/trajectory/scoring/prompt-logprobs.ts'
import { imagesToScore, type Scores } from '#lib/trajectory/scoring/score.ts'
import { servedFacts } from '#lib/trajectory/scoring/served.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { HttpProblem } from '../http/problem.ts'
import { endedTrajectory } from '../library/trajectories.ts'
import { openScoring, type Scoring } from '../servers/score.ts'
import type { Services } from '../services.ts'

/** Schema of the body of a request for prompt logprobs. */
export const promptLogprobsRequestSchema = z.strictObject({
  server: z
    .string()
    .exactOptional()
    .describe('Name of a saved server with the model that sampled the trajectory. Default: the recorded one.'),
})

/**
 * Stores and returns the trajectory with logprobs of every prompt that lacked them; unchanged if none did. Throws HttpProblem or
 * EngineError.
 */
export async function addPromptLogprobs(
  key: string,
  request: z.infer<typeof promptLogprobsRequestSchema>,
  all: Services,
  signal: AbortSignal,
): Promise<Trajectory> {
  const found = endedTrajectory(key, all, HINT)
  const ranges = withAdapters(found, unscoredPrompts(found))
  if (ranges.length === 0) return found
  const server = request.server ?? lastServer(found)
  if (server === undefined)
    throw new HttpProblem({
      status: 422,
      code: 'NO_SERVER',
      detail: 'this trajectory does not record the server that sampled it',
      hint: 'Name a saved server of the same model.',
      field: 'server',
    })
  const topLogprobs = alternativesOf(found)
  const scoring = await openScoring(
    { ids: ids(found), server, ranges, topLogprobs, ...imagesToScore(found) },
    all,
    signal,
  )
  checkServed(found, scoring, [])
  const scores: Scores[] = []
  for await (const part of scoring.scores(signal)) scores.push(part)
  const versions = [...new Set(scores.flatMap(({ weightVersion }) => weightVersion ?? []))]
  checkServed(found, scoring, versions)
  // The trajectory is read again: labels may have changed, and a further turn may have begun. No await follows before the write.
  const stored = endedTrajectory(key, all, HINT)
  const scored = withScores(stored, scores, scoring, versions.at(-1))
  all.store.update(key, scored, 0)
  return scored
}

const HINT = 'Request the prompt logprobs after the run has ended.'

/** Returns the number of alternatives that the run recorded for its own tokens. */
const alternativesOf = ({ segments }: Trajectory): number =>
  Math.max(0, ...segments.map((segment) => (segment.kind === 'response' && segment.request?.topLogprobsNum) || 0))

/** Throws HttpProblem if the server runs another model: its logprobs would be stored as if the recorded model had given them. */
function checkServed(trajectory: Trajectory, { server }: Scoring, versions: readonly string[]): void {
  const others = servedFacts(trajectory, server, versions).filter(({ verdict }) => verdict === 'other')
  if (others.length === 0) return
  throw new HttpProblem({
    status: 409,
    code: 'OTHER_MODEL',
    detail: `the server ${server.name} does not serve the model that sampled this trajectory: ${others.map(({ name, text }) => `${name} ${text}`).join('; ')}`,
    hint: 'Start the recorded model again, or name a server that serves it. “Verify on server” compares with any model and stores nothing.',
    field: 'server',
  })
}

/** Returns the trajectory with the scores. Alternatives are added only if their texts are known. */
function withScores(
  stored: Trajectory,
  scores: readonly Scores[],
  { server, tokenizer }: Scoring,
  weightVersion: string | undefined,
): Trajectory {
  const usableScores: readonly Scores[] = tokenizer ? scores : scores.map(({ topLogprobs: _, ...part }) => part)
  const newVocabulary = tokenizer
    ? vocabularyWriter(stored, tokenizer)(usableScores.flatMap(({ topLogprobs }) => topLogprobs?.ids ?? []))
    : { vocab: {}, specialIds: [] }
  return withPromptLogprobs(withVocabulary(stored, newVocabulary), usableScores, {
    server: server.name,
    at: new Date().toISOString(),
    ...(weightVersion !== undefined && { weightVersion }),
  })
}
