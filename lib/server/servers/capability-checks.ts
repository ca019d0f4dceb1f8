/** Refuses by name, before a run starts, what the engine of its server cannot do. */
import { tooManyAlternatives, whyImagesInMessagesOnly, whyUnsupported } from '#lib/api/engine/unsupported.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import { engineSubject } from '#lib/sampling/engine-names.ts'
import { unsupportedParameter } from '#lib/sampling/engine-parameters.ts'
import type { Refusal } from '#lib/sampling/refusal.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { HttpProblem } from '../http/problem.ts'

interface Requested {
  readonly sampling?: SamplingRequest | undefined
  readonly promptLogprobs?: boolean | undefined
  readonly endpoint?: string | undefined
  readonly topLogprobs?: number | undefined
  readonly adapter?: string | undefined
  readonly routedExperts?: boolean | undefined
  /** Whether the conversation has images. */
  readonly images?: boolean | undefined
}

/** Throws HttpProblem 422 with the field that the server cannot serve. */
export function checkCapabilities(
  server: Pick<ServerDescription, 'capabilities' | 'adapters'>,
  { sampling = {}, promptLogprobs, endpoint, topLogprobs = 0, adapter, routedExperts, images }: Requested,
): void {
  checkAdapter(server, adapter)
  const { capabilities } = server
  if (!capabilities) return
  const parameter = unsupportedParameter(capabilities.engine, sampling)
  if (parameter)
    refuse(parameter, parameter.isFurther ? `sampling.further.${parameter.name}` : `sampling.${parameter.name}`)
  refuse(tooManyAlternatives(topLogprobs, capabilities), 'topLogprobs')
  if (promptLogprobs) refuse(whyUnsupported('promptLogprobs', capabilities), 'promptLogprobs')
  if (routedExperts) refuse(whyUnsupported('routedExperts', capabilities), 'routedExperts')
  if (images) refuse(whyUnsupported('images', capabilities), 'images')
  if (images && routedExperts) refuse(EXPERTS_WITH_IMAGES, 'routedExperts')
  if (endpoint === 'chat') refuse(whyUnsupported('chatIds', capabilities), 'endpoint')
}

/** Throws HttpProblem if the server cannot score given ids, has no such adapter, or reads no images. */
export function checkScoring(
  server: Pick<ServerDescription, 'capabilities' | 'adapters'>,
  {
    adapters = [],
    routedExperts = false,
    images = false,
  }: {
    readonly adapters?: readonly string[]
    readonly routedExperts?: boolean | undefined
    readonly images?: boolean
  } = {},
): void {
  refuse(whyUnsupported('promptLogprobs', server.capabilities), 'server')
  if (images) {
    refuse(whyUnsupported('images', server.capabilities), 'server')
    refuse(whyImagesInMessagesOnly(server.capabilities), 'server')
  }
  if (images && routedExperts) refuse(EXPERTS_WITH_IMAGES, 'routedExperts')
  for (const adapter of adapters) checkAdapter(server, adapter)
  if (routedExperts) refuse(whyUnsupported('routedExperts', server.capabilities), 'routedExperts')
}

/** A server reads more positions than are sent for each image, so its experts do not belong to the sent ids. */
const EXPERTS_WITH_IMAGES: Refusal = {
  detail: 'Routed experts are not returned by the sent ids if a prompt has images.',
  hint: 'Choose no routed experts, or remove the images.',
}

/** A server whose list of adapters is unknown refuses unknown names itself. */
function checkAdapter(
  { capabilities, adapters }: Pick<ServerDescription, 'capabilities' | 'adapters'>,
  adapter: string | undefined,
): void {
  if (adapter === undefined) return
  refuse(whyUnsupported('adapters', capabilities), 'adapter')
  if (!adapters || adapters.includes(adapter)) return
  throw new HttpProblem({
    status: 422,
    code: 'NO_ADAPTER',
    detail: `the server has no LoRA adapter “${adapter}”: it has ${adapters.join(', ') || 'none'}`,
    hint: 'Choose one of these, or load the adapter on the server.',
    field: 'adapter',
  })
}

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
export function checkLogprobKind(
  { columnMeanings, segments }: Pick<Trajectory, 'columnMeanings' | 'segments'>,
  { capabilities }: Pick<ServerDescription, 'capabilities'>,
): void {
  if (!capabilities || !segments.some(({ kind }) => kind === 'response')) return
  const recorded = columnMeanings?.logprobs?.values ?? 'processed'
  if (recorded === capabilities.logprobs) return
  throw new HttpProblem({
    status: 409,
    code: 'OTHER_LOGPROBS',
    detail: `this trajectory has ${recorded} logprobs, and ${engineSubject(capabilities.engine)} returns ${capabilities.logprobs} ones`,
    hint: 'One column never mixes both. Continue on a server with the same kind of logprobs, or start a new run.',
    field: 'server',
  })
}

function refuse(refusal: Refusal | undefined, field: string): void {
  if (!refusal) return
  const { detail, hint } = refusal
  throw new HttpProblem({ status: 422, code: 'NOT_IN_ENGINE', detail, hint, field })
}
