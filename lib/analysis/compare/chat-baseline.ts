/** The chat baseline of a trajectory: what has to be asked for to have it, and when the two may stand token by token. */
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Making } from './shown-side.ts'

/** The body of POST /api/rollouts: the same question, tools, sampling, template options and server, over messages. */
export function baselineRequest(trajectory: TrajectoryView): Making<object> {
  const [first] = segmentsOf(trajectory)
  const { model, provenance } = trajectory
  if (first?.kind !== 'prompt' || first.messages.length === 0)
    return { ok: false, why: 'The trajectory does not begin with messages, and a chat endpoint accepts only messages.' }
  const request = responsesOf(trajectory)[0]?.request
  if (!request)
    return {
      ok: false,
      why: 'The trajectory does not record its sampling parameters and server.',
      hint: 'Runs of Rollscope record them. Start a run with the endpoint “chat baseline” in the playground.',
    }
  // A chat run names what it sends otherwise; its own question can be asked again in the playground.
  if (request.endpoint === 'chat') return { ok: false, why: 'This trajectory is already a chat baseline.' }
  return {
    ok: true,
    value: {
      endpoint: 'chat',
      messages: first.messages,
      tools: model.tools.map(({ name, description, inputSchema, mock }) =>
        mock ? { name, ...(description !== undefined && { description }), inputSchema, mock } : name,
      ),
      sampling: request.samplingParams,
      server: request.server,
      templateOptions: model.template?.options ?? {},
      ...(model.parser !== undefined && { parser: model.parser }),
      ...(model.tokenizer && { tokenizer: model.tokenizer.source === 'server' ? 'server' : model.tokenizer.name }),
      ...(provenance.kind === 'rollout' && provenance.limits && { limits: provenance.limits }),
    },
  }
}

/** Why its tokens may not be set beside those of another run of the same question; undefined: each was the likeliest. */
export function whyNotGreedy(trajectory: TrajectoryView): string | undefined {
  const requests = responsesOf(trajectory).map(({ request }) => request)
  if (requests.length === 0) return 'Nothing was sampled.'
  if (requests.some((request) => !request)) return 'The sampling parameters are unknown.'
  const temperatures = requests.flatMap((request) => {
    const { temperature = 1, top_k: topK } = request?.samplingParams ?? {}
    return temperature === 0 || topK === 1 ? [] : [String(temperature)]
  })
  if (temperatures.length === 0) return undefined
  return `Sampled at temperature ${[...new Set(temperatures)].join(', ')}: another run differs by chance. Compare each run with itself.`
}

export const isGreedy = (trajectory: TrajectoryView): boolean => whyNotGreedy(trajectory) === undefined

const responsesOf = (trajectory: TrajectoryView): readonly ResponseView[] =>
  segmentsOf(trajectory).flatMap((segment) => (segment.kind === 'response' ? [segment] : []))
