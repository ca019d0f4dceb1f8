/** Writes a run or a group of samples as a curl command for Rollscope's HTTP API. Address and token come from the environment. */
import type { Again } from './again.ts'

/** Returns the curl command that starts the run. Later questions are comments with the body of each request. */
export function rolloutCurl({ request, samples, servers, reward, turns }: Again): string {
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
  // The body is passed on the standard input, because Linux refuses arguments of more than 128 KiB.
  return `${isGroup ? GROUP : ROLLOUT}
  -H 'Content-Type: application/json' \\
  -H 'X-Rollscope: 1' \\
  -H "Authorization: Bearer $ROLLSCOPE_TOKEN" \\
  --data-binary @- <<'JSON'
${JSON.stringify(body)}
JSON
${further.join('')}`
}

const ROLLOUT = `# Runs the agent. The events are lines of JSON; the first contains the trajectory.
curl --fail-with-body --no-buffer "\${ROLLSCOPE_URL:-http://127.0.0.1:3000}/api/rollouts" \\`

const GROUP = `# Starts the samples and returns their ids. Their status: GET /api/groups/{groupId}.
curl --fail-with-body "\${ROLLSCOPE_URL:-http://127.0.0.1:3000}/api/groups" \\`
