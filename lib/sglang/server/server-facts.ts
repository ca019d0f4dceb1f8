/** Reads the description of a server. The paths and fields that report it depend on the version. */
import type * as z from 'zod'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ReportedLoad } from '#lib/api/server-load.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { GetReply } from '#lib/engine/connection.ts'
import { EngineError, isUnknownPath } from '#lib/engine/http/errors.ts'
import type { ServerIdentity } from '#lib/engine/server-identity.ts'
import {
  loadsReplySchema,
  modelInfoSchema,
  modelsSchema,
  oldLoadReplySchema,
  serverInfoSchema,
  workersReplySchema,
} from './schema.ts'

/**
 * Describes the server. New field names come first, then those of older versions and of the router; only the model's is
 * required. `lastKnown` is the previous description, for a router whose first worker is dead.
 */
export async function describeServer(
  info: GetReply,
  signal: AbortSignal,
  lastKnown?: ServerDescription,
): Promise<ServerDescription> {
  const timed = async (path: string) => {
    const sentAt = performance.now()
    const model = await info(path, modelInfoSchema, signal)
    return { path, model, latencyMs: performance.now() - sentAt }
  }
  let known: Awaited<ReturnType<typeof timed>>
  try {
    known = await firstKnown(
      () => timed('/model_info'),
      () => timed('/get_model_info'),
    )
  } catch (error) {
    const description = mayBeWorker(error) ? await describeByWorkers(info, signal, lastKnown) : undefined
    if (!description) throw error
    return description
  }
  const { path, model, latencyMs } = known
  // The router has only the old name of this path, and passes it to its workers.
  const behind = path === '/model_info' ? undefined : await optional(info('/workers', workersReplySchema, signal))
  const server = await optional(
    firstKnown(
      () => info('/server_info', serverInfoSchema, signal),
      () => info('/get_server_info', serverInfoSchema, signal),
    ),
  )
  const adapters = adapterUse(server)
  const needsList = !server?.context_length || adapters === 'on'
  const list = needsList ? await optional(info('/v1/models', modelsSchema, signal)) : undefined
  return {
    kind: behind ? 'router' : 'server',
    capabilities: {
      ...ENGINE_CAPABILITIES.sglang,
      adapters: adapters !== 'off',
      // A server that does not report the option may return them; the record says if it does not.
      routedExperts: server?.enable_return_routed_experts !== false,
      images: model.has_image_understanding === true,
    },
    adapters: adapters === 'on' && list ? adaptersIn(list) : undefined,
    ...identityOf(model),
    version: server?.version ?? undefined,
    contextLength: contextLengthOf(server?.context_length ?? list?.data[0]?.max_model_len, server?.max_req_input_len),
    toolCallParser: model.tool_call_parser ?? undefined,
    reasoningParser: model.reasoning_parser ?? undefined,
    incrementalStreaming: server?.incremental_streaming_output ?? undefined,
    deterministicInference: server?.enable_deterministic_inference ?? undefined,
    prefixCache: typeof server?.disable_radix_cache === 'boolean' ? !server.disable_radix_cache : undefined,
    maxTotalTokens: server?.max_total_num_tokens ?? undefined,
    workers: behind && workersOf(behind),
    latencyMs,
  }
}

/** Tokens that a prompt must leave free. SGLang 0.5.23 subtracts them from the context or the KV cache, whichever is smaller. */
const KEPT_FROM_PROMPTS = 6

/**
 * Returns how many tokens the prompt and the reply of one request may have together. A KV cache that is smaller than the context ends a
 * reply early, with the finish reason length. A request for the last tokens of the cache is never started if the radix cache is off, so
 * these tokens stay free.
 */
function contextLengthOf(
  context: number | null | undefined,
  longestPrompt: number | null | undefined,
): number | undefined {
  const isContext = typeof longestPrompt !== 'number' || (context && longestPrompt + KEPT_FROM_PROMPTS >= context)
  return (isContext ? context : longestPrompt) ?? undefined
}

/** Returns whether the server has LoRA adapters. Without the option, a server with adapters in its command line has them too. */
function adapterUse(server: z.infer<typeof serverInfoSchema> | undefined): 'on' | 'off' | 'unknown' {
  if (server?.enable_lora || server?.lora_paths) return 'on'
  return server?.enable_lora === undefined ? 'unknown' : 'off'
}

/** Returns the adapters among the listed models; undefined if there are none, because older versions do not list them. */
function adaptersIn({ data }: z.infer<typeof modelsSchema>): string[] | undefined {
  const names = data.flatMap(({ id, parent }) => (parent ? [id] : []))
  return names.length > 0 ? names : undefined
}

/**
 * Returns whether the failure may be a worker's: a router passes /get_model_info to its first worker and returns its
 * failure.
 */
const mayBeWorker = (error: unknown): boolean =>
  error instanceof EngineError && ['UPSTREAM_ERROR', 'UPSTREAM_BUSY', 'HEADERS_TIMEOUT'].includes(error.code)

/**
 * Describes a router whose first worker is dead: the model that a healthy worker reported when it joined, completed by the
 * last description if that has the same model. The workers are never called, because their addresses come from a reply.
 * Undefined if no router answers, or if it has no healthy worker.
 */
async function describeByWorkers(
  info: GetReply,
  signal: AbortSignal,
  lastKnown: ServerDescription | undefined,
): Promise<ServerDescription | undefined> {
  const sentAt = performance.now()
  const reply = await optional(info('/workers', workersReplySchema, signal))
  const healthy = reply?.workers.filter(({ is_healthy: isHealthy }) => isHealthy !== false) ?? []
  if (!reply || healthy.length === 0) return undefined
  const now = { workers: workersOf(reply), latencyMs: performance.now() - sentAt }
  const models = healthy.flatMap(({ metadata }) => (metadata ? [identityOf(metadata)] : []))
  const model = models.find(({ modelName }) => modelName !== undefined)
  if (lastKnown?.kind === 'router' && (!model || model.modelName === lastKnown.modelName))
    return { ...lastKnown, ...now }
  // The metadata of a worker does not say whether its model reads images.
  return model && { kind: 'router', capabilities: { ...ENGINE_CAPABILITIES.sglang, images: false }, ...model, ...now }
}

const workersOf = ({ workers }: z.infer<typeof workersReplySchema>): NonNullable<ServerDescription['workers']> =>
  workers.map(({ url, is_healthy: isHealthy }) => ({ url, isHealthy: isHealthy ?? true }))

/** Returns which model answers, with one request. */
export async function modelOf(info: GetReply, signal: AbortSignal): Promise<ServerIdentity> {
  const ask = (path: string) => () => info(path, modelInfoSchema, signal)
  return identityOf(await firstKnown(ask('/model_info'), ask('/get_model_info')))
}

const identityOf = (model: Partial<z.infer<typeof modelInfoSchema>>): ServerIdentity => ({
  modelName: model.served_model_name ?? model.model_path ?? undefined,
  tokenizerName: model.tokenizer_path ?? model.model_path ?? undefined,
  weightVersion: model.weight_version ?? undefined,
})

/** Returns the load; undefined if neither this version nor a router reports it. */
export async function loadOfServer(info: GetReply, signal: AbortSignal): Promise<ReportedLoad | undefined> {
  const ways = [
    async () => loadOfRanks((await info('/v1/loads', loadsReplySchema, signal)).loads),
    async () => oldLoad(await info('/get_load', oldLoadReplySchema, signal)),
    async () => loadOfWorkers((await info('/workers', workersReplySchema, signal)).workers),
  ]
  for (const way of ways) {
    try {
      return await way()
    } catch (error) {
      if (!isUnknownPath(error)) throw error
    }
  }
  return undefined
}

type Ranks = z.infer<typeof loadsReplySchema>['loads']

function loadOfRanks(ranks: Ranks): ReportedLoad {
  const capacity = sum(ranks, (rank) => rank.max_total_num_tokens)
  return {
    state: 'reported',
    running: sum(ranks, (rank) => rank.num_running_reqs) ?? 0,
    waiting: sum(ranks, (rank) => rank.num_waiting_reqs) ?? 0,
    maxRunning: sum(ranks, (rank) => rank.max_running_requests),
    maxTotalTokens: capacity,
    tokenUsage: mean(ranks, (rank) => rank.token_usage),
    cachedShare: mean(ranks, (rank) => rank.cache_hit_rate),
    tokensPerSecond: sum(ranks, (rank) => rank.gen_throughput),
  }
}

function oldLoad(ranks: z.infer<typeof oldLoadReplySchema>): ReportedLoad {
  const all = sum(ranks, (rank) => rank.num_reqs) ?? 0
  const waiting = sum(ranks, (rank) => rank.num_waiting_reqs) ?? 0
  return { state: 'reported', running: Math.max(0, all - waiting), waiting }
}

const loadOfWorkers = (workers: z.infer<typeof workersReplySchema>['workers']): ReportedLoad | undefined => {
  const running = sum(workers, ({ load }) => load)
  return running === undefined || running < 0 ? undefined : { state: 'reported', running }
}

/** Returns the sum; undefined if one entry has no value, since a part is not the whole. */
function sum<T>(entries: readonly T[], value: (entry: T) => number | null | undefined): number | undefined {
  let total = 0
  for (const entry of entries) {
    const own = value(entry)
    if (own === null || own === undefined) return undefined
    total += own
  }
  return total
}

/** Returns the mean: the ranks of one server have the same size. */
function mean<T>(entries: readonly T[], value: (entry: T) => number | null | undefined): number | undefined {
  const total = sum(entries, value)
  return total === undefined || entries.length === 0 ? undefined : total / entries.length
}

const optional = async <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error) => (error instanceof EngineError ? undefined : Promise.reject(error)))

async function firstKnown<T>(newName: () => Promise<T>, oldName: () => Promise<T>): Promise<T> {
  try {
    return await newName()
  } catch (error) {
    if (!isUnknownPath(error)) throw error
  }
  try {
    return await oldName()
  } catch (error) {
    if (!isUnknownPath(error)) throw error
    throw new EngineError('UNKNOWN_SERVER', 'the service at this address has none of SGLang’s paths (404)', {
      status: 404,
    })
  }
}
