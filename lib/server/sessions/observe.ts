/**
 * Answers a call with the reply of the server’s own chat endpoint: the request is sent unchanged, except that the whole reply is requested
 * with its token ids, and what the server read and wrote is recorded. A prompt that does not continue the recorded tokens is live drift.
 */
import type { EngineClient } from '#lib/engine/engine.ts'
import { errorFromStatus } from '#lib/engine/http/errors.ts'
import { parseReplyJson } from '#lib/engine/http/json-reply.ts'
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import { callChat } from '#lib/rollout/chat/call.ts'
import { computeSettled } from '#lib/rollout/prompt/prompt.ts'
import type { ReplyPart, SessionCall } from '#lib/session/call.ts'
import { protocols } from '#lib/session/protocols/protocol.ts'
import { CallRefusal } from '#lib/session/protocols/refusal.ts'
import { replyDeltas } from '#lib/session/protocols/reply-parts.ts'
import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { newRequestId } from '../http/request-id.ts'
import type { Services } from '../services.ts'
import { callUsage, failedReply, type Generated, recordedReply } from './generated.ts'
import { closedResponse, createCallRecorder, modelDependencies } from './recorded-call.ts'
import type { Session } from './session.ts'
import { type Answered, type Prepared, prepare, type ReplyFollower, withResults } from './tito.ts'

/** Fields with which SGLang and vLLM return the ids of a whole reply. */
const WITH_IDS = { stream: false, logprobs: true, return_token_ids: true } as const
/** Fields of an answer that are there because of them. */
const ID_FIELDS = ['prompt_token_ids', 'response_token_ids', 'token_ids'] as const

/** Answers a call. Throws like `answerTito`. */
export async function answerObserved(
  session: Session,
  call: SessionCall,
  follower: ReplyFollower,
  all: Services,
  signal: AbortSignal,
): Promise<Answered> {
  if (call.protocol !== 'chat')
    throw new CallRefusal(
      '',
      'Servers return token ids from chat completions only, so the mode observe takes no other protocol. Use the mode tito.',
    )
  const prepared = await session.exclusive(() => prepare(session, call, signal))
  const { attachment, serving, promptEncoder } = prepared
  follower.attached(attachment)
  const { bytes } = promptEncoder.tokenizer
  const client = all.servers.client(serving.serverName)
  let answer: JsonObject
  try {
    answer = await requestWhole(client, call, session.id, signal)
  } catch (error) {
    return { attachment, nodes: [failedReply(tokenCount(prepared.start), error).record], bytes, error }
  }
  const choices = Array.isArray(answer.choices) ? answer.choices : []
  const results: Generated[] = []
  for (const choice of choices.length > 0 ? choices : [undefined])
    results.push(await recordChoice({ ...answer, choices: [choice] }, call, prepared, client, signal))
  const nodes = results.map(({ record }) => record)
  const failed = results.find((result) => result.choice === undefined)
  if (failed) return { attachment, nodes, bytes, error: failed.error }
  const usage = callUsage(results.flatMap((result) => result.usage ?? []))
  const { promptTokens, cachedTokens } = usage
  const head = { id: newRequestId(), createdAt: Date.now(), model: call.model, promptTokens, cachedTokens }
  const reply = { ...head, choices: results.flatMap(({ choice }) => choice ?? []), usage }
  follower.head(head, bytes)
  // The ends follow when the call is stored.
  for (const delta of replyDeltas(reply)) if (delta.kind !== 'finish' && delta.kind !== 'usage') follower.delta(delta)
  const drift = driftOf(results)
  return {
    attachment,
    nodes,
    bytes,
    reply,
    written: asRequested(answer, call),
    ...(drift !== undefined && { drift }),
  }
}

/** Sends the request. Throws EngineError, also for an answer with an error status. */
async function requestWhole(
  { forward }: EngineClient,
  { body }: SessionCall,
  routingKey: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { stream_options: _, ...sent } = body
  const { status, retryAfter, chunks } = await forward(
    { method: 'POST', path: protocols.chat.path, body: JSON.stringify({ ...sent, ...WITH_IDS }), routingKey },
    signal,
  )
  const text = Buffer.concat(await Array.fromAsync(chunks)).toString('utf8')
  if (status < 200 || status >= 300) throw errorFromStatus(status, text, { retryAfter })
  const value = parseReplyJson(text, undefined)
  return isObject(value) ? value : {}
}

/** Records one choice of an answer. */
async function recordChoice(
  answer: JsonObject,
  call: SessionCall,
  prepared: Prepared,
  client: EngineClient,
  signal: AbortSignal,
): Promise<Generated> {
  const { attachment, promptEncoder, start } = prepared
  const before = tokenCount(start)
  const recorder = createCallRecorder(start, promptEncoder.tokenizer)
  const messages = withResults(attachment.messages, recorder)
  const list = call.body.messages
  const { last: response, error } = await closedResponse(recorder, start, () =>
    callChat(
      recorder,
      messages,
      objectsIn(list),
      { sampling: call.sampling, limits: {}, promptLogprobs: false, topLogprobs: 0, stream: false },
      { ...modelDependencies(prepared), chat: async ({ vocabularySize }) => client.readChat(answer, vocabularySize) },
      signal,
    ),
  )
  if (!response) return failedReply(before, error)
  await computeSettled(promptEncoder, () => response.ids.map(promptEncoder.tokenizer.bytes), signal)
  return recordedReply(recorder.trajectory, response, partsOfMessage(response.message), before, error)
}

/** Returns the parts of the message that the server parsed. */
function partsOfMessage(message: ResponseSegment['message'] = {}): readonly ReplyPart[] {
  const { reasoning_content: reasoning, content, tool_calls: calls } = message
  const called = objectsIn(calls)
  return [
    ...(typeof reasoning === 'string' && reasoning !== '' ? [{ kind: 'reasoning' as const, text: reasoning }] : []),
    ...(typeof content === 'string' && content !== '' ? [{ kind: 'text' as const, text: content }] : []),
    ...called.map(({ id, function: named }) => ({
      kind: 'call' as const,
      id: String(id),
      name: isObject(named) ? String(named.name) : '',
      arguments: isObject(named) && typeof named.arguments === 'string' ? named.arguments : '{}',
    })),
  ]
}

/** Returns the first token at which the server read another prompt than the recorded one; undefined if there is none. */
function driftOf(results: readonly Generated[]): number | undefined {
  for (const { record } of results) {
    const last = record.path?.segments.at(-1)
    if (last?.kind === 'response' && last.request?.read) return last.request.read.kept
  }
  return undefined
}

/** Returns the answer of the server without what the client has not requested. */
function asRequested(answer: JsonObject, { body }: SessionCall): JsonObject {
  const without = (value: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !ID_FIELDS.some((field) => field === name)))
  const choices = objectsIn(answer.choices)
  return {
    ...without(answer),
    choices: choices.map((choice) => ({ ...without(choice), ...(body.logprobs !== true && { logprobs: null }) })),
  }
}
