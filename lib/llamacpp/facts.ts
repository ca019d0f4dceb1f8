/** Reads the description and the load of a llama.cpp server. */
import * as z from 'zod'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ReportedLoad } from '#lib/api/server-load.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { GetReply } from '#lib/engine/connection.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { loadedAdapters } from './adapters.ts'

/** /props. `default_generation_settings` distinguishes it from other services. */
const propsSchema = z.looseObject({
  default_generation_settings: z.looseObject({ n_ctx: z.int().nullish() }),
  model_alias: z.string().nullish(),
  model_path: z.string().nullish(),
  build_info: z.string().nullish(),
})
const slotsSchema = z.array(z.looseObject({ is_processing: z.boolean() }))

/** Describes the server. Throws EngineError. */
export async function describeServer(info: GetReply, signal: AbortSignal): Promise<ServerDescription> {
  const sentAt = performance.now()
  const props = await info('/props', propsSchema, signal)
  const latencyMs = performance.now() - sentAt
  const adapters = await loadedAdapters(info, signal)
  return {
    kind: 'server',
    capabilities: { ...ENGINE_CAPABILITIES['llama.cpp'], adapters: adapters.length > 0 },
    ...(adapters.length > 0 && { adapters: adapters.map(({ name }) => name) }),
    // A GGUF file contains the tokenizer, and its name is no folder of tokenizer files. So the server is the tokenizer.
    modelName: props.model_alias ?? props.model_path ?? undefined,
    version: props.build_info ?? undefined,
    contextLength: props.default_generation_settings.n_ctx ?? undefined,
    prefixCache: true,
    latencyMs,
  }
}

/** Returns the load; undefined if the server runs without --slots. */
export async function loadOfServer(info: GetReply, signal: AbortSignal): Promise<ReportedLoad | undefined> {
  try {
    const slots = await info('/slots', slotsSchema, signal)
    return { state: 'reported', running: slots.filter((slot) => slot.is_processing).length, maxRunning: slots.length }
  } catch (error) {
    if (error instanceof EngineError && (error.status === 404 || error.status === 501)) return undefined
    throw error
  }
}
