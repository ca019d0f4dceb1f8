/**
 * Reads the description and the load of a server. What it can do depends on its version and its options, so it is asked: short
 * requests show which ids and logprobs come back. They are sent once for each model of a server.
 */
import * as z from 'zod'
import type { ServerCapabilities } from '#lib/api/engine/capabilities.ts'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ReportedLoad } from '#lib/api/server-load.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import { CHAT_PATH } from '#lib/engine/chat.ts'
import type { GetReply, ServerConnection } from '#lib/engine/connection.ts'
import { EngineError, isUnknownPath } from '#lib/engine/http/errors.ts'
import { eventJson, eventsOf } from '#lib/engine/http/event-stream.ts'
import type { ServerIdentity } from '#lib/engine/server-identity.ts'
import { singleFlight } from '#lib/util/single-flight.ts'
import { chatReplySchema } from './chat.ts'
import { GENERATE_PATH, generatedSchema } from './image-prompts.ts'
import { type CompletionChoice, completionSchema, idsOf } from './reply.ts'

const modelSchema = z.looseObject({
  id: z.string(),
  root: z.string().nullish(),
  parent: z.string().nullish(),
  max_model_len: z.int().nullish(),
  owned_by: z.string().nullish(),
})
const modelsSchema = z.looseObject({ data: z.array(modelSchema) })
const versionSchema = z.looseObject({ version: z.string() })
type Model = z.infer<typeof modelSchema>

/**
 * Returns a function that describes the server. The capabilities that short requests have shown stay valid for the same model. Throws
 * EngineError, with the code NO_TOKEN_IDS if the server returns no ids.
 */
export function createDescriber(connection: ServerConnection): (signal: AbortSignal) => Promise<ServerDescription> {
  // A flight keeps its answer, so each model has its own.
  let probing = { key: '', find: singleFlight<ServerCapabilities>() }
  const capabilitiesOf = async (model: Model, key: string, signal: AbortSignal): Promise<ServerCapabilities> => {
    if (probing.key !== key) probing = { key, find: singleFlight() }
    const engine = model.owned_by === 'vllm' ? 'vllm' : 'openai'
    try {
      return await probing.find((stop) => findCapabilities(connection, model.id, engine, stop), signal)
    } catch (error) {
      // A loaded vLLM answers late. Its usual capabilities are assumed until it has answered: without an option, images in messages.
      if (engine === 'vllm' && error instanceof EngineError && LATE.has(error.code))
        return { ...ENGINE_CAPABILITIES.vllm, imagesInMessages: true }
      throw error
    }
  }
  return async (signal) => {
    const sentAt = performance.now()
    const [model, ...others] = await models(connection.info, signal)
    const latencyMs = performance.now() - sentAt
    const version = await versionOf(connection.info, signal)
    const capabilities = await capabilitiesOf(model, JSON.stringify([version, model.id, model.root]), signal)
    // Adapters can be loaded at any time.
    const adapters = others.flatMap(({ id, parent }) => (parent ? [id] : []))
    return {
      kind: 'server',
      capabilities: { ...capabilities, adapters: adapters.length > 0 },
      ...(adapters.length > 0 && { adapters }),
      ...identityOf(model),
      version,
      contextLength: model.max_model_len ?? undefined,
      incrementalStreaming: capabilities.streaming ? true : undefined,
      latencyMs,
    }
  }
}

const LATE: ReadonlySet<string> = new Set(['HEADERS_TIMEOUT', 'UPSTREAM_BUSY'])

/** Returns which model answers, with one request. */
export const modelOf = async (info: GetReply, signal: AbortSignal): Promise<ServerIdentity> =>
  identityOf((await models(info, signal))[0])

/** The first model of the list is the base model; adapters, which have a parent, follow it. */
async function models(info: GetReply, signal: AbortSignal): Promise<readonly [Model, ...Model[]]> {
  const [first, ...others] = (await info('/v1/models', modelsSchema, signal)).data
  if (first) return [first, ...others]
  // `transformers serve` lists the models of its cache, which may be empty. It loads a model with the first request, and returns no ids.
  throw new EngineError('NO_TOKEN_IDS', 'the server’s /v1/models lists no model')
}

/** `root` is the folder or Hub name of the model, which has the tokenizer. Other servers than vLLM lack it. */
const identityOf = ({ id, root }: Model): ServerIdentity => ({ modelName: id, tokenizerName: root ?? undefined })

async function versionOf(info: GetReply, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await info('/version', versionSchema, signal)).version
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return undefined
  }
}

/** Ids of the probe. Every tokenizer has them. */
const PROBE_IDS: readonly number[] = [1, 1]
/** The id that a bias makes certain. Raw logprobs do not show the bias; processed ones are then nearly 0. */
const FORCED_ID = 0
const NEARLY_CERTAIN = -1e-3

async function findCapabilities(
  connection: ServerConnection,
  model: string,
  engine: 'vllm' | 'openai',
  signal: AbortSignal,
): Promise<ServerCapabilities> {
  const least = {
    ...{ model, prompt: PROBE_IDS, max_tokens: 1, temperature: 0, logprobs: 1 },
    ...{ return_token_ids: true, return_tokens_as_token_ids: true },
  }
  const whole = async (more: object): Promise<CompletionChoice> => {
    const { choices } = await connection.ask('/v1/completions', { ...least, ...more }, completionSchema, signal)
    return choices[0] ?? { index: 0 }
  }
  const bias = { logit_bias: { [FORCED_ID]: 100 } }
  const scored = await refusable(whole({ ...bias, prompt_logprobs: 1 }))
  const choice = scored ?? (await refusable(whole({})))
  const ids = choice && idsOf(choice)
  if (!choice || !ids || ids.length === 0 || !choice.logprobs?.token_logprobs)
    throw new EngineError(
      'NO_TOKEN_IDS',
      `the server’s /v1/completions ${choice ? 'returns no token ids with their logprobs' : 'refuses a prompt of token ids, or a request for ids'}`,
    )
  const [logprob] = choice.logprobs.token_logprobs
  const isRaw = ids[0] === FORCED_ID && typeof logprob === 'number' && logprob < NEARLY_CERTAIN
  const [streaming, chatIds, images, takesBesideIds, mostAlternatives] = await Promise.all([
    refusable(streamsIds(connection, { ...least, stream: true }, signal)),
    refusable(returnsChatIds(connection, model, 'a', signal)),
    engine === 'vllm' && refusable(returnsChatIds(connection, model, [PROBE_IMAGE], signal)),
    engine === 'vllm' && refusable(generatesFromIds(connection, model, signal)),
    alternativesLimit(whole({ logprobs: 1_000_000 })),
  ])
  return {
    ...ENGINE_CAPABILITIES[engine],
    logprobs: isRaw ? 'raw' : 'processed',
    promptLogprobs: Array.isArray(choice.prompt_logprobs) && choice.prompt_logprobs.length === PROBE_IDS.length,
    streaming: streaming === true,
    chatIds: chatIds === true,
    images: images === true,
    ...(images === true && takesBesideIds !== true && { imagesInMessages: true }),
    ...(mostAlternatives !== undefined && { mostAlternatives }),
  }
}

/** Returns undefined for a request that the server refuses; other failures are thrown. */
async function refusable<Result>(requested: Promise<Result>): Promise<Result | undefined> {
  try {
    return await requested
  } catch (error) {
    if (error instanceof EngineError && (REFUSALS.has(error.code) || isUnknownPath(error) || isSwitchedOff(error)))
      return undefined
    throw error
  }
}

/** vLLM answers 403 at paths that an option would switch on. */
const isSwitchedOff = ({ status, message }: EngineError): boolean => status === 403 && message.includes('--enable')

const REFUSALS: ReadonlySet<string> = new Set([
  'UPSTREAM_REJECTED',
  'UNKNOWN_PARAMETER',
  'BAD_SHAPE',
  'UNKNOWN_SERVER',
  'UPSTREAM_ERROR',
  'CONTEXT_LENGTH',
])

async function streamsIds({ send, apiKey }: ServerConnection, body: object, signal: AbortSignal): Promise<boolean> {
  const json = JSON.stringify(body)
  const reply = await send({ method: 'POST', path: '/v1/completions', body: json, signal, isStatus: true })
  let hasIds = false
  const read = (data: Buffer) => eventJson(data.toString('utf8'), apiKey)
  for await (const value of eventsOf(reply, apiKey, () => {}, read)) {
    const parsed = completionSchema.safeParse(value)
    hasIds ||= parsed.success && parsed.data.choices.some((choice) => (idsOf(choice)?.length ?? 0) > 0)
  }
  return hasIds
}

async function returnsChatIds(
  { ask }: ServerConnection,
  model: string,
  content: string | readonly object[],
  signal: AbortSignal,
): Promise<boolean> {
  const body = {
    ...{ model, messages: [{ role: 'user', content }], max_completion_tokens: 1, temperature: 0 },
    ...{ logprobs: true, return_token_ids: true },
  }
  const reply = await ask(CHAT_PATH, body, chatReplySchema, signal)
  return Boolean(reply.prompt_token_ids && reply.choices[0].token_ids)
}

/** A black image of 64 × 64 pixels: some processors refuse smaller ones. */
const PROBE_IMAGE = {
  type: 'image_url',
  image_url: {
    url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQAAAACCEkxzAAAAD0lEQVR42mNgGAWjgHwAAAJAAAHgTR1EAAAAAElFTkSuQmCC',
  },
}

/** Returns whether the server has the endpoint that takes images beside ids and reports what it read. */
async function generatesFromIds({ ask }: ServerConnection, model: string, signal: AbortSignal): Promise<boolean> {
  const sampling = { max_tokens: 1, temperature: 0, logprobs: 1 }
  const body = { model, token_ids: PROBE_IDS, sampling_params: sampling, return_token_ids: true }
  const { prompt_token_ids: read, choices } = await ask(GENERATE_PATH, body, generatedSchema, signal)
  return read?.length === PROBE_IDS.length && choices.some(({ logprobs }) => logprobs?.content?.length === 1)
}

/** vLLM names its limit when more is requested, before it generates anything. */
async function alternativesLimit(requested: Promise<unknown>): Promise<number | undefined> {
  try {
    await requested
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const [, most] = /max(?:imum)? allowed: (\d+)/i.exec(error.message) ?? []
    if (most !== undefined) return Number(most)
  }
  return undefined
}

/** Returns the load from the metrics of vLLM; undefined if the server has none. */
export async function loadOfServer({ send }: ServerConnection, signal: AbortSignal): Promise<ReportedLoad | undefined> {
  let text: string
  try {
    text = await (await send({ method: 'GET', path: '/metrics', signal, isStatus: true })).text()
  } catch (error) {
    if (isUnknownPath(error)) return undefined
    throw error
  }
  // There is one line for each engine of a data-parallel server.
  const values = (name: string): readonly number[] =>
    [...text.matchAll(new RegExp(`^vllm:${name}\\{[^}]*\\} (\\S+)$`, 'gm'))].map(([, value]) => Number(value))
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0)
  const running = values('num_requests_running')
  if (running.length === 0) return undefined
  const usage = values('kv_cache_usage_perc')
  return {
    state: 'reported',
    running: sum(running),
    waiting: sum(values('num_requests_waiting')),
    ...(usage.length > 0 && { tokenUsage: sum(usage) / usage.length }),
  }
}
