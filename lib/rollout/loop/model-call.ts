/** One call to the model: the ids that are sent, the reply, and the part that is kept when the call fails. */
import { liveViewOf } from '#lib/api/engine/live-view.ts'
import { DEFAULT_MAX_NEW_TOKENS } from '#lib/api/run-request.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { computeSettled, firstPrompt, nextPrompt, type Prompt } from '#lib/rollout/prompt/prompt.ts'
import { createSentIds, type SentIds } from '#lib/sglang/reply/sent-ids.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { expertsSoFar } from '#lib/trajectory/experts/routed-experts.ts'
import type { Message, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { imagePartsOf } from '#lib/trajectory/images/image-boxes.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { contextNeeded, endedBefore, endedWithin, requireContinuable, unsent } from './call-ending.ts'
import { furtherTokens, furtherTokensIn, imagesOfCall } from './call-images.ts'
import type { CallDependencies, CallSettings, PromptInput } from './call-input.ts'
import { conversationOfCall } from './image-messages.ts'
import { roomFor, samplingWithin } from './limits.ts'
import type { Recorder } from './recorder.ts'
import { type PreparedCall, recordReply } from './reply-recording.ts'
import { RunEnded } from './run-ended.ts'

/**
 * Sends what `promptInput` adds and records the reply. Returns the closed response; throws RunEnded when the run cannot
 * continue. A failure before the first token leaves no trace; after it the received tokens are kept.
 */
export async function callModel(
  recorder: Recorder,
  promptInput: PromptInput,
  settings: CallSettings,
  dependencies: CallDependencies,
  signal: AbortSignal,
): Promise<ResponseSegment> {
  const resumed = promptInput.kind === 'resume' ? lastResponse(recorder) : undefined
  // A branch may begin with a response that has ended, and only its calls remain.
  if (resumed?.finish?.kind === 'stop') return resumed
  const call = await prepareCall({ recorder, promptInput, resumed }, settings, dependencies, signal)
  const { request, room } = call
  const recording = recordReply(recorder, call, settings, dependencies)
  try {
    for await (const chunk of dependencies.generate(request, signal)) {
      const isEmptyAbort = chunk.end?.finish.kind === 'abort' && chunk.tokens.ids.length === 0
      if (isEmptyAbort && !recording.hasBegun())
        throw new RunEnded({ kind: 'ended', reason: 'aborted', ...unsent(promptInput) })
      recording.add(chunk)
    }
  } catch (error) {
    if (recording.hasBegun()) {
      const { finish, failure } = endedWithin(error, signal)
      sentBefore.set(recording.close(finish).ids, call.sentIds)
      throw failure
    }
    recording.retract()
    // The positions of new images are unknown here, so only the refusal shows how long the reply may be.
    const refused = request.images && settings.furtherTokens === undefined ? furtherTokensIn(error, request) : undefined
    if (refused !== undefined && refused > call.furtherTokens)
      return callModel(recorder, promptInput, { ...settings, furtherTokens: refused }, dependencies, signal)
    throw endedBefore(error, promptInput, signal)
  }
  const response = recording.close()
  sentBefore.set(response.ids, call.sentIds)
  return requireContinuable(response, room)
}

/** What was sent before a response, by the ids of the response. Calls of a session have a recorder each, and share these lists. */
const sentBefore = new WeakMap<readonly number[], SentIds>()

/** Returns what was sent before the last response. Only one call can extend it: another one that continues the same response begins anew. */
function takeSentIds({ segments }: Pick<Trajectory, 'segments'>): SentIds {
  const last = segments.at(-1)
  const sent = last && sentBefore.get(last.ids)
  if (!last || !sent?.continues(segments)) return createSentIds()
  sentBefore.delete(last.ids)
  return sent
}

interface CallSubject {
  readonly recorder: Recorder
  readonly promptInput: PromptInput
  readonly resumed: ResponseSegment | undefined
}

/** Derives the prompt and the request of a call. Throws RunEnded if they cannot be derived, or if there is no room for a reply. */
async function prepareCall(
  { recorder, promptInput, resumed }: CallSubject,
  settings: CallSettings,
  dependencies: CallDependencies,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const { server, newRequestId } = dependencies
  const { tokenizer } = dependencies.promptEncoder
  const messages = promptInput.kind === 'messages' ? promptInput.messages : []
  const prompt =
    promptInput.kind === 'messages'
      ? await derivePrompt(recorder, messages, dependencies, signal)
      : promptInput.kind === 'given'
        ? promptInput.prompt
        : undefined
  const { trajectory } = recorder
  const { segments } = trajectory
  const sentIds = takeSentIds(trajectory)
  const input = resumed ? sentIds.input(segments.slice(0, -1), resumed.ids) : sentIds.input(segments, prompt?.ids ?? [])
  const images = imagesOfCall({ trajectory, messages, inputIds: input.ids, tokenizer, unsent: unsent(promptInput) })
  const conversation =
    images && server.capabilities?.imagesInMessages
      ? await conversationOfCall({ recorder, promptInput, inputIds: input.ids, images }, dependencies, signal)
      : undefined
  const further = settings.furtherTokens ?? (images ? furtherTokens(images) : 0)
  const requestedTokens =
    (resumed && settings.resumedMaxNewTokens) ?? settings.sampling.max_new_tokens ?? DEFAULT_MAX_NEW_TOKENS
  const room = roomFor(trajectory, (prompt?.ids.length ?? 0) + further, requestedTokens, settings.limits)
  if (room.tokens < 1 && room.reason !== 'length')
    throw new RunEnded({
      kind: 'ended',
      reason: room.reason,
      ...unsent(promptInput),
      // SGLang counts the same way: the prompt and the requested tokens.
      context: contextNeeded(
        input.ids.length + further + requestedTokens,
        room.reason === 'context_full' ? room.holds : undefined,
      ),
    })

  const experts = settings.routedExperts ? expertsSoFar(trajectory) : undefined
  const scoresPrompt = settings.promptLogprobs && prompt !== undefined
  const streaming = streamingOf(settings, server, room.tokens, images !== undefined)
  const request: GenerateRequest = {
    inputIds: input.ids,
    bodyWith: input.bodyWith,
    sampling: samplingWithin(settings.sampling, room.tokens),
    rid: newRequestId(),
    expected: server,
    ...streaming,
    ...(streaming.stream && scoresPrompt && { scoringRid: newRequestId() }),
    topLogprobsNum: settings.topLogprobs,
    ...(settings.adapter !== undefined && { adapter: settings.adapter }),
    ...(settings.routingKey !== undefined && { routingKey: settings.routingKey }),
    ...(experts && { routedExpertsStart: experts.end }),
    ...(images && { images: { ...images, conversation } }),
    vocabularySize: tokenizer.vocabularySize,
    // The first requested position has no logprob, so the request begins one position before the new tokens; earlier
    // positions can come from the prefix cache.
    ...(scoresPrompt && { logprobStartLen: Math.max(0, tokenCount(trajectory) - 1) }),
  }
  return { prompt, messages, resumed, request, inputHash: input.hash, sentIds, room, experts, furtherTokens: further }
}

/** Fewest tokens of a chunk of a stream with images: each chunk repeats the ids of the whole prompt. */
const TOKENS_A_STEP = 32

/** Returns how a reply of at most `tokens` tokens arrives: in chunks, or whole. */
function streamingOf(
  settings: CallSettings,
  server: Partial<ServerDescription>,
  tokens: number,
  hasImages: boolean,
): Pick<GenerateRequest, 'stream' | 'streamInterval'> {
  if (!settings.stream) return { stream: false }
  const view = liveViewOf(server, tokens, settings.topLogprobs)
  return {
    stream: view.kind !== 'none' && !(hasImages && view.kind === 'token-by-token'),
    ...('tokensPerChunk' in view && {
      streamInterval: Math.max(view.tokensPerChunk, settings.leastTokensPerChunk ?? 0, hasImages ? TOKENS_A_STEP : 0),
    }),
  }
}

/** Returns the response that ends the trajectory; undefined if a prompt does, which is then answered. */
function lastResponse({ trajectory }: Recorder): ResponseSegment | undefined {
  const last = trajectory.segments.at(-1)
  if (!last) throw new Error('there is nothing to continue')
  return last.kind === 'response' ? last : undefined
}

async function derivePrompt(
  { trajectory }: Recorder,
  messages: readonly Message[],
  { promptEncoder, firstPrompt: shared }: CallDependencies,
  signal: AbortSignal,
): Promise<Prompt> {
  const settings = { tools: trajectory.model.tools, options: trajectory.model.template?.options ?? {} }
  const derive = (): Prompt => {
    const prompt =
      trajectory.segments.length > 0
        ? nextPrompt(trajectory, messages, promptEncoder)
        : firstPrompt(messages, settings, promptEncoder)
    // The bytes for the recorded vocabulary are fetched here, while the encoder can still fetch.
    if (promptEncoder.fetchesBytes) for (const id of prompt.ids) promptEncoder.tokenizer.bytes(id)
    return prompt
  }
  try {
    const derived = (stop: AbortSignal) => computeSettled(promptEncoder, derive, stop)
    return await (shared && trajectory.segments.length === 0 ? shared(derived, signal) : derived(signal))
  } catch (error) {
    if (!(error instanceof TemplateError)) throw endedBefore(error, { kind: 'messages', messages }, signal)
    throw new RunEnded(
      {
        kind: 'failed',
        code: 'TEMPLATE_ERROR',
        message: `the chat template cannot render this: ${error.message}`,
        hint: templateHint(error, messages),
        ...unsent({ kind: 'messages', messages }),
      },
      { cause: error },
    )
  }
}

function templateHint({ className }: TemplateError, messages: readonly Message[]): string {
  if (className === 'BudgetError')
    return 'Shorten the messages, and results of tools with the limit “result characters”; or choose a simpler template.'
  return messages.some((message) => imagePartsOf(message).length > 0)
    ? 'The template may take texts only. Choose the tokenizer of a model that reads images, or remove the images.'
    : 'Change the messages or the template options, or choose another tokenizer.'
}
