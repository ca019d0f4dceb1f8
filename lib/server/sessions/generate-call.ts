/**
 * Records a call of a client that sends ids itself to SGLang’s /generate. The call is sent unchanged, except that logprobs are requested. It
 * continues the longest path of the session whose ids it begins with.
 */
import type { LogprobLists } from '#lib/engine/columns.ts'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import { computeSettled } from '#lib/rollout/prompt/prompt.ts'
import { addTokens, closePrompt, closeResponse, openPrompt, openResponse } from '#lib/rollout/record/record.ts'
import type { Attachment } from '#lib/session/forest/forest.ts'
import { pathTokenCount } from '#lib/session/forest/samples.ts'
import { engineReply } from '#lib/sglang/reply/engine-reply.ts'
import { columnsIn } from '#lib/sglang/reply/reply-columns.ts'
import { generateReplySchema } from '#lib/sglang/server/schema.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { Finish, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { readText } from '../http/body.ts'
import { newRequestId } from '../http/request-id.ts'
import type { Services } from '../services.ts'
import { callFacts, INTERRUPTED } from './call-facts.ts'
import { recordedReply } from './generated.ts'
import { forwardCall } from './pass-through.ts'
import { createCallRecorder } from './recorded-call.ts'
import { partsOfReply } from './reply-parts.ts'
import type { Session } from './session.ts'

/** Sends a call to /generate, and records it if it is one request with ids whose whole reply has logprobs. */
export const recordGenerateCall = (session: Session, request: Request, all: Services): Promise<Response> =>
  all.sessions.during(session, () => answerGenerate(session, request, all))

async function answerGenerate(session: Session, request: Request, all: Services): Promise<Response> {
  const started = { at: new Date(), ms: performance.now() }
  const text = await readText(request, LIMITS.runBytes)
  const body = parsedObject(text)
  const inputIds = body && idsIn(body.input_ids)
  // Streams, batches and texts go on as they are.
  if (!body || !inputIds || body.stream === true) return forwardCall(session, request, text, all)
  const listed = { protocol: null, path: '/generate', body, started, request }
  const { status, message } = INTERRUPTED
  const begun = session.begin({ facts: callFacts(listed, { status, error: message }) })
  let isRecorded = false
  try {
    const sent = JSON.stringify({ ...body, return_logprob: true })
    const answer = await forwardCall(session, request, sent, all)
    const received = await answer.text()
    const asAnswered = (text: string) => new Response(text, { status: answer.status, headers: answer.headers })
    const reply = parsedObject(received)
    if (!reply) return asAnswered(received)
    const output = answer.ok ? outputOf(reply) : undefined
    if (output) {
      const facts = callFacts(listed, { status: 200 })
      // The server has answered, so the call is recorded although its client may have left meanwhile.
      isRecorded = await triedTo(session, () =>
        session.exclusive(() => record({ session, body, inputIds, output, reply, facts, begun }, all.sessions.closing)),
      )
    }
    return asAnswered(JSON.stringify(body.return_logprob === true ? reply : withoutLogprobs(reply)))
  } finally {
    if (!isRecorded && begun !== undefined) await triedTo(session, async () => all.store.endSessionCall(begun))
  }
}

/** Runs an action, and returns whether it succeeded: the client has its reply, whatever is wrong with the record. */
async function triedTo(session: Session, action: () => Promise<void>): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    console.error(`a call of the session ${session.id} could not be recorded:`, error)
    return false
  }
}

function parsedObject(text: string): JsonObject | undefined {
  const value = parseNestedJson(text)
  return isObject(value) ? value : undefined
}

const idsIn = (value: unknown): readonly number[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0)
    ? value
    : undefined

/** Returns the images of a call. Those that are no data URLs are in no trajectory. */
function imagesIn({ image_data: value }: JsonObject): readonly string[] {
  const urls: readonly unknown[] = Array.isArray(value) ? value : [value]
  return urls.every(isDataUrl) ? urls : []
}

const isDataUrl = (value: unknown): value is string => typeof value === 'string' && value.startsWith('data:')

interface Output {
  readonly tokens: LogprobLists
  readonly finish: Finish
  readonly promptTokens: number | null | undefined
  readonly cachedTokens: number
}

/** Returns the tokens of a reply; undefined if it has no logprobs. */
function outputOf(value: JsonObject): Output | undefined {
  const reply = generateReplySchema.safeParse(value)
  if (!reply.success) return undefined
  // The connection has already removed the key of the server.
  const { columns, finish, promptTokens, cachedTokens } = engineReply(
    reply.data,
    columnsIn(reply.data.meta_info, false),
    (text) => text,
  )
  const { output } = columns
  if (!output || output.ids.length === 0) return undefined
  return {
    tokens: output,
    finish: finish ?? { kind: 'unknown', raw: '' },
    promptTokens,
    cachedTokens: cachedTokens ?? 0,
  }
}

interface Recording {
  readonly session: Session
  readonly body: JsonObject
  readonly inputIds: readonly number[]
  readonly output: Output
  readonly reply: JsonObject
  readonly facts: ReturnType<typeof callFacts>
  readonly begun: number | undefined
}

async function record(
  { session, body, inputIds, output, reply, facts, begun }: Recording,
  signal: AbortSignal,
): Promise<void> {
  session.refresh()
  const serving = await session.serving.find({ tools: [], options: {} }, signal)
  const parent = longestPath(session, inputIds)
  const images = imagesIn(body)
  const start: Trajectory = {
    ...(parent?.trajectory ?? { ...serving.empty, id: session.id, createdAt: new Date().toISOString() }),
    ...(images.length > 0 && { imageData: images }),
  }
  const { promptEncoder, parser, context, serverName } = serving
  const { tokenizer } = promptEncoder
  await computeSettled(
    promptEncoder,
    () => [...inputIds, ...output.tokens.ids].map((id) => tokenizer.bytes(id)),
    signal,
  )
  const before = tokenCount(start)
  const recorder = createCallRecorder(start, tokenizer)
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
      ...(images.length > 0 && { images: { count: images.length } }),
      ...(typeof body.lora_path === 'string' && { adapter: body.lora_path }),
      streamed: false,
    }),
  )
  recorder.emit(addTokens(output.tokens, newVocabulary))
  const { finish, cachedTokens } = output
  const promptTokens = output.promptTokens ?? inputIds.length
  const timing = { startedAt: facts.startedAt, elapsedMs: facts.elapsedMs }
  const usage = { promptTokens, completionTokens: output.tokens.ids.length, cachedTokens }
  recorder.emit(closeResponse(recorder.trajectory, { finish, problems: [], timing, usage }, parser, tokenizer))
  const { trajectory } = recorder
  const response = trajectory.segments.at(-1)
  if (response?.kind !== 'response') throw new Error('a closed response is the last segment')
  const parts = partsOfReply(response, trajectory, { calls: 'all', stops: [] })
  const attachment: Attachment = {
    attached: parent ? { kind: 'continued' } : { kind: 'new-root', because: 'first-message' },
    ...(parent && { parent: parent.node }),
    context,
    kept: 0,
    messages: [],
    accepted: [],
  }
  await session.commit({
    facts: { ...facts, ...usage },
    attachment,
    nodes: [recordedReply(trajectory, response, parts, before).record],
    body,
    response: reply,
    begun,
  })
}

/** Returns the node with the longest path that ids begin with, and its path; undefined if there is none. */
function longestPath(session: Session, inputIds: readonly number[]) {
  const living = session.living()
  const nodes = session.forest.nodes
    .filter(({ sequence }) => living.has(sequence))
    .map((node) => ({ node: node.sequence, length: pathTokenCount(node) }))
    .filter(({ length }) => length > 0 && length <= inputIds.length)
    .sort((a, b) => b.length - a.length)
  for (const { node } of nodes) {
    const trajectory = session.path(node)?.trajectory
    if (trajectory && isBeginning(trajectory, inputIds)) return { node, trajectory }
  }
  return undefined
}

/** Returns whether ids begin with those of a trajectory. Most paths of other calls differ early, so no list of all their ids is made. */
function isBeginning({ segments }: Trajectory, inputIds: readonly number[]): boolean {
  let at = 0
  return segments.every((segment) => segment.ids.every((id) => id === inputIds[at++]))
}

function withoutLogprobs({ meta_info: info, ...reply }: JsonObject): JsonObject {
  if (!isObject(info)) return reply
  const columns = /^(input|output)_(token|top)_logprobs/
  return { ...reply, meta_info: Object.fromEntries(Object.entries(info).filter(([name]) => !columns.test(name))) }
}
