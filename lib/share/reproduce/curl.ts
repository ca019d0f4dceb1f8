/** A run, or a group of samples, as a call to Rollscope's own interface. Its address and its token are those of whoever calls. */
import type { Again } from './again.ts'

export function rolloutCurl({ request, samples, reward, turns }: Again): string {
  const isGroup = samples > 1 || reward !== undefined
  const { sampling, limits, topLogprobs, promptLogprobs, stream, server } = request
  // Sampling and limits are those of one turn.
  const settings = { sampling, limits, topLogprobs, promptLogprobs, stream, server }
  const further = turns.map(
    (prompt) => `# Then: POST /api/trajectories/{key}/continue ${JSON.stringify({ prompt, ...settings })}\n`,
  )
  // The body comes by the standard input: a shell refuses arguments of more than 128 KiB.
  return `${isGroup ? GROUP : ROLLOUT}
  -H 'Content-Type: application/json' \\
  -H 'X-Rollscope: 1' \\
  -H "Authorization: Bearer $ROLLSCOPE_TOKEN" \\
  --data-binary @- <<'JSON'
${JSON.stringify(isGroup ? { ...request, samples, reward } : request)}
JSON
${further.join('')}`
}

const ROLLOUT = `# Runs the agent; the events come as lines of JSON, the first with the trajectory.
curl --fail-with-body --no-buffer "\${ROLLSCOPE_URL:-http://127.0.0.1:3000}/api/rollouts" \\`

const GROUP = `# Starts the samples and names them; how they stand: GET /api/groups/{groupId}.
curl --fail-with-body "\${ROLLSCOPE_URL:-http://127.0.0.1:3000}/api/groups" \\`
