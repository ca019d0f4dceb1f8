/** Finds what a server cannot serve of a request. The page disables the request with the first reason, and the server refuses it. */
import { engineSubject } from '#lib/sampling/engine-names.ts'
import { NOT_IN_CHAT, unsupportedParameter } from '#lib/sampling/engine-parameters.ts'
import type { Refusal } from '#lib/sampling/refusal.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { ServerDescription } from '../server-status.ts'
import { tooManyAlternatives, whyImagesInMessagesOnly, whyUnsupported } from './unsupported.ts'

/** Why a server cannot serve a request. */
export interface FieldRefusal extends Refusal {
  readonly code: 'NOT_IN_ENGINE' | 'NOT_IN_CHAT' | 'NO_ADAPTER' | 'OTHER_LOGPROBS'
  /** The field of the request that cannot be served, such as `sampling.top_k`. */
  readonly field: string
}

/** What is known about the server. Without capabilities, only the server itself knows what it refuses. */
export type RefusingServer = Partial<Pick<ServerDescription, 'capabilities' | 'adapters'>>

/** The parts of a run that a server may be unable to serve. */
export interface RunNeeds {
  readonly sampling?: SamplingRequest | undefined
  readonly promptLogprobs?: boolean | undefined
  readonly endpoint?: string | undefined
  readonly topLogprobs?: number | undefined
  readonly adapter?: string | undefined
  readonly routedExperts?: boolean | undefined
  /** Whether the conversation has images. */
  readonly images?: boolean | undefined
  /** Whether the prompt is a text or ids, without a chat template. */
  readonly rawPrompt?: boolean | undefined
}

/** Returns why a server cannot run a request; empty if it can. */
export function runRefusals(server: RefusingServer, needs: RunNeeds): readonly FieldRefusal[] {
  const { sampling = {}, promptLogprobs, endpoint, topLogprobs = 0, adapter, routedExperts, images, rawPrompt } = needs
  const { capabilities } = server
  const parameter = capabilities && unsupportedParameter(capabilities.engine, sampling)
  const isChat = endpoint === 'chat'
  const notInChat = isChat ? NOT_IN_CHAT.find((name) => name in sampling) : undefined
  return [
    ...adapterRefusals(server, adapter),
    ...(parameter
      ? inEngine(parameter, parameter.isFurther ? `sampling.further.${parameter.name}` : `sampling.${parameter.name}`)
      : []),
    ...inEngine(tooManyAlternatives(topLogprobs, capabilities), 'topLogprobs'),
    ...(promptLogprobs ? inEngine(whyUnsupported('promptLogprobs', capabilities), 'promptLogprobs') : []),
    ...(routedExperts ? inEngine(whyUnsupported('routedExperts', capabilities), 'routedExperts') : []),
    ...(images ? inEngine(whyUnsupported('images', capabilities), 'images') : []),
    ...(images && routedExperts ? inEngine(EXPERTS_WITH_IMAGES, 'routedExperts') : []),
    ...(isChat ? inEngine(whyUnsupported('chatIds', capabilities), 'endpoint') : []),
    ...(isChat && rawPrompt
      ? inChat('A chat endpoint takes messages, and this prompt is a text or ids.', 'Write a question', 'endpoint')
      : []),
    ...(notInChat
      ? inChat(`/v1/chat/completions does not accept ${notInChat}.`, 'Remove it', `sampling.${notInChat}`)
      : []),
  ]
}

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

/** Returns why a further turn would mix raw and processed logprobs in one column; undefined if it would not. */
export function logprobKindRefusal(
  {
    columnMeanings,
    segments,
  }: Pick<Trajectory, 'columnMeanings'> & { readonly segments: readonly { readonly kind: string }[] },
  { capabilities }: RefusingServer,
): FieldRefusal | undefined {
  if (!capabilities || !segments.some(({ kind }) => kind === 'response')) return undefined
  const recorded = columnMeanings?.logprobs?.values ?? 'processed'
  if (recorded === capabilities.logprobs) return undefined
  return {
    code: 'OTHER_LOGPROBS',
    detail: `This trajectory has ${recorded} logprobs, and ${engineSubject(capabilities.engine)} returns ${capabilities.logprobs} ones.`,
    hint: 'One column never mixes both. Continue on a server with the same kind of logprobs, or start a new run.',
    field: 'server',
  }
}

/** A server reads more positions than are sent for each image, so its experts do not belong to the sent ids. */
const EXPERTS_WITH_IMAGES: Refusal = {
  detail: 'Routed experts are not returned by the sent ids if a prompt has images.',
  hint: 'Choose no routed experts, or remove the images.',
}

/** A server whose list of adapters is unknown refuses unknown names itself. */
function adapterRefusals(
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

const inChat = (detail: string, remedy: string, field: string): readonly FieldRefusal[] => [
  { code: 'NOT_IN_CHAT', detail, hint: `${remedy}, or run without the chat endpoint.`, field },
]

const inEngine = (refusal: Refusal | undefined, field: string): readonly FieldRefusal[] =>
  refusal ? [{ code: 'NOT_IN_ENGINE', detail: refusal.detail, hint: refusal.hint, field }] : []
