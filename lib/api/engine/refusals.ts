/** Finds what a server cannot serve of a request. The page disables the request with the first reason, and the server refuses it. */
import { engineSubject } from '#lib/sampling/engine-names.ts'
import { NOT_IN_CHAT, unsupportedParameter } from '#lib/sampling/engine-parameters.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import {
  adapterRefusals,
  EXPERTS_WITH_IMAGES,
  type FieldRefusal,
  inEngine,
  type RefusingServer,
} from './scoring-refusals.ts'
import { tooManyAlternatives, whyUnsupported } from './unsupported.ts'

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
    ...(isChat && images
      ? inChat('The chat endpoint is sent the texts of messages only, without images.', 'Remove the images', 'images')
      : []),
    ...(notInChat
      ? inChat(`/v1/chat/completions does not accept ${notInChat}.`, 'Remove it', `sampling.${notInChat}`)
      : []),
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

const inChat = (detail: string, remedy: string, field: string): readonly FieldRefusal[] => [
  { code: 'NOT_IN_CHAT', detail, hint: `${remedy}, or run without the chat endpoint.`, field },
]
