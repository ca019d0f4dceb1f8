/** Builds trajectories from files that have texts and no token ids: segments without tokens, which have their messages. */
import { isObject, type JsonObject, storable } from '#lib/json/json-object.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { MissingContent } from '#lib/trajectory/format/missing-content.ts'
import type { Message, Outcome, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { assistantMessage, readForeignMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { isItem, messagesOfItems } from '#lib/trajectory/messages/response-items.ts'
import { foreignTrajectory } from '../foreign-trajectory.ts'
import type { RecordSource } from '../format.ts'
import { joinedPath, refuse } from '../reading/record-error.ts'

/** What a file with texts says about a sample. */
export interface TextSample {
  readonly format: string
  readonly segments: readonly Segment[]
  readonly reward?: unknown
  readonly group?: Trajectory['group']
  readonly outcome?: Outcome | undefined
  readonly model?: string | undefined
  readonly tools?: readonly ToolSpec[] | undefined
  readonly lacked?: readonly string[]
  /** What it lacks by name, as far as the trajectory does not show it. */
  readonly missing?: readonly MissingContent[]
  readonly createdAt?: string | undefined
  readonly rest: JsonObject | undefined
}

/** Returns the trajectory of a sample. */
export function textTrajectory(sample: TextSample, source: RecordSource): Trajectory {
  const { model, lacked = [], ...found } = sample
  return foreignTrajectory(
    {
      ...found,
      outcome: sample.outcome ?? { kind: 'ended', reason: 'unknown' },
      reward: sample.reward,
      lacked: ['token ids, logprobs and loss mask', ...lacked],
      modelName: model,
    },
    source,
  )
}

/**
 * Returns the segments of a conversation, whose messages may be items of the Responses API: each message of the model is a response.
 * Refuses what is no message, at its path: in the list at `path`, or that of its index.
 */
export function conversationSegments(
  messages: readonly unknown[],
  path: string | ((index: number) => string),
): readonly Segment[] {
  const pathOf = typeof path === 'string' ? (index: number) => `${path}[${index}]` : path
  const segments: Segment[] = []
  let promptMessages: Message[] = []
  const close = () => {
    if (promptMessages.length > 0) segments.push(promptSegment(promptMessages))
    promptMessages = []
  }
  const all = messages.some(isItem) ? messagesOfItems(messages) : messages.map((message, index) => ({ message, index }))
  for (const { message, index } of all) {
    if (isObject(message) && message.role === 'assistant') {
      close()
      segments.push(responseSegment(message))
    } else promptMessages.push(...messageAt(message, pathOf(index)))
  }
  close()
  return segments
}

/** Returns all messages of a prompt, in which those of the model are given too. */
const messagesOfPrompt = (messages: readonly unknown[], path: string): readonly Message[] =>
  messages.flatMap((message, index) => messageAt(message, `${path}[${index}]`))

function messageAt(value: unknown, path: string): readonly Message[] {
  const read = readForeignMessage(value)
  const role = isObject(value) ? value.role : undefined
  if (typeof role === 'string' && !ROLES.includes(role))
    refuse(joinedPath(path, 'role'), `one of ${ROLES.join(', ')}`, role)
  return read ?? refuse(path, 'a message with a known role and its content', value)
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

/** Returns a prompt without tokens. */
export const promptSegment = (messages: readonly Message[]): Segment => ({ kind: 'prompt', ids: [], messages })

/** Returns a response without tokens. */
export const responseSegment = (message: JsonObject): ResponseSegment => ({
  kind: 'response',
  ids: [],
  thinks: [],
  toolCalls: [],
  message: storable(message),
})

/** Returns the segments of a prompt and its completion, which are texts or lists of messages. */
export function completionSegments(
  prompt: unknown,
  completion: unknown,
  paths: { readonly prompt: string; readonly completion: string },
): readonly Segment[] {
  const messages = Array.isArray(prompt)
    ? messagesOfPrompt(prompt, paths.prompt)
    : [{ role: 'user' as const, content: textAt(prompt, paths.prompt) }]
  const replies = Array.isArray(completion)
    ? conversationSegments(completion, paths.completion)
    : [responseSegment({ role: 'assistant', content: textAt(completion, paths.completion) })]
  return [promptSegment(messages), ...replies]
}

const textAt = (value: unknown, path: string): string =>
  typeof value === 'string' ? value : refuse(path, 'a text or a list of messages', value)

/** Returns how a conversation ended: after a message of the model that calls no tool, the turn has ended. */
export function outcomeOfMessages(segments: readonly Segment[]): Outcome {
  const last = segments.at(-1)
  const hasEnded =
    last?.kind === 'response' && last.message !== undefined && assistantMessage(last.message).toolCalls === undefined
  return { kind: 'ended', reason: hasEnded ? 'end_turn' : 'unknown' }
}

/** Reads each record of a list. A path begins with the index of its record, unless there is only one. */
export const recordsOf = (value: unknown): readonly { readonly record: JsonObject; readonly path: string }[] =>
  Array.isArray(value)
    ? value.filter(isObject).map((record, index) => ({ record, path: value.length > 1 ? `[${index}].` : '' }))
    : [{ record: value as JsonObject, path: '' }]

/** Returns a function that gives each sample its group: equal keys are one group, in which samples are counted. */
export function groupCounter(): (key: string | undefined) => Pick<TextSample, 'group'> {
  const counts = new Map<string, number>()
  return (key) => {
    if (key === undefined) return {}
    const index = counts.get(key) ?? 0
    counts.set(key, index + 1)
    return { group: { id: key, index } }
  }
}
