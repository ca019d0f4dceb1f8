/**
 * Records a call of a client that sends ids itself to SGLang’s /generate. The call goes on unchanged, except that logprobs are requested. It
 * continues the longest path of the session whose ids it begins with.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { createRecorder } from '#lib/rollout/loop/recorder.ts'
import { computeSettled } from '#lib/rollout/prompt/prompt.ts'
import { addTokens, closePrompt, closeResponse, openPrompt, openResponse } from '#lib/rollout/record/record.ts'
import type { Attachment } from '#lib/session/forest/forest.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { Finish, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { readText } from '../http/body.ts'
import { json } from '../http/json-response.ts'
import { newRequestId } from '../http/request-id.ts'
import type { Services } from '../services.ts'
import { callFacts } from './call-facts.ts'
import { recordedReply } from './generated.ts'
import { forwardCall } from './pass-through.ts'
import { partsOfReply } from './reply-parts.ts'
import type { Session } from './session.ts'

/** Sends a call to /generate, and records it if it is one request with ids whose whole reply has logprobs. */
export async function answerGenerate(session: Session, request: Request, all: Services): Promise<Response> {
  const started = { at: new Date(), ms: performance.now() }
  const text = await readText(request, LIMITS.runBytes)
  const body = parsedObject(text)
  const inputIds = body && idsIn(body.input_ids)
  // Streams, batches and texts go on as they are.
  if (!body || !inputIds || body.stream === true) return forwardCall(session, request, text, all)
  const sent = JSON.stringify({ ...body, return_logprob: true })
  const answer = await forwardCall(session, request, sent, all)
  const reply = parsedObject(await answer.text())
  const output = answer.ok && reply ? outputOf(reply) : undefined
  if (!reply) return new Response(null, { status: 502 })
  if (output)
    try {
      const ended = { status: 200 }
      const facts = callFacts({ protocol: null, path: '/generate', body, started, request }, ended)
      await session.exclusive(() => record({ session, body, inputIds, output, reply, facts }, request.signal))
    } catch (error) {
      // The client has its reply, whatever is wrong with the record.
      console.error(`a call of the session ${session.id} could not be recorded:`, error)
    }
  return json(body.return_logprob === true ? reply : withoutLogprobs(reply), answer.status)
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const idsIn = (value: unknown): readonly number[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0)
    ? value
    : undefined

interface Output {
  readonly ids: readonly number[]
  readonly logprobs: readonly (number | null)[]
  readonly finish: Finish
  readonly cachedTokens: number
}

/** Returns the tokens of a reply; undefined if it has no logprobs. */
function outputOf({ meta_info: info }: JsonObject): Output | undefined {
  if (!isObject(info) || !Array.isArray(info.output_token_logprobs)) return undefined
  const rows = info.output_token_logprobs.map((row: unknown) => (Array.isArray(row) ? row : []))
  const outputIds = idsIn(rows.map((row) => row[1]))
  if (!outputIds) return undefined
  const { type, matched } = isObject(info.finish_reason) ? info.finish_reason : {}
  const isMatch = typeof matched === 'number' || typeof matched === 'string'
  return {
    ids: outputIds,
    logprobs: rows.map(([logprob]) => (typeof logprob === 'number' ? logprob : null)),
    finish:
      type === 'stop'
        ? { kind: 'stop', ...(isMatch && { matched }) }
        : type === 'length' || type === 'abort'
          ? { kind: type }
          : { kind: 'unknown', raw: String(type) },
    cachedTokens: typeof info.cached_tokens === 'number' ? info.cached_tokens : 0,
  }
}

interface Recording {
  readonly session: Session
  readonly body: JsonObject
  readonly inputIds: readonly number[]
  readonly output: Output
  readonly reply: JsonObject
  readonly facts: ReturnType<typeof callFacts>
}

async function record(
  { session, body, inputIds, output, reply, facts }: Recording,
  signal: AbortSignal,
): Promise<void> {
  session.refresh()
  const serving = await session.serving.find({ tools: [], options: {} }, signal)
  const parent = longestPath(session, inputIds)
  const start: Trajectory = parent?.trajectory ?? {
    ...serving.empty,
    id: session.id,
    createdAt: new Date().toISOString(),
  }
  const { promptEncoder, parser, context, serverName } = serving
  const { tokenizer } = promptEncoder
  await computeSettled(promptEncoder, () => [...inputIds, ...output.ids].map((id) => tokenizer.bytes(id)), signal)
  const before = tokenCount(start)
  const fold = createFold()
  const recorder = createRecorder(session.id, start, tokenizer, (event) => fold.add(event))
  const { newVocabulary } = recorder
  const added = inputIds.slice(before)
  if (added.length > 0) {
    const prompt = { ids: added, derivation: { kind: 'given', what: 'ids' }, problems: [] } as const
    recorder.emit(openPrompt([], prompt, newVocabulary))
    recorder.emit(closePrompt({}, [], newVocabulary))
  }
  recorder.emit(
    openResponse({
      server: serverName,
      rid: typeof body.rid === 'string' ? body.rid : newRequestId(),
      samplingParams: isObject(body.sampling_params) ? body.sampling_params : {},
      inputLength: inputIds.length,
      inputHash: inputHash(inputIds),
      streamed: false,
    }),
  )
  recorder.emit(addTokens({ ids: output.ids, logprobs: output.logprobs }, newVocabulary))
  const { finish, cachedTokens } = output
  const timing = { startedAt: facts.startedAt, elapsedMs: facts.elapsedMs }
  const usage = { promptTokens: inputIds.length, completionTokens: output.ids.length, cachedTokens }
  recorder.emit(closeResponse(recorder.trajectory, { finish, problems: [], timing, usage }, parser, tokenizer))
  const { trajectory } = fold
  const response = trajectory?.segments.at(-1)
  if (!trajectory || response?.kind !== 'response') throw new Error('a closed response is the last segment')
  const parts = partsOfReply(response, trajectory, { calls: 'all', stops: [] })
  const attachment: Attachment = {
    attached: parent ? { kind: 'continued' } : { kind: 'new-root', because: 'first-message' },
    ...(parent && { parent: parent.node }),
    context,
    kept: 0,
    messages: [],
    accepted: [],
  }
  const counts = { promptTokens: inputIds.length, completionTokens: output.ids.length, cachedTokens }
  await session.commit({
    facts: { ...facts, ...counts },
    attachment,
    nodes: [recordedReply(trajectory, response, parts, before).record],
    body,
    response: reply,
  })
}

/** Returns the node with the longest path that ids begin with, and its path; undefined if there is none. */
function longestPath(session: Session, inputIds: readonly number[]) {
  let best: { readonly node: number; readonly trajectory: Trajectory; readonly length: number } | undefined
  for (const { sequence, tokens } of session.forest.nodes) {
    const length = tokens.start + tokens.prompt + tokens.reply
    if (length > inputIds.length || length <= (best?.length ?? 0)) continue
    const trajectory = session.path(sequence)?.trajectory
    if (trajectory && commonIds(ids(trajectory), inputIds) === length) best = { node: sequence, trajectory, length }
  }
  return best
}

function withoutLogprobs({ meta_info: info, ...reply }: JsonObject): JsonObject {
  if (!isObject(info)) return reply
  const columns = /^(input|output)_(token|top)_logprobs/
  return { ...reply, meta_info: Object.fromEntries(Object.entries(info).filter(([name]) => !columns.test(name))) }
}
