/** Records the reply of one call: its prompt and its response begin with the first token, and end once. */
import type { Chunk, End } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { Prompt } from '#lib/rollout/prompt/prompt.ts'
import {
  type ArrivedTokens,
  addTokens,
  closePrompt,
  closeResponse,
  type Ending,
  openPrompt,
  openResponse,
  reopenResponse,
  resumedEnding,
} from '#lib/rollout/record/record.ts'
import type { SentIds } from '#lib/sglang/reply/sent-ids.ts'
import { droppedByRouter } from '#lib/sglang/server/router.ts'
import { type expertsSoFar, readExperts } from '#lib/trajectory/experts/routed-experts.ts'
import type { Finish, Message, Problem, ResponseSegment, RoutedExperts } from '#lib/trajectory/format/trajectory.ts'
import { alternativesFrom } from '#lib/trajectory/tokens/alternatives.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { CallSettings, ModelDependencies } from './call-input.ts'
import type { ResponseBudget } from './limits.ts'
import type { Recorder } from './recorder.ts'

/** A call before it is sent. */
export interface PreparedCall {
  /** The prompt that the call adds; undefined if it resumes the trajectory. */
  readonly prompt: Prompt | undefined
  /** The messages of the prompt. */
  readonly messages: readonly Message[]
  /** The response that the call continues. */
  readonly resumed: ResponseSegment | undefined
  readonly request: GenerateRequest
  readonly inputHash: string
  readonly sentIds: SentIds
  readonly room: ResponseBudget
  /** The experts of the tokens so far, if those of the reply are requested. */
  readonly experts: ReturnType<typeof expertsSoFar> | undefined
  /** How many more tokens the server reads for images than are sent, as far as it is known. */
  readonly furtherTokens: number
}

/** The recording of a reply. */
export interface ReplyRecording {
  /** Returns whether a token or the end of the reply has arrived. */
  hasBegun(): boolean
  add(chunk: Chunk): void
  /** Removes the opened segment of a reply that has not begun. */
  retract(): void
  /** Closes the response and returns it. Omitted: the reply ends as its last chunk says. */
  close(finish?: Finish): ResponseSegment
}

/** Opens the prompt of a call, or the response that it continues, and returns the recording of its reply. */
export function recordReply(
  recorder: Recorder,
  { prompt, messages, resumed, request, inputHash, experts }: PreparedCall,
  { sampling }: CallSettings,
  { promptEncoder, parser, server, serverName, now, elapsedMs, newCallIds }: ModelDependencies,
): ReplyRecording {
  const { newVocabulary } = recorder
  const startedAt = now().toISOString()
  const started = elapsedMs()
  const elapsed = () => Math.max(0, elapsedMs() - started)
  let firstTokenMs: number | undefined
  let end: End | undefined
  const problems: Problem[] = []
  let scores: Chunk['prompt']
  let scoring: Chunk['scoring']
  let imageTokens: Chunk['imageTokens']
  let sent = { ...requestRecord(request, inputHash, serverName), rid: request.rid }

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
  const endingOf = (finish: Finish): Ending => {
    const found = experts && end && routedExpertsOf(end, tokenCount(recorder.trajectory), experts)
    return {
      finish,
      problems: [
        ...problems,
        ...droppedByRouter(server, sampling, finish),
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
  }

  if (prompt) recorder.emit(openPrompt(messages, prompt, newVocabulary))
  else if (resumed) recorder.emit(reopenResponse(sent))
  return {
    hasBegun: () => firstTokenMs !== undefined,
    add(chunk) {
      scores ??= chunk.prompt
      scoring ??= chunk.scoring
      imageTokens ??= chunk.imageTokens
      const hasTokens = chunk.tokens.ids.length > 0
      if (firstTokenMs === undefined && (hasTokens || chunk.end)) begin(chunk.rid ?? request.rid)
      if (hasTokens) recorder.emit(addTokens(chunk.tokens, newVocabulary))
      for (const problem of chunk.problems) problems.push(problem)
      end = chunk.end ?? end
    },
    retract() {
      if (prompt || resumed) recorder.emit({ type: 'retracted' })
    },
    close(finish = end?.finish) {
      if (!finish) throw new Error('the client closed a reply that has no end')
      const ending = endingOf(finish)
      const whole = resumed ? resumedEnding(resumed, sent, ending, recorder.trajectory.vocab) : ending
      const { trajectory } = recorder
      recorder.emit(closeResponse(trajectory, whole, parser, promptEncoder.tokenizer, resumed?.toolCalls, newCallIds))
      const response = recorder.trajectory.segments.at(-1)
      if (response?.kind !== 'response') throw new Error('a closed response is the last segment')
      return response
    },
  }
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
