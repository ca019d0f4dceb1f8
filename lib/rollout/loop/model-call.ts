/** One call to the model: the ids that are sent, the reply, and the part that is kept when the call fails. */
import { liveViewOf } from '#lib/api/engine/live-view.ts'
import { DEFAULT_MAX_NEW_TOKENS } from '#lib/api/run-request.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { Chunk, End } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { computeSettled, firstPrompt, nextPrompt, type Prompt, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import {
  type ArrivedTokens,
  addTokens,
  closePrompt,
  closeResponse,
  type Ending,
  type NewCallIds,
  openPrompt,
  openResponse,
  reopenResponse,
  resumedEnding,
} from '#lib/rollout/record/record.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import { createSentIds } from '#lib/sglang/reply/sent-ids.ts'
import { droppedByRouter } from '#lib/sglang/server/router.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { expertsSoFar, readExperts } from '#lib/trajectory/experts/routed-experts.ts'
import type { Finish, Message, Problem, ResponseSegment, RoutedExperts } from '#lib/trajectory/format/trajectory.ts'
import { imagePartsOf } from '#lib/trajectory/images/image-boxes.ts'
import { alternativesFrom } from '#lib/trajectory/tokens/alternatives.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { contextNeeded, endedBefore, failureOutcome, requireContinuable, unsent } from './call-ending.ts'
import { furtherTokens, furtherTokensIn, imagesOfCall } from './call-images.ts'
import { conversationOfCall } from './image-messages.ts'
import { type RunLimits, roomFor, samplingWithin } from './limits.ts'
import type { Recorder } from './recorder.ts'
import { RunEnded } from './run-ended.ts'

/** The settings of every call of a run. */
export interface CallSettings {
  readonly sampling: Sampling
  readonly limits: RunLimits
  /** True to request the logprobs of each new prompt (prefill, temperature 1). */
  readonly promptLogprobs: boolean
  /** Number of alternatives for each token; 0 requests none. */
  readonly topLogprobs: number
  readonly stream: boolean
  /** Fewest tokens of a chunk of a stream, where the server lets the client choose. Omitted: few enough for a live view. */
  readonly leastTokensPerChunk?: number
  /** Name of the LoRA adapter. Omitted: none. */
  readonly adapter?: string
  /** See GenerateRequest. Omitted: none. */
  readonly routingKey?: string
  /** True to request the experts that read each token. */
  readonly routedExperts?: boolean
  /** Most new tokens of a call that resumes a response, in place of max_new_tokens. Omitted: the same as of other calls. */
  readonly resumedMaxNewTokens?: number
  /** How many more tokens the server reads for images than are sent, as its refusal shows. Omitted: as earlier replies reported. */
  readonly furtherTokens?: number
}

/**
 * The input that a call adds: messages through the chat template; for the first call, text or ids as given; or nothing, if it
 * resumes the trajectory from its own ids: it continues the last response, or answers the last prompt.
 */
export type PromptInput =
  | { readonly kind: 'resume' }
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }
  | { readonly kind: 'given'; readonly prompt: Prompt }

/** The dependencies of a token-in/token-out call. */
export interface CallDependencies extends ModelDependencies {
  readonly generate: EngineClient['generate']
  /** Shares the first prompt between runs that begin with the same one: it is derived for one of them. */
  readonly firstPrompt?: (derive: (signal: AbortSignal) => Promise<Prompt>, signal: AbortSignal) => Promise<Prompt>
}

/** The dependencies of every call, for any endpoint. */
export interface ModelDependencies {
  readonly serverName: string
  /** The description of the server when the run began. */
  readonly server: Partial<ServerDescription>
  readonly promptEncoder: PromptEncoder
  readonly parser: ToolParser
  readonly now: () => Date
  /** Returns the milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number
  /** Returns a unique id of fixed length. */
  readonly newRequestId: () => string
  /** Omitted: calls are numbered through the trajectory. */
  readonly newCallIds?: NewCallIds
}

/** Fewest tokens of a chunk of a stream with images: each chunk repeats the ids of the whole prompt. */
const TOKENS_A_STEP = 32

/** Each run has a recorder of its own. */
const sentBy = memoizeByIdentity((_: Recorder) => createSentIds())

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
  const { promptEncoder, parser } = dependencies
  const messages = promptInput.kind === 'messages' ? promptInput.messages : []
  const { tokenizer } = promptEncoder
  const resumed = promptInput.kind === 'resume' ? lastResponse(recorder) : undefined
  // A branch may begin with a response that has ended, and only its calls remain.
  if (resumed?.finish?.kind === 'stop') return resumed
  const prompt =
    promptInput.kind === 'resume'
      ? undefined
      : promptInput.kind === 'given'
        ? promptInput.prompt
        : await derivePrompt(recorder, messages, dependencies, signal)
  const known = tokenCount(recorder.trajectory)
  const { newVocabulary } = recorder
  const { segments } = recorder.trajectory
  const input = resumed
    ? sentBy(recorder).input(segments.slice(0, -1), resumed.ids)
    : sentBy(recorder).input(segments, prompt?.ids ?? [])
  const images = imagesOfCall({
    trajectory: recorder.trajectory,
    messages,
    inputIds: input.ids,
    tokenizer,
    unsent: unsent(promptInput),
  })
  const conversation =
    images && dependencies.server.capabilities?.imagesInMessages
      ? await conversationOfCall({ recorder, promptInput, inputIds: input.ids, images }, dependencies, signal)
      : undefined
  const further = settings.furtherTokens ?? (images ? furtherTokens(images) : 0)
  const requestedTokens =
    (resumed && settings.resumedMaxNewTokens) ?? settings.sampling.max_new_tokens ?? DEFAULT_MAX_NEW_TOKENS
  const room = roomFor(recorder.trajectory, (prompt?.ids.length ?? 0) + further, requestedTokens, settings.limits)
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

  const sampling = samplingWithin(settings.sampling, room.tokens)
  const view = settings.stream
    ? liveViewOf(dependencies.server, room.tokens, settings.topLogprobs)
    : ({ kind: 'none' } as const)
  const scoresPrompt = settings.promptLogprobs && prompt !== undefined
  const experts = settings.routedExperts ? expertsSoFar(recorder.trajectory) : undefined
  const isStreamed = view.kind !== 'none' && !(images && view.kind === 'token-by-token')
  const request: GenerateRequest = {
    inputIds: input.ids,
    bodyWith: input.bodyWith,
    sampling,
    rid: dependencies.newRequestId(),
    expected: dependencies.server,
    stream: isStreamed,
    ...('tokensPerChunk' in view && {
      streamInterval: Math.max(view.tokensPerChunk, settings.leastTokensPerChunk ?? 0, images ? TOKENS_A_STEP : 0),
    }),
    ...(isStreamed && scoresPrompt && { scoringRid: dependencies.newRequestId() }),
    topLogprobsNum: settings.topLogprobs,
    ...(settings.adapter !== undefined && { adapter: settings.adapter }),
    ...(settings.routingKey !== undefined && { routingKey: settings.routingKey }),
    ...(experts && { routedExpertsStart: experts.end }),
    ...(images && { images: { ...images, conversation } }),
    vocabularySize: tokenizer.vocabularySize,
    // The first requested position has no logprob, so the request begins one position before the new tokens; earlier
    // positions can come from the prefix cache.
    ...(scoresPrompt && { logprobStartLen: Math.max(0, known - 1) }),
  }
  const startedAt = dependencies.now().toISOString()
  const started = dependencies.elapsedMs()
  const elapsed = () => Math.max(0, dependencies.elapsedMs() - started)
  let firstTokenMs: number | undefined
  let end: End | undefined
  const problems: Problem[] = []

  let scores: Chunk['prompt']
  let scoring: Chunk['scoring']
  let imageTokens: Chunk['imageTokens']

  let sent = { ...requestRecord(request, input.hash, dependencies.serverName), rid: request.rid }
  const begin = (rid: string) => {
    sent = {
      ...sent,
      rid,
      ...(scoring && { scoring }),
      ...(imageTokens && sent.images && { images: { ...sent.images, tokens: imageTokens } }),
    }
    if (prompt) {
      const { problems: promptProblems = [], ...columns } = promptColumns(prompt, scores)
      recorder.emit(closePrompt(columns, [...prompt.problems, ...promptProblems], newVocabulary))
    }
    if (!resumed) recorder.emit(openResponse(sent))
    firstTokenMs = elapsed()
  }
  const finish = (finished: Finish) => {
    const found = experts && end && routedExpertsOf(end, tokenCount(recorder.trajectory), experts)
    const ending: Ending = {
      finish: finished,
      problems: [
        ...problems,
        ...droppedByRouter(dependencies.server, settings.sampling, finished),
        ...(found?.ok === false ? [found.problem] : []),
      ],
      timing: {
        startedAt,
        elapsedMs: elapsed(),
        ...(firstTokenMs !== undefined && { firstTokenMs }),
        ...(end?.serverMs !== undefined && { serverMs: end.serverMs }),
      },
      ...(end && { usage: end.usage }),
      ...(end?.weightVersions && { weightVersions: end.weightVersions }),
      ...(end?.text !== undefined && { text: end.text }),
      ...(found?.ok && { routedExperts: found.experts }),
    }
    const whole = resumed ? resumedEnding(resumed, sent, ending, recorder.trajectory.vocab) : ending
    recorder.emit(
      closeResponse(recorder.trajectory, whole, parser, tokenizer, resumed?.toolCalls, dependencies.newCallIds),
    )
    const response = recorder.trajectory.segments.at(-1)
    if (response?.kind !== 'response') throw new Error('a closed response is the last segment')
    return response
  }

  if (prompt) recorder.emit(openPrompt(messages, prompt, newVocabulary))
  else if (resumed) recorder.emit(reopenResponse(sent))
  try {
    for await (const chunk of dependencies.generate(request, signal)) {
      const isEmptyAbort =
        chunk.end?.finish.kind === 'abort' && chunk.tokens.ids.length === 0 && firstTokenMs === undefined
      if (isEmptyAbort) throw new RunEnded({ kind: 'ended', reason: 'aborted', ...unsent(promptInput) })
      scores ??= chunk.prompt
      scoring ??= chunk.scoring
      imageTokens ??= chunk.imageTokens
      if (firstTokenMs === undefined && (chunk.tokens.ids.length > 0 || chunk.end)) begin(chunk.rid ?? request.rid)
      if (chunk.tokens.ids.length > 0) recorder.emit(addTokens(chunk.tokens, newVocabulary))
      for (const problem of chunk.problems) problems.push(problem)
      end = chunk.end ?? end
    }
  } catch (error) {
    if (firstTokenMs === undefined) {
      if (prompt || resumed) recorder.emit({ type: 'retracted' })
      // The positions of new images are unknown here, so only the refusal shows how long the reply may be.
      const refused = images && settings.furtherTokens === undefined ? furtherTokensIn(error, request) : undefined
      if (refused !== undefined && refused > further)
        return callModel(recorder, promptInput, { ...settings, furtherTokens: refused }, dependencies, signal)
      throw endedBefore(error, promptInput, signal)
    }
    if (signal.aborted) {
      finish({ kind: 'cancelled' })
      throw new RunEnded({ kind: 'ended', reason: 'cancelled' })
    }
    if (!(error instanceof EngineError)) {
      finish({
        kind: 'cut',
        code: 'INTERNAL',
        message: 'Rollscope itself failed: see its log. The received part was kept.',
      })
      throw error
    }
    finish({ kind: 'cut', code: error.code, message: error.message })
    throw new RunEnded(failureOutcome(error), { cause: error })
  }
  if (!end) throw new Error('the client closed a reply that has no end')
  return requireContinuable(finish(end.finish), room)
}

/**
 * Returns the experts that an end brings, for the tokens from the first one without experts to the last one but one: the model has not
 * read its last token. `tokens` is the number of all tokens.
 */
function routedExpertsOf(
  { routedExperts, finish }: End,
  tokens: number,
  { end: start, perToken }: ReturnType<typeof expertsSoFar>,
):
  | { readonly ok: true; readonly experts: RoutedExperts }
  | { readonly ok: false; readonly problem: Problem }
  | undefined {
  if (routedExperts === undefined)
    return finish.kind === 'abort'
      ? undefined
      : { ok: false, problem: { kind: 'missing', message: 'The server returned no routed experts.' } }
  const read = readExperts(routedExperts, { start, rows: tokens - 1 - start, perToken })
  return read.ok ? read : { ok: false, problem: { kind: 'count', message: read.why } }
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

/** Returns the scores of the new prompt only: the server returns one more position before it. */
function promptColumns(
  prompt: Prompt,
  scores: Chunk['prompt'],
): Omit<ArrivedTokens, 'ids'> & { readonly problems?: readonly Problem[] } {
  const n = prompt.ids.length
  if (!scores || scores.logprobs.length < n) return { problems: scores?.problems ?? [] }
  const from = scores.logprobs.length - n
  const alternatives = scores.topLogprobs
  return {
    problems: scores.problems.flatMap(({ index = 0, ...problem }) =>
      index >= from ? [{ ...problem, index: index - from }] : [],
    ),
    logprobs: scores.logprobs.slice(from),
    ...(alternatives && { topLogprobs: alternativesFrom(alternatives, from) }),
  }
}

const requestRecord = (
  request: GenerateRequest,
  hash: string,
  server: string,
): Omit<NonNullable<ResponseSegment['request']>, 'rid'> => ({
  server,
  samplingParams: request.sampling,
  inputLength: request.inputIds.length,
  inputHash: hash,
  ...(request.images && { images: { count: request.images.urls.length } }),
  streamed: request.stream,
  ...(request.streamInterval !== undefined && { streamInterval: request.streamInterval }),
  ...(request.logprobStartLen !== undefined && { logprobStartLen: request.logprobStartLen }),
  ...(request.topLogprobsNum > 0 && { topLogprobsNum: request.topLogprobsNum }),
  ...(request.adapter !== undefined && { adapter: request.adapter }),
  ...(request.routedExpertsStart !== undefined && { routedExpertsStart: request.routedExpertsStart }),
})
