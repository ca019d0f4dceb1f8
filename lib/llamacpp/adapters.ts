/** The LoRA adapters of a llama.cpp server. Requests name them by number, people by the name of the file. */
import * as z from 'zod'
import type { GetReply } from '#lib/engine/connection.ts'
import { EngineError } from '#lib/engine/http/errors.ts'

const adaptersSchema = z.array(z.looseObject({ id: z.int().min(0), path: z.string() }))

/** A loaded adapter. */
interface LoadedAdapter {
  readonly id: number
  /** Name of its file without folders and `.gguf`. */
  readonly name: string
}

/** Returns the loaded adapters; none if the server has no such path. */
export async function loadedAdapters(info: GetReply, signal: AbortSignal): Promise<readonly LoadedAdapter[]> {
  try {
    const adapters = await info('/lora-adapters', adaptersSchema, signal)
    return adapters.map(({ id, path }) => ({ id, name: path.replace(/^.*[\\/]/, '').replace(/\.gguf$/, '') }))
  } catch (error) {
    if (error instanceof EngineError && (error.status === 404 || error.status === 501)) return []
    throw error
  }
}

/**
 * Returns the field `lora` of a request that uses only this adapter, in full. Throws EngineError REQUEST_REFUSED for an unknown name,
 * because the server ignores unknown numbers.
 */
export async function loraField(
  name: string,
  info: GetReply,
  signal: AbortSignal,
): Promise<readonly { readonly id: number; readonly scale: number }[]> {
  const adapters = await loadedAdapters(info, signal)
  const found = adapters.find((adapter) => adapter.name === name)
  if (found) return [{ id: found.id, scale: 1 }]
  const names = adapters.map((adapter) => adapter.name).join(', ')
  throw new EngineError('REQUEST_REFUSED', `the server has no LoRA adapter “${name}”: it has ${names || 'none'}`)
}
