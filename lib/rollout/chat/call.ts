/**
 * One call over a chat endpoint: it sends messages and records the ids that the server has read and written. The
 * recorded prompt continues the sampled ids; if the server read others, the request reports it.
 */

import { DEFAULT_MAX_NEW_TOKENS } from '#lib/api/run-request.ts'
import type { ChatAnswer, ChatRequest, EngineClient } from '#lib/engine/engine.ts'
import { placePrompt } from '#lib/rollout/prompt/placed-prompt.ts'
import { computeSettled, firstPrompt, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { addTokens, closePrompt, closeResponse, openPrompt, openResponse } from '#lib/rollout/record/record.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import type { LiveTrajectory, RolloutEvent } from '#lib/trajectory/events/events.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { Message, Problem, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { imagePartsOf } from '#lib/trajectory/images/image-boxes.ts'
import { imageSpans, placeholderIds, placeholderRuns } from '#lib/trajectory/images/placeholders.ts'
import { type ChatMessage, commonMessages, sentMessages } from '#lib/trajectory/messages/chat-call.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { endedBefore, requireContinuable, unsent } from '../loop/call-ending.ts'
import type { CallSettings, ModelDependencies } from '../loop/call-input.ts'
import { roomFor, samplingWithin } from '../loop/limits.ts'
import type { Recorder } from '../loop/recorder.ts'
import { RunEnded } from '../loop/run-ended.ts'
import { readCalls, withOwnIds } from './reply-message.ts'
import { chatSampling } from './sampling.ts'

/** The dependencies of a call over a chat endpoint. */
export interface ChatDependencies extends ModelDependencies {
  readonly chat: EngineClient['chat']
}

/**
 * Sends all of `sent`; `messages` are the messages that are new in the record. Returns the closed response; throws RunEnded
 * when the run cannot continue. A failed call leaves no trace.
 */
export async function callChat(
  recorder: Recorder,
  messages: readonly Message[],
  sent: readonly ChatMessage[],
  settings: CallSettings,
  dependencies: ChatDependencies,
  signal: AbortSignal,
): Promise<ResponseSegment> {
  const { serverName } = dependencies
  const { newVocabulary } = recorder
  const { model } = recorder.trajectory
  // Only the server knows how long the prompt will be.
  const room = roomFor(
    recorder.trajectory,
    0,
    settings.sampling.max_new_tokens ?? DEFAULT_MAX_NEW_TOKENS,
    settings.limits,
  )
  if (room.tokens < 1 && room.reason !== 'length')
    throw new RunEnded({ kind: 'ended', reason: room.reason, ...unsent({ kind: 'messages', messages }) })
  const request = {
    model: model.name ?? 'default',
    messages: sent,
    tools: model.tools,
    sampling: chatSampling(samplingWithin(settings.sampling, room.tokens)),
    templateOptions: model.template?.options ?? {},
    adapter: settings.adapter,
    rid: dependencies.newRequestId(),
  }
  const startedAt = dependencies.now().toISOString()
  const started = dependencies.elapsedMs()
  const { answer, place, problems } = await answerCall(recorder, messages, request, dependencies, signal).catch(
    (error) => {
      throw endedBefore(error, { kind: 'messages', messages }, signal)
    },
  )
  const isEmptyAbort = answer.end.finish.kind === 'abort' && answer.tokens.ids.length === 0
  if (isEmptyAbort) throw new RunEnded({ kind: 'ended', reason: 'aborted', ...unsent({ kind: 'messages', messages }) })

  const sharedMessages = commonMessages(sentMessages(recorder.trajectory.segments), sent)
  recorder.emit(openPrompt(messages, { ids: place.ids, derivation: { kind: 'reported' }, problems: [] }, newVocabulary))
  recorder.emit(closePrompt({}, problems, newVocabulary))
  const record: NonNullable<ResponseSegment['request']> = {
    server: serverName,
    rid: answer.rid ?? request.rid,
    endpoint: 'chat',
    chat: { model: request.model, kept: sharedMessages, messages: sent.slice(sharedMessages) },
    ...(place.read && { read: place.read }),
    samplingParams: request.sampling,
    inputLength: answer.promptIds.length,
    inputHash: inputHash(answer.promptIds),
    streamed: false,
    ...(request.adapter !== undefined && { adapter: request.adapter }),
  }
  recorder.emit({ ...openResponse(record), ...newVocabulary(place.read?.ids ?? []) })
  if (answer.tokens.ids.length > 0) recorder.emit(addTokens(answer.tokens, newVocabulary))
  const timing = { startedAt, elapsedMs: Math.max(0, dependencies.elapsedMs() - started) }
  recorder.emit(closeSegments(recorder.trajectory, answer, timing, dependencies))
  const response = recorder.trajectory.segments.at(-1)
  if (response?.kind !== 'response') throw new Error('a closed response is the last segment')
  return requireContinuable(response, room)
}

/** Returns the answer, with the bytes of its tokens. */
async function answerCall(
  { trajectory }: Recorder,
  messages: readonly Message[],
  request: Omit<ChatRequest, 'vocabularySize' | 'expected'>,
  dependencies: ChatDependencies,
  signal: AbortSignal,
) {
  const { promptEncoder, server } = dependencies
  const { vocabularySize, bytes } = promptEncoder.tokenizer
  const answer = await dependencies.chat({ ...request, vocabularySize, expected: server }, signal)
  const place = await computeSettled(
    promptEncoder,
    () => {
      for (const id of [...answer.promptIds, ...answer.tokens.ids]) bytes(id)
      return placePrompt(trajectory, answer.promptIds, bytes)
    },
    signal,
  )
  const isFirst = trajectory.segments.length === 0
  const problems = isFirst ? await templateProblems(trajectory, messages, answer, promptEncoder, signal) : []
  return { answer, place, problems }
}

/**
 * Returns the problems of the record's template: the server has a template of its own, which may differ from the first
 * token.
 */
async function templateProblems(
  { model }: Trajectory,
  messages: readonly Message[],
  { promptIds }: ChatAnswer,
  promptEncoder: PromptEncoder,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const settings = { tools: model.tools, options: model.template?.options ?? {} }
  try {
    const { ids } = await computeSettled(promptEncoder, () => firstPrompt(messages, settings, promptEncoder), signal)
    const read = withoutPositions(promptIds, messages, promptEncoder)
    if (read.length === ids.length && commonIds(ids, read) === ids.length) return []
    const same = commonIds(ids, promptIds)
    const message = `The server’s prompt differs from the render of the recorded chat template, from token ${same}.`
    return [{ kind: 'prompt', message, index: same }]
  } catch (error) {
    if (error instanceof TemplateError)
      return [
        {
          kind: 'prompt',
          message: `The recorded chat template cannot render the conversation: ${error.message}`,
        },
      ]
    throw error
  }
}

/** Returns the ids of a prompt with one placeholder for each image, as a template writes them: a server reads as many as it has positions. */
function withoutPositions(
  promptIds: readonly number[],
  messages: readonly Message[],
  { tokenizer }: PromptEncoder,
): readonly number[] {
  const runs = placeholderRuns(promptIds, placeholderIds(tokenizer.addedTokens))
  return toEngineInput({
    inputIds: promptIds,
    images: { spans: imageSpans(runs, messages.flatMap(imagePartsOf).length) },
  }).inputIds
}

/** Returns the reply as the agent's parser and the server's parser read it. */
function closeSegments(
  trajectory: LiveTrajectory,
  { end, message, problems }: ChatAnswer,
  timing: NonNullable<ResponseSegment['timing']>,
  { parser, promptEncoder }: ModelDependencies,
): RolloutEvent {
  const { serverMs, ...known } = end
  const ending = { ...known, problems, timing: { ...timing, ...(serverMs !== undefined && { serverMs }) } }
  const event = closeResponse(trajectory, ending, parser, promptEncoder.tokenizer)
  if (event.type !== 'segment' || event.segment.kind !== 'response') return event
  const taken = new Set(toolCallsOf(trajectory).map(({ id }) => id))
  const messageWithIds = withOwnIds(message, taken)
  const length = trajectory.live?.open?.ids.length ?? 0
  const read = readCalls(event.segment.toolCalls, messageWithIds, length)
  const all = [...(event.segment.problems ?? []), ...read.problems]
  return {
    ...event,
    segment: {
      ...event.segment,
      message: messageWithIds,
      toolCalls: read.toolCalls,
      ...(all.length > 0 && { problems: all }),
    },
  }
}
