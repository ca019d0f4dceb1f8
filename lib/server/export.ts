/** Several trajectories as one file, a line each, in the order asked for. */
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { severalFileName } from '#lib/core/file.ts'
import { type WritableFormat, writableFormats } from '#lib/formats/registry.ts'
import { StoreError } from '#lib/store/store-error.ts'
import { ndjson } from './ndjson.ts'
import { Problem } from './problem.ts'
import type { Services } from './services.ts'
import { formatToWrite, storedTrajectory } from './trajectories.ts'

const MOST_KEYS = 10_000

export const exportRequestSchema = z.strictObject({
  keys: z
    .array(z.string())
    .min(1)
    .max(MOST_KEYS)
    .refine((keys) => new Set(keys).size === keys.length, { message: 'keys that differ' })
    .describe('Of stored trajectories; the lines come in this order.'),
  format: z
    .string()
    .exactOptional()
    .describe(`One of ${writableFormats.map(({ name }) => name).join(', ')}. rollscope unless given.`),
})

/**
 * One is read when the line before it has been taken: hundreds are never held at once. All are read once before, since
 * an answer that has begun can tell no error. Throws Problem.
 */
export async function exportSeveral(
  { keys, format = 'rollscope' }: z.infer<typeof exportRequestSchema>,
  all: Services,
): Promise<Response> {
  const { write } = formatToWrite(format)
  const damaged = await unreadable(keys, all)
  if (damaged.length > 0)
    throw new Problem({
      status: 500,
      code: 'DAMAGED',
      detail: `stored trajectories that cannot be read: ${shownKeys(damaged)}`,
      hint: 'Leave them out of the export, or restore the data folder from a backup.',
    })
  return ndjson(written(keys, write, all), {
    'content-disposition': `attachment; filename="${severalFileName(keys.length, format)}"`,
  })
}

async function unreadable(keys: readonly string[], all: Services): Promise<readonly string[]> {
  const damaged: string[] = []
  for (const key of keys) {
    try {
      storedTrajectory(key, all)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      damaged.push(key)
    }
    // Thousands take a while: rollouts and other requests go on between them.
    await setImmediate()
  }
  return damaged
}

const SHOWN = 20

const shownKeys = (keys: readonly string[]): string =>
  `${keys.slice(0, SHOWN).join(', ')}${keys.length > SHOWN ? ` and ${keys.length - SHOWN} more` : ''}`

async function* written(
  keys: readonly string[],
  write: WritableFormat['write'],
  all: Services,
): AsyncGenerator<unknown> {
  for (const key of keys) yield write(storedTrajectory(key, all)).value
}
