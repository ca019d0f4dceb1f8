/** Finds why a server cannot score given ids. It is apart from refusals.ts, whose tables the inspector does not need. */
import type { Refusal } from '#lib/sampling/refusal.ts'
import type { ServerDescription } from '../server-status.ts'
import { whyImagesInMessagesOnly, whyUnsupported } from './unsupported.ts'

/** Why a server cannot serve a request. */
export interface FieldRefusal extends Refusal {
  readonly code: 'NOT_IN_ENGINE' | 'NOT_IN_CHAT' | 'NO_ADAPTER' | 'OTHER_LOGPROBS'
  /** The field of the request that cannot be served, such as `sampling.top_k`. */
  readonly field: string
}

/** What is known about the server. Without capabilities, only the server itself knows what it refuses. */
export type RefusingServer = Partial<Pick<ServerDescription, 'capabilities' | 'adapters'>>

/** What a scoring of given ids needs. */
export interface ScoringNeeds {
  /** Names of the LoRA adapters that sampled the responses. */
  readonly adapters?: readonly string[] | undefined
  readonly routedExperts?: boolean | undefined
  /** Whether the ids have images. */
  readonly images?: boolean | undefined
}

/** Returns why a server cannot score given ids; empty if it can. */
export function scoringRefusals(server: RefusingServer, needs: ScoringNeeds): readonly FieldRefusal[] {
  const { adapters = [], routedExperts, images } = needs
  const { capabilities } = server
  return [
    ...inEngine(whyUnsupported('promptLogprobs', capabilities), 'server'),
    ...(images ? inEngine(whyUnsupported('images', capabilities), 'server') : []),
    ...(images ? inEngine(whyImagesInMessagesOnly(capabilities), 'server') : []),
    ...(images && routedExperts ? inEngine(EXPERTS_WITH_IMAGES, 'routedExperts') : []),
    ...adapters.flatMap((adapter) => adapterRefusals(server, adapter)),
    ...(routedExperts ? inEngine(whyUnsupported('routedExperts', capabilities), 'routedExperts') : []),
  ]
}

/** A server reads more positions than are sent for each image, so its experts do not belong to the sent ids. */
export const EXPERTS_WITH_IMAGES: Refusal = {
  detail: 'Routed experts are not returned by the sent ids if a prompt has images.',
  hint: 'Choose no routed experts, or remove the images.',
}

/** Returns why a server cannot use an adapter; empty if it can. A server whose list of adapters is unknown refuses unknown names itself. */
export function adapterRefusals(
  { capabilities, adapters }: RefusingServer,
  adapter: string | undefined,
): readonly FieldRefusal[] {
  if (adapter === undefined) return []
  const unsupported = inEngine(whyUnsupported('adapters', capabilities), 'adapter')
  if (unsupported.length > 0 || !adapters || adapters.includes(adapter)) return unsupported
  return [
    {
      code: 'NO_ADAPTER',
      detail: `The server has no LoRA adapter “${adapter}”: it has ${adapters.join(', ') || 'none'}.`,
      hint: 'Choose one of these, or load the adapter on the server.',
      field: 'adapter',
    },
  ]
}

/** Returns a refusal of the engine at a field of the request; empty if there is none. */
export const inEngine = (refusal: Refusal | undefined, field: string): readonly FieldRefusal[] =>
  refusal ? [{ code: 'NOT_IN_ENGINE', detail: refusal.detail, hint: refusal.hint, field }] : []
