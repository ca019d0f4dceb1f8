/** One call to the model: which ids go in, what comes out, and what of it is kept when it fails half-way. */
import { inputHash } from '#lib/core/input-hash.ts'
import { liveViewOf } from '#lib/core/live-view.ts'
import type { ServerDescription } from '#lib/core/server-status.ts'
import { ids as allIds } from '#lib/core/tokens.ts'
import type { Finish, Message, Problem, ResponseSegment } from '#lib/core/trajectory.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import type { SglangClient } from '#lib/sglang/client.ts'
import { SglangError } from '#lib/sglang/errors.ts'
import type { Chunk, End } from '#lib/sglang/reply.ts'
import type { GenerateRequest } from '#lib/sglang/request.ts'
import { droppedByRouter } from '#lib/sglang/router.ts'
import type { Sampling } from '#lib/sglang/sampling.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { type Codec, firstPrompt, nextPrompt, type Prompt, settled } from '#lib/tito/prompt.ts'
import {
  type ArrivedTokens,
  addTokens,
  closePrompt,
  closeResponse,
  openPrompt,
  openResponse,
  vocabularyWriter,
} from '#lib/tito/record.ts'
import { type Limits, roomFor } from './limits.ts'
import type { Recorder } from './recorder.ts'
import { RunEnded } from './run-ended.ts'

export interface CallSettings {
  readonly sampling: Sampling
  readonly limits: Limits
  /** Ask for the logprobs of each new prompt (prefill, temperature 1). */
  readonly promptLogprobs: boolean
  /** Alternatives kept for each token; 0 = none. */
  readonly topLogprobs: number
  readonly stream: boolean
}

export interface CallDependencies {
  readonly generate: SglangClient['generate']
  readonly serverName: string
  /** What it said of itself when the run began. */
  readonly server: Partial<ServerDescription>
  readonly codec: Codec
  readonly parser: ToolParser
  readonly now: () => Date
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number
  /** Of fixed length and unique. */
  readonly newRequestId: () => string
}

/** SGLang's own default of 128 cuts most replies of thinking models. */
const DEFAULT_MAX_NEW_TOKENS = 1024

/**
 * Sends what `messages` add and records the reply. Returns the closed response; throws RunEnded when the run cannot go
 * on. Before the first token a failure leaves no trace; after it what has arrived is kept.
 */
export async function callModel(
  recorder: Recorder,
  messages: readonly Message[],
  settings: CallSettings,
  dependencies: CallDependencies,
  signal: AbortSignal,
): Promise<ResponseSegment> {
  const { codec, parser } = dependencies
  const { tokenizer } = codec
  const known = allIds(recorder.trajectory)
  const prompt = await derivePrompt(recorder, messages, codec, signal)
  const inputIds = [...known, ...prompt.ids]
  const room = roomFor(
    recorder.trajectory,
    prompt.ids.length,
    settings.sampling.max_new_tokens ?? DEFAULT_MAX_NEW_TOKENS,
    settings.limits,
  )
  if (room.tokens < 1 && room.reason !== 'length')
    throw new RunEnded({
      kind: 'ended',
      reason: room.reason,
      ...unsent(messages),
      ...(room.reason === 'context_full' && {
        context: contextNeeded(inputIds.length + 1, recorder.trajectory.model.contextLength),
      }),
    })

  const sampling = { ...settings.sampling, max_new_tokens: room.tokens }
  const view = settings.stream
    ? liveViewOf(dependencies.server, room.tokens, settings.topLogprobs)
    : ({ kind: 'none' } as const)
  const request: GenerateRequest = {
    inputIds,
    sampling,
    rid: dependencies.newRequestId(),
    expected: dependencies.server,
    stream: view.kind !== 'none',
    ...(view.kind !== 'none' && { streamInterval: view.tokensAStep }),
    ...(view.kind !== 'none' && settings.promptLogprobs && { scoringRid: dependencies.newRequestId() }),
    topLogprobsNum: settings.topLogprobs,
    vocabularySize: tokenizer.vocabularySize,
    // One before the first new token: SGLang knows nothing of the first position it is asked for, and what lies before
    // can come from its prefix cache.
    ...(settings.promptLogprobs && { logprobStartLen: Math.max(0, known.length - 1) }),
  }
  const startedAt = dependencies.now().toISOString()
  const started = dependencies.elapsedMs()
  const elapsed = () => Math.max(0, dependencies.elapsedMs() - started)
  let firstTokenMs: number | undefined
  let end: End | undefined
  const problems: Problem[] = []
  const newVocabulary = vocabularyWriter(recorder.trajectory, tokenizer)

  let scores: Chunk['prompt']
  let scoring: Chunk['scoring']

  const begin = (rid: string) => {
    const { problems: promptProblems = [], ...columns } = promptColumns(prompt, scores)
    recorder.emit(closePrompt(columns, [...prompt.problems, ...promptProblems], newVocabulary))
    recorder.emit(
      openResponse({ ...requestRecord(request, dependencies.serverName), rid, ...(scoring && { scoring }) }),
    )
    firstTokenMs = elapsed()
  }
  const finish = (finished: Finish) => {
    recorder.emit(
      closeResponse(
        recorder.trajectory,
        {
          finish: finished,
          problems: [...problems, ...droppedByRouter(dependencies.server, settings.sampling, finished)],
          timing: {
            startedAt,
            elapsedMs: elapsed(),
            ...(firstTokenMs !== undefined && { firstTokenMs }),
            ...(end?.serverMs !== undefined && { serverMs: end.serverMs }),
          },
          ...(end && { usage: end.usage }),
          ...(end?.weightVersions && { weightVersions: end.weightVersions }),
          ...(end?.text !== undefined && { text: end.text }),
        },
        parser,
        tokenizer,
      ),
    )
    const response = recorder.trajectory.segments.at(-1)
    if (response?.kind !== 'response') throw new Error('a closed response is the last segment')
    return response
  }

  recorder.emit(openPrompt(messages, prompt, newVocabulary))
  try {
    for await (const chunk of dependencies.generate(request, signal)) {
      const isEmptyAbort =
        chunk.end?.finish.kind === 'abort' && chunk.tokens.ids.length === 0 && firstTokenMs === undefined
      if (isEmptyAbort) throw new RunEnded({ kind: 'ended', reason: 'aborted', ...unsent(messages) })
      scores ??= chunk.prompt
      scoring ??= chunk.scoring
      if (firstTokenMs === undefined && (chunk.tokens.ids.length > 0 || chunk.end)) begin(chunk.rid ?? request.rid)
      if (chunk.tokens.ids.length > 0) recorder.emit(addTokens(chunk.tokens, newVocabulary))
      problems.push(...chunk.problems)
      end = chunk.end ?? end
    }
  } catch (error) {
    if (firstTokenMs === undefined) {
      recorder.emit({ type: 'retracted' })
      throw endedBefore(error, messages, signal)
    }
    if (signal.aborted) {
      finish({ kind: 'cancelled' })
      throw new RunEnded({ kind: 'ended', reason: 'cancelled' })
    }
    if (!(error instanceof SglangError)) {
      finish({ kind: 'cut', code: 'INTERNAL', message: 'Rollscope itself failed; what had arrived was kept.' })
      throw error
    }
    finish({ kind: 'cut', code: error.code, message: error.message })
    throw new RunEnded(failed(error), { cause: error })
  }
  if (!end) throw new Error('the client ended a reply without its end')
  return goingOn(finish(end.finish), room.reason, recorder.trajectory.model.contextLength)
}

async function derivePrompt(
  { trajectory }: Recorder,
  messages: readonly Message[],
  codec: Codec,
  signal: AbortSignal,
): Promise<Prompt> {
  const settings = { tools: trajectory.model.tools, options: trajectory.model.template?.options ?? {} }
  const derive = (): Prompt => {
    const prompt =
      trajectory.segments.length > 0 ? nextPrompt(trajectory, messages, codec) : firstPrompt(messages, settings, codec)
    // The vocabulary that is recorded with the prompt is asked for here, where it can still be fetched.
    for (const id of prompt.ids) codec.tokenizer.bytes(id)
    return prompt
  }
  try {
    return await settled(codec, derive, signal)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw endedBefore(error, messages, signal)
    throw new RunEnded(
      {
        kind: 'failed',
        code: 'TEMPLATE_ERROR',
        message: `the chat template cannot render this: ${error.message}`,
        hint: 'Change the messages or the template options, or choose another tokenizer.',
        ...unsent(messages),
      },
      { cause: error },
    )
  }
}

/** Scores of the new prompt alone: the server gives one position more before it. */
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
    ...(alternatives && {
      topLogprobs: {
        k: alternatives.k,
        ids: alternatives.ids.slice(from * alternatives.k),
        logprobs: alternatives.logprobs.slice(from * alternatives.k),
      },
    }),
  }
}

const requestRecord = (
  request: GenerateRequest,
  server: string,
): Omit<NonNullable<ResponseSegment['request']>, 'rid'> => ({
  server,
  samplingParams: request.sampling,
  inputLength: request.inputIds.length,
  inputHash: inputHash(request.inputIds),
  streamed: request.stream,
  ...(request.streamInterval !== undefined && { streamInterval: request.streamInterval }),
  ...(request.logprobStartLen !== undefined && { logprobStartLen: request.logprobStartLen }),
  ...(request.topLogprobsNum > 0 && { topLogprobsNum: request.topLogprobsNum }),
})

/** The response, when the agent may act on it. */
function goingOn(
  response: ResponseSegment,
  whenUsedUp: 'length' | 'context_full' | 'max_tokens',
  contextLength: number | undefined,
): ResponseSegment {
  switch (response.finish?.kind) {
    case 'length':
      throw new RunEnded({
        kind: 'ended',
        reason: whenUsedUp,
        ...(whenUsedUp === 'context_full' && { context: contextNeeded(undefined, contextLength) }),
      })
    case 'abort':
      throw new RunEnded({ kind: 'ended', reason: 'aborted' })
    case 'unknown':
      throw new RunEnded({
        kind: 'failed',
        code: 'UNKNOWN_FINISH',
        message: `the server ended the reply for a reason that is not known: ${response.finish.raw}`,
        hint: 'The reply is kept, and no tool call of it was executed. Look at the server’s log, then send again.',
      })
    default:
      return response
  }
}

/** Nothing has come: the messages are given back, so that they can be sent again. */
function endedBefore(error: unknown, messages: readonly Message[], signal: AbortSignal): unknown {
  if (error instanceof RunEnded) return error
  if (signal.aborted) return new RunEnded({ kind: 'ended', reason: 'cancelled', ...unsent(messages) })
  if (!(error instanceof SglangError)) return error
  if (error.code === 'CONTEXT_LENGTH')
    return new RunEnded(
      {
        kind: 'ended',
        reason: 'context_full',
        ...unsent(messages),
        context: contextNeeded(error.context?.needed, error.context?.holds),
      },
      { cause: error },
    )
  return new RunEnded({ ...failed(error), ...unsent(messages) }, { cause: error })
}

const contextNeeded = (needed: number | undefined, holds: number | undefined) => ({
  ...(needed !== undefined && { needed }),
  ...(holds !== undefined && { holds }),
})

const failed = (error: SglangError): Extract<RunEnded['outcome'], { kind: 'failed' }> => ({
  kind: 'failed',
  code: error.code,
  message: error.message,
  ...(error.hint !== undefined && { hint: error.hint }),
})

/** Tool results are not lost with an unsent prompt: they live on their calls. */
function unsent(messages: readonly Message[]): { readonly unsent?: readonly Message[] } {
  const own = messages.filter((message) => message.role !== 'tool' || message.content !== undefined)
  return own.length > 0 ? { unsent: own } : {}
}
