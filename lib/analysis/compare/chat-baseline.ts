/** Builds the request of a trajectory's chat baseline, and decides whether the two can be compared token by token. */
import type { RunRequest } from '#lib/api/run-request.ts'
import type { JsonObject } from '#lib/json/json-object.ts'
import { isSamplingName } from '#lib/sampling/parameters.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { BuildResult } from './shown-side.ts'

/** Returns the body of POST /api/rollouts: the same messages, tools, sampling, template options and server over the chat endpoint. */
export function baselineRequest(trajectory: TrajectoryView): BuildResult<RunRequest> {
  const [first] = segmentsOf(trajectory)
  const { model, provenance } = trajectory
  if (first?.kind !== 'prompt' || first.messages.length === 0)
    return { ok: false, why: 'The trajectory does not begin with messages, and a chat endpoint accepts only messages.' }
  const request = responsesOf(trajectory)[0]?.request
  if (!request)
    return {
      ok: false,
      why: 'The trajectory does not record its sampling parameters and server.',
      hint: 'Rollscope records them in its runs. Start a run with the endpoint “chat baseline” in the playground.',
    }
  // A chat run records its parameters under the names of the chat endpoint. It can be repeated in the playground.
  if (request.endpoint === 'chat') return { ok: false, why: 'This trajectory is already a chat baseline.' }
  return {
    ok: true,
    value: {
      endpoint: 'chat',
      messages: first.messages,
      tools: model.tools.map(({ name, description, inputSchema, mock }) =>
        mock ? { name, ...(description !== undefined && { description }), inputSchema, mock } : name,
      ),
      sampling: samplingOf(request.samplingParams),
      ...(request.server !== undefined && { server: request.server }),
      ...(request.adapter !== undefined && { adapter: request.adapter }),
      templateOptions: model.template?.options ?? {},
      ...(model.parser !== undefined && { parser: model.parser }),
      ...(model.tokenizer && { tokenizer: model.tokenizer.source === 'server' ? 'server' : model.tokenizer.name }),
      ...(provenance.kind === 'rollout' && provenance.limits && { limits: provenance.limits }),
    },
  }
}

/** Returns recorded parameters as a request has them: those without a name in Rollscope are further ones. */
function samplingOf(recorded: JsonObject): SamplingRequest {
  const entries = Object.entries(recorded)
  const further = Object.fromEntries(entries.filter(([name]) => !isSamplingName(name)))
  return {
    ...Object.fromEntries(entries.filter(([name]) => isSamplingName(name))),
    ...(Object.keys(further).length > 0 && { further }),
  }
}

/** Returns why the tokens cannot be compared with those of another run of the same messages; undefined if all were sampled greedily. */
export function whyNotGreedy(trajectory: TrajectoryView): string | undefined {
  const requests = responsesOf(trajectory)
    .flatMap(responseCalls)
    .map(({ request }) => request)
  if (requests.length === 0) return 'Nothing was sampled.'
  if (requests.some((request) => !request)) return 'The sampling parameters are unknown.'
  const temperatures = requests.flatMap((request) => {
    const { temperature, top_k: topK } = request?.samplingParams ?? {}
    return temperature === 0 || topK === 1 ? [] : [String(temperature ?? 1)]
  })
  if (temperatures.length === 0) return undefined
  return `Sampled at temperature ${[...new Set(temperatures)].join(', ')}: another run differs by chance. Compare each run with itself.`
}

const responsesOf = (trajectory: TrajectoryView): readonly ResponseView[] =>
  segmentsOf(trajectory).flatMap((segment) => (segment.kind === 'response' ? [segment] : []))
