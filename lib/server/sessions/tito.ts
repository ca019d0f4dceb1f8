/**
 * Answers a call token-in/token-out: only what is new is rendered, the server gets ids, and the client gets the reply in parts. The lock of
 * the session is held while the call is prepared and while it is committed, never while the server generates.
 */
import type { JsonObject } from '#lib/json/json-object.ts'
import { furtherTokens } from '#lib/rollout/loop/call-images.ts'
import type { CallSettings } from '#lib/rollout/loop/call-input.ts'
import { callModel } from '#lib/rollout/loop/model-call.ts'
import type { Recorder } from '#lib/rollout/loop/recorder.ts'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import type { ReplyDelta, ReplyHead, SessionCall, SessionReply } from '#lib/session/call.ts'
import type { Attachment } from '#lib/session/forest/forest.ts'
import type { BytesOfToken } from '#lib/session/protocols/protocol.ts'
import { CallRefusal } from '#lib/session/protocols/refusal.ts'
import { withKnownTokens } from '#lib/sglang/reply/known-tokens.ts'
import { sentSampling } from '#lib/sglang/reply/sampling.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Message, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { imagePartsOf, imageSpansOf } from '#lib/trajectory/images/image-boxes.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { newRequestId } from '../http/request-id.ts'
import { checkCapabilities } from '../servers/capability-checks.ts'
import type { Services } from '../services.ts'
import { forcedSampling, isForced } from './forced-call.ts'
import { callUsage, failedReply, type Generated, recordedReply } from './generated.ts'
import { closedResponse, createCallIds, createCallRecorder, modelDependencies } from './recorded-call.ts'
import { createPartStream, partsOfReply, type ReplyReading } from './reply-parts.ts'
import type { Serving } from './serving.ts'
import type { NodeRecord, Session } from './session.ts'

/** Who follows a reply as it arrives. */
export interface ReplyFollower {
  /** Called once, when the place of the call is found and before anything is generated. */
  attached(attachment: Attachment): void
  /** Called for each reply, when its generation begins. Returns what receives the later events of its recorder. */
  generating(recorder: Recorder): (event: RolloutEvent) => void
  /** Called once, before the first delta. */
  head(head: ReplyHead, bytes: BytesOfToken): void
  delta(delta: ReplyDelta): void
}

/** A call that was answered, or that failed after its place in the forest was found. */
export interface Answered {
  readonly attachment: Attachment
  readonly nodes: readonly NodeRecord[]
  readonly bytes: BytesOfToken
  /** Omitted: the call failed. */
  readonly reply?: SessionReply
  /** The answer of the server, which a client of the mode observe gets. Omitted: the reply is written in its protocol. */
  readonly written?: JsonObject
  /** First token at which the server read another prompt than the recorded one. Omitted: none. */
  readonly drift?: number
  /** Why the call failed. */
  readonly error?: unknown
}

/** Answers a call. Throws CallRefusal, HttpProblem, EngineError or TemplateError for a call that has no place in the forest. */
export async function answerTito(
  session: Session,
  call: SessionCall,
  follower: ReplyFollower,
  all: Services,
  signal: AbortSignal,
): Promise<Answered> {
  const prepared = await session.exclusive(() => prepare(session, call, signal))
  const { attachment } = prepared
  follower.attached(attachment)
  const { bytes } = prepared.promptEncoder.tokenizer
  const sampling = { ...samplingOf(call), ...(await forcedSampling(call, prepared, all, signal)) }
  const id = newRequestId()
  const createdAt = Date.now()
  const model = call.model
  let isBegun = false
  const begin = (promptTokens: number) => {
    if (!isBegun) follower.head({ id, createdAt, model, promptTokens, cachedTokens: 0 }, bytes)
    isBegun = true
  }
  const results = await Promise.all(
    Array.from({ length: call.n }, (_, choice) =>
      generate(choice, { session, call, sampling, prepared, follower, begin }, all, signal),
    ),
  )
  const nodes = results.map(({ record }) => record)
  const failed = results.find(({ choice }) => choice === undefined)
  if (failed) {
    // The server failed, and may come back with another model.
    session.serving.forget()
    return { attachment, nodes, bytes, error: failed.error }
  }
  const choices = results.flatMap(({ choice }) => choice ?? [])
  const usage = callUsage(results.flatMap(({ usage }) => usage ?? []))
  const { promptTokens, cachedTokens } = usage
  begin(promptTokens)
  return { attachment, nodes, bytes, reply: { id, createdAt, model, promptTokens, cachedTokens, choices, usage } }
}

/** A call at its place in the forest. */
export interface Prepared {
  readonly attachment: Attachment
  readonly serving: Serving
  readonly promptEncoder: PromptEncoder
  /** The path that the prompt continues, without segments for a root. */
  readonly start: Trajectory
}

/** Finds the place of a call. Throws like `answerTito`. */
export async function prepare(session: Session, call: SessionCall, signal: AbortSignal): Promise<Prepared> {
  if (call.messages.length === 0) throw new CallRefusal('messages', 'The request has no messages.')
  if (call.messages.at(-1)?.role === 'assistant')
    throw new CallRefusal('messages', 'The last message is the model’s own: a session does not continue a given reply.')
  session.refresh()
  // A grammar leaves no room for thinking.
  const isBound = call.structured || (isForced(call) && session.settings.mode !== 'observe')
  const options = isBound ? { enable_thinking: false, ...call.templateArguments } : call.templateArguments
  const serving = await session.serving.find({ tools: call.tools, options: call.templateArguments }, signal)
  try {
    checkCapabilities(serving.server, {
      sampling: samplingOf(call),
      images: call.messages.some((message) => imagePartsOf(message).length > 0),
      adapter: adapterOf(session, call, serving),
    })
  } catch (error) {
    // The server may have loaded the adapter when the call is repeated.
    session.serving.forget()
    throw error
  }
  const found = session.forest.attach({ messages: call.messages, context: serving.context, n: call.n })
  if (!found.ok) throw new CallRefusal('messages', `${found.why} ${found.hint}`)
  const path = found.attachment.parent === undefined ? undefined : session.path(found.attachment.parent)
  const attachment =
    path || found.attachment.parent === undefined ? found.attachment : asRoot(found.attachment, call.messages)
  const begun: Trajectory = path?.trajectory ?? {
    ...serving.empty,
    id: session.id,
    createdAt: new Date().toISOString(),
  }
  const { template } = begun.model
  return {
    attachment,
    serving,
    promptEncoder: path ? await session.serving.encoderOf(path.trajectory, serving, signal) : serving.promptEncoder,
    start: { ...begun, model: { ...begun.model, ...(template && { template: { ...template, options } }) } },
  }
}

/**
 * Returns the LoRA adapter of a call: that of its session, or the one that its model names, as `BASE:NAME` for SGLang or as `NAME` for vLLM.
 * Undefined: none.
 */
function adapterOf({ settings }: Session, { model }: SessionCall, { server }: Serving): string | undefined {
  return settings.adapter ?? server.adapters?.find((name) => model === name || model.endsWith(`:${name}`))
}

/** Returns the place of a call whose parent was deleted from the library: the whole history is rendered, and begins a new trajectory. */
const asRoot = ({ parent, context }: Attachment, messages: readonly Message[]): Attachment => ({
  attached: { kind: 'new-root', because: 'deleted', ...(parent !== undefined && { instead: parent }) },
  context,
  kept: 0,
  messages,
  accepted: [],
})

const samplingOf = ({ sampling, structured }: SessionCall): SessionCall['sampling'] => ({
  ...sampling,
  ...(structured && {
    json_schema: JSON.stringify(structured.kind === 'schema' ? structured.schema : { type: 'object' }),
  }),
})

interface Generating {
  readonly session: Session
  readonly call: SessionCall
  /** Parameters of the call, with its grammar. */
  readonly sampling: SessionCall['sampling']
  readonly prepared: Prepared
  readonly follower: ReplyFollower
  readonly begin: (promptTokens: number) => void
}

/**
 * Milliseconds without a token after which a stream begins: many proxies end a connection without a byte after 30 s. A failure before has a
 * status, which clients repeat.
 */
const BEGIN_MS = 20_000

/** Generates one of the replies to a call. */
async function generate(
  index: number,
  { session, call, sampling, prepared, follower, begin }: Generating,
  all: Services,
  signal: AbortSignal,
): Promise<Generated> {
  const { attachment, serving, promptEncoder, start } = prepared
  const { parser, serverName, server } = serving
  const { tokenizer } = promptEncoder
  const reading = readingOf(call)
  const newCallIds = createCallIds()
  const stream = call.stream ? createPartStream(index, { parser, tokenizer, reading, newCallIds }) : undefined
  const before = tokenCount(start)
  let unsent: ReplyDelta[] = []
  let publish = (_: RolloutEvent) => {}
  const recorder = createCallRecorder(start, tokenizer, (event) => {
    publish(event)
    if (event.type === 'segment-started' && event.segment.kind === 'response')
      begin(readTokens(recorder.trajectory, event.segment))
    if (event.type !== 'tokens' || !stream) return
    if (call.logprobs !== undefined) {
      const { ids, logprobs, topLogprobs } = event
      const tokens = { ids, ...(logprobs && { logprobs }), ...(topLogprobs && { topLogprobs }) }
      unsent.push({ kind: 'tokens', choice: index, tokens })
    }
    const parts = stream.read(recorder.trajectory)
    if (parts.length === 0) return
    for (const delta of [...unsent, ...parts]) follower.delta(delta)
    unsent = []
  })
  publish = follower.generating(recorder)
  const messages = withResults(attachment.messages, recorder)
  const seed = call.sampling.sampling_seed
  const adapter = adapterOf(session, call, serving)
  const settings: CallSettings = {
    sampling: {
      ...sentSampling(sampling),
      // Without a limit, a reply may fill the context, as with the servers that the client knows.
      max_new_tokens: call.sampling.max_new_tokens ?? server.contextLength ?? MOST_WITHOUT_CONTEXT,
      ...(index > 0 && typeof seed === 'number' && { sampling_seed: seed + index }),
    },
    limits: {},
    ...(adapter !== undefined && { adapter }),
    promptLogprobs: false,
    topLogprobs: call.logprobs ?? 0,
    stream: true,
    ...(!stream && !session.live.isWatched && { leastTokensPerChunk: UNREAD_TOKENS_A_STEP }),
    routingKey: session.id,
  }
  const client = all.servers.client(serverName)
  const dependencies = {
    ...modelDependencies(prepared),
    newCallIds,
    generate: withKnownTokens(client.generate, promptEncoder),
  }
  const beginning = stream && setTimeout(() => begin(tokenCount(recorder.trajectory)), BEGIN_MS)
  const { last, error } = await closedResponse(recorder, start, () =>
    callModel(recorder, { kind: 'messages', messages }, settings, dependencies, signal),
  )
  clearTimeout(beginning)
  if (!last) return failedReply(before, error)
  const { trajectory } = recorder
  const parts = partsOfReply(last, trajectory, reading)
  if (!stream) return recordedReply(trajectory, last, parts, before, error)
  const ended = stream.end(parts)
  for (const delta of [...unsent, ...ended.deltas]) follower.delta(delta)
  // The client sends back what it got, also of a call that became malformed after its beginning.
  return recordedReply(trajectory, last, ended.parts, before, error)
}

/** Returns the number of tokens that the server reads of a prompt, which are more than are sent for images. `response` answers it. */
function readTokens(trajectory: Trajectory, { request }: ResponseSegment): number {
  const spans = trajectory.segments.flatMap((segment) => imageSpansOf(segment, trajectory))
  return tokenCount(trajectory) + furtherTokens({ spans, known: request?.images?.tokens })
}

const readingOf = ({
  protocol,
  logprobs,
  tools,
  toolChoice,
  parallelToolCalls,
  sampling,
}: SessionCall): ReplyReading => ({
  calls: tools.length === 0 || toolChoice === 'none' ? 'none' : parallelToolCalls ? 'all' : 'first',
  stops: sampling.stop ?? [],
  // Chat completions have the logprobs of all tokens, responses those of texts.
  hasSpans: protocol === 'responses' && logprobs !== undefined,
})

/**
 * Tokens in a chunk of a reply that its client gets whole and that no page shows: each chunk costs processor time, and what has arrived is
 * kept when the call is interrupted.
 */
const UNREAD_TOKENS_A_STEP = 256

/** Limit of a reply on a server that does not report its context length. */
const MOST_WITHOUT_CONTEXT = 4096

/**
 * Stores the results of the last reply's calls with these calls, and returns the messages. The message of such a result names its call only.
 */
export function withResults(messages: readonly Message[], recorder: Recorder): readonly Message[] {
  const last = recorder.trajectory.segments.at(-1)
  if (last?.kind !== 'response') return messages
  const open = new Set(last.toolCalls.map(({ id }) => id))
  return messages.map((message) => {
    if (message.role !== 'tool' || typeof message.content !== 'string') return message
    const { callId, content } = message
    if (callId === undefined || !open.delete(callId)) return message
    recorder.emit({ type: 'tool-ended', callId, result: { status: 'success', text: content } })
    return { role: 'tool', callId }
  })
}
