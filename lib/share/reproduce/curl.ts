/** Writes a run or a group of samples as a curl command for Rollscope's HTTP API. */

import { apiCurl } from './api-request.ts'
import type { RepeatableRun } from './repeatable-run.ts'

/** Returns the curl command that starts the run. Later questions are comments with the body of each request. */
export function rolloutCurl({ request, samples, servers, reward, turns }: RepeatableRun): string {
  const isGroup = samples > 1 || servers !== undefined || reward !== undefined
  const { sampling, limits, topLogprobs, promptLogprobs, stream, routedExperts, adapter, server } = request
  // Sampling parameters and limits apply to a single turn, so each request repeats them.
  const settings = { sampling, limits, topLogprobs, promptLogprobs, stream, routedExperts, adapter, server }
  const further = turns.map(
    (prompt) => `# Then: POST /api/trajectories/{key}/continue ${JSON.stringify({ prompt, ...settings })}\n`,
  )
  // A group on several servers has `servers` in place of `server`.
  const { server: _, ...anyServer } = request
  const body = servers
    ? { ...anyServer, servers, samples, reward }
    : isGroup
      ? { ...request, samples, reward }
      : request
  const command = isGroup
    ? apiCurl(
        { path: '/api/groups', body },
        'Starts the samples and returns their ids. Their status: GET /api/groups/{groupId}.',
      )
    : apiCurl(
        { path: '/api/rollouts', body },
        'Runs the agent. The events are lines of JSON; the first contains the trajectory.',
        '--no-buffer ',
      )
  return `${command}${further.join('')}`
}
